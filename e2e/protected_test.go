package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"elicitation-inspector/bridge/testdata/protectedtest"
)

// protectedDemo starts the demo server behind OAuth, and returns its address.
func protectedDemo(t testing.TB) string {
	t.Helper()
	return protectedtest.New(t).URL + "/mcp"
}

// The consent page of the protected demo leads back to the client, after Allow as after Deny.
func TestConsentPage(t *testing.T) {
	t.Parallel()
	address := protectedDemo(t)
	client := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, `<!doctype html><p role="status">code %d, error %s, state %s`, len(q.Get("code")), q.Get("error"), q.Get("state"))
	}))
	defer client.Close()
	ask := url.Values{
		"response_type": {"code"}, "client_id": {"demo-client"}, "redirect_uri": {client.URL + "/callback"}, "state": {"s"},
		"code_challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, "code_challenge_method": {"S256"}, "resource": {address},
	}
	page := browser.Blank(t)
	for button, want := range map[string]string{"Allow": "code 26, error , state s", "Deny": "code 0, error access_denied, state s"} {
		page.Goto(strings.TrimSuffix(address, "/mcp") + "/auth/consent?" + ask.Encode())
		page.Role("heading", "Let Demo client use the demo server?").Wait()
		page.Role("combobox", "Sign in as").Choose("Sam")
		page.Button(button).Click()
		page.Role("status", "").Contains(want)
	}
	for _, c := range page.Complaints() {
		if !strings.Contains(c, "favicon.ico") {
			t.Error(c)
		}
	}
}
