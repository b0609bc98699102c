package guard

import (
	"net"
	"os"
	"strings"
	"testing"
)

func TestHostsOf(t *testing.T) {
	cases := []struct {
		listen string
		in     []string
		out    []string
	}{
		{"127.0.0.1:6280", []string{"127.0.0.1:6280", "localhost:6280"}, []string{"127.0.0.1", "[::1]:6280", "evil.example:6280"}},
		{"[::1]:6280", []string{"[::1]:6280", "localhost:6280"}, []string{"127.0.0.1:6280"}},
		{"0.0.0.0:6280", []string{"127.0.0.1:6280", "localhost:6280"}, []string{"evil.example:6280"}},
		{"192.0.2.7:6280", []string{"192.0.2.7:6280"}, []string{"localhost:6280"}},
		{"127.0.0.1:80", []string{"127.0.0.1", "localhost"}, []string{"localhost:81"}},
	}
	for _, c := range cases {
		addr, err := net.ResolveTCPAddr("tcp", c.listen)
		if err != nil {
			t.Fatal(err)
		}
		hosts := hostsOf(addr)
		for _, h := range c.in {
			if !hosts[h] {
				t.Errorf("%s does not answer to %s", c.listen, h)
			}
		}
		for _, h := range c.out {
			if hosts[h] {
				t.Errorf("%s answers to %s", c.listen, h)
			}
		}
	}
}

// TestHostsOfAllAddresses checks that a server that listens on all addresses answers to
// the names of each of its own addresses, and to no others.
func TestHostsOfAllAddresses(t *testing.T) {
	hosts := hostsOf(&net.TCPAddr{IP: net.IPv4zero, Port: 6280})
	want := map[string]bool{"localhost:6280": true, "127.0.0.1:6280": true, "[::1]:6280": true}
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	want[strings.ToLower(name)+":6280"] = true
	own, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range own {
		want[net.JoinHostPort(a.(*net.IPNet).IP.String(), "6280")] = true
	}
	for h := range want {
		if !hosts[h] {
			t.Errorf("it does not answer to %s", h)
		}
	}
	for h := range hosts {
		if !want[h] {
			t.Errorf("it answers to %s", h)
		}
	}
}
