package signin_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/servers/demo"
	"elicitation-inspector/bridge/testdata/protected"
	"elicitation-inspector/bridge/wire"
)

// memory is a network of servers by their addresses, on which time can stand still.
type memory map[string]chan net.Conn

func (m memory) dial(_ context.Context, _, address string) (net.Conn, error) {
	if m[address] == nil {
		return nil, fmt.Errorf("nobody is at %s", address)
	}
	client, server := net.Pipe()
	m[address] <- server
	return client, nil
}

// listener implements [net.Listener] for one address.
type listener chan net.Conn

func (l listener) Accept() (net.Conn, error) {
	if c, open := <-l; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l listener) Close() error   { close(l); return nil }
func (l listener) Addr() net.Addr { return &net.TCPAddr{} }

var consent = regexp.MustCompile(`name="request" value="(\w+)"`)

// A server that never answers does not keep a sign-in for ever: it fails at that step.
func TestHanging(t *testing.T) {
	t.Parallel()
	for variant, step := range map[string]wire.Step{
		"resource-metadata-hanging": wire.StepResource, "server-metadata-hanging": wire.StepServer, "token-hanging": wire.StepToken,
	} {
		synctest.Test(t, func(t *testing.T) { hangs(t, variant, step) })
	}
}

func hangs(t *testing.T, variant string, step wire.Step) {
	const at, page = "127.0.0.1:1", "127.0.0.1:2"
	tools := demo.New(demo.Options{})
	desk := signin.NewDesk(signin.DeskConfig{Page: "http://" + page})
	network := memory{at: make(chan net.Conn), page: make(chan net.Conn)}
	for address, handler := range map[string]http.Handler{at: protected.Handler(tools, protected.Options{BaseURL: "http://" + at}), page: desk} {
		server := &http.Server{Handler: handler}
		go func() { _ = server.Serve(listener(network[address])) }()
		defer server.Close()
	}
	desk.Dial(network.dial)
	browser := &http.Client{Transport: &http.Transport{DialContext: network.dial}}
	defer browser.CloseIdleConnections()
	address := "http://" + at + "/bad/" + variant + "/mcp"
	flow := desk.Flow("key", "demo", address, signin.Config{})
	var once sync.Once
	defer desk.Watch(func(f *signin.Flow) {
		if a, _ := f.Attempt(); a.State == signin.Waiting {
			once.Do(func() { go allow(t, browser, f) })
		}
	})()
	refused, err := browser.Post(address, "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	refused.Body.Close()
	began := time.Now()
	err = flow.SignIn(t.Context(), refused, false, func(wire.Frame) {})
	a, _ := flow.Attempt()
	if err == nil || a.FailedAt != step || a.Why != "no response within 30s" || time.Since(began) != 30*time.Second {
		t.Errorf("%s: after %v the sign-in ended with %v", variant, time.Since(began), err)
	}
	if err := desk.Close(); err != nil {
		t.Error(err)
	}
	if err := tools.Close(); err != nil {
		t.Error(err)
	}
}

// allow presses Allow on the consent page that a sign-in leads to.
func allow(t *testing.T, browser *http.Client, f *signin.Flow) {
	address, _ := f.Open()
	res, err := browser.Get(address)
	if err != nil {
		t.Error(err)
		return
	}
	page, _ := io.ReadAll(res.Body)
	res.Body.Close()
	request := consent.FindSubmatch(page)
	if request == nil {
		t.Errorf("this is no consent page: %s", page)
		return
	}
	res, err = browser.PostForm(address, url.Values{"request": {string(request[1])}, "choice": {"allow"}, "user": {"Robin"}})
	if err != nil {
		t.Error(err)
		return
	}
	res.Body.Close()
}
