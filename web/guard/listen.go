package guard

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"
)

// Listener listens on an address of this computer and, if that is a loopback address, on the
// other one at the same port: names below localhost lead to both, browsers try ::1 first, and
// whoever listens there gets what is meant for us.
type Listener struct {
	net.Listener // at the address that was asked for
	// Named is true if the names of this computer lead here alone, for as long as the listener
	// is open.
	Named bool

	other     net.Listener // at the other loopback address; nil for none
	accepted  chan accepted
	closed    chan struct{}
	closing   func() error
	accepting sync.WaitGroup
}

type accepted struct {
	conn net.Conn
	err  error
}

// portsTried is how many free ports are tried until one is free on both loopback addresses.
const portsTried = 20

// Listen listens on an address of the form HOST:PORT. Where another program listens at the
// other loopback address, a port of 0 leads to another port; any other port is taken all the
// same, and is not Named.
func Listen(address string) (*Listener, error) {
	for tried := 1; ; tried++ {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return nil, err
		}
		both := withOther(l)
		if _, port, _ := net.SplitHostPort(address); both.Named || port != "0" || tried == portsTried {
			return both, nil
		}
		if err := both.Close(); err != nil {
			return nil, fmt.Errorf("trying another port: %w", err)
		}
	}
}

func withOther(l net.Listener) *Listener {
	both := &Listener{Listener: l, Named: true, closed: make(chan struct{})}
	both.closing = sync.OnceValue(both.end)
	addr, _ := l.Addr().(*net.TCPAddr)
	if addr == nil || !addr.IP.IsLoopback() && !addr.IP.Equal(net.IPv4zero) {
		return both // a listener on all addresses of IPv6 has both
	}
	host := "::1"
	if addr.IP.To4() == nil {
		host = "127.0.0.1"
	}
	other, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(addr.Port)))
	if err != nil {
		// Where this computer has no such address, nobody can listen there.
		both.Named = errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT)
		return both
	}
	both.other, both.accepted = other, make(chan accepted)
	for _, one := range []net.Listener{l, other} {
		both.accepting.Go(func() { both.acceptFrom(one) })
	}
	return both
}

func (l *Listener) acceptFrom(one net.Listener) {
	for {
		conn, err := one.Accept()
		select {
		case l.accepted <- accepted{conn, err}:
		case <-l.closed:
			if err == nil {
				_ = conn.Close() // nobody has sent anything on it yet
			}
			return
		}
	}
}

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	if l.other == nil {
		return l.Listener.Accept()
	}
	select {
	case a := <-l.accepted:
		return a.conn, a.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener], and returns when both addresses are free.
func (l *Listener) Close() error { return l.closing() }

func (l *Listener) end() error {
	close(l.closed)
	err := l.Listener.Close()
	if l.other != nil {
		err = errors.Join(err, l.other.Close())
	}
	l.accepting.Wait()
	return err
}
