package link

import "testing"

func TestIsLoopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost.": true, "a.localhost": true, "127.0.0.1": true, "127.0.0.1.": true, "127.9.9.9": true,
		"::1": true, "::ffff:127.0.0.1": true, "0.0.0.0": true, "::": true,
		"": false, "example.com": false, "localhost.example.com": false, "notlocalhost": false, "192.168.0.1": false, "::2": false,
	} {
		if got := IsLoopback(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}
