package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"elicitation-inspector/bridge/testdata/protected"
	"elicitation-inspector/bridge/testdata/protectedtest"
	"elicitation-inspector/e2e/internal/page"
)

// broken are the variants of the protected demo at which a sign-in must fail: what its card
// says. TestCallAtEachVariant has those that only a call meets, TestHanging those that never
// answer.
var broken = map[string]string{
	"resource-metadata-missing":   "at the resource metadata: there is no metadata: HTTP 404",
	"resource-metadata-elsewhere": "at the resource metadata: there is no metadata: HTTP 404",
	"resource-mismatch":           "at the resource metadata: the metadata is that of the resource DEMO/other, and not of DEMO/bad/resource-mismatch/mcp",
	"no-authorization-server":     "at the resource metadata: the metadata has no authorization servers",
	"resource-metadata-invalid":   "at the resource metadata: the document is not JSON",
	"resource-metadata-huge":      "at the resource metadata: the response has more than 1048576 bytes",
	"server-metadata-missing":     "at the authorization server metadata: there is no metadata: HTTP 404",
	"issuer-mismatch":             `at the authorization server metadata: the issuer is "https://elsewhere.example", and not "DEMO/bad/issuer-mismatch/auth"`,
	"s256-missing":                "at the authorization server metadata: code_challenge_methods_supported does not have S256",
	"pkce-missing":                "at the authorization server metadata: code_challenge_methods_supported is missing",
	"http-endpoints":              "at the authorization server metadata: the authorization_endpoint http://elsewhere.example is neither https nor on this machine",
	"server-metadata-invalid":     "at the authorization server metadata: the document is not JSON",
	"server-metadata-huge":        "at the authorization server metadata: the response has more than 1048576 bytes",
	"registration-refused":        "at the client registration: HTTP 403: access_denied: Registration is closed.",
	"registration-empty":          "at the client registration: the response has no client_id",
	"scope-refused":               "at the redirect: the authorization server answered invalid_scope: a scope is unknown: demo.use",
	"denied":                      "at the redirect: the authorization server answered access_denied: Nobody may use this server.",
	"iss-missing":                 "at the redirect: authorization server advertises RFC 9207 iss parameter support but none was received",
	"iss-wrong":                   `at the redirect: authorization response issuer "https://elsewhere.example" does not match expected issuer`,
	"token-refused":               "at the token: HTTP 400: invalid_grant: no code is good enough",
	"token-unavailable":           "at the token: HTTP 503",
	"token-redirected":            "at the token: HTTP 307",
	"token-invalid":               "at the token: the document is not JSON",
	"token-huge":                  "at the token: the response has more than 1048576 bytes",
	"token-type":                  `at the token: the token_type is "mac", and not Bearer`,
}

// Where a sign-in breaks, its card says at which step, and why.
func TestSignInNamesStep(t *testing.T) {
	t.Parallel()
	w := protectedtest.New(t)
	servers := map[string]map[string]string{}
	var people []string // the variants that a person must sign in to first
	for _, v := range protected.Variants() {
		_, fails := broken[v.Name]
		asks := v.Name == "state-wrong" || v.Name == "refresh-refused" || fails && (v.Step == protected.StepRedirect || v.Step == protected.StepToken)
		if asks {
			people = append(people, v.Name)
		}
		if fails || asks {
			servers[v.Name] = map[string]string{"type": "http", "url": w.URL + v.Path()}
		}
	}
	config, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, "--config", path)
	card := func(variant, state string) *page.Control {
		return s.page.Region("Sign-ins").Article("Sign in to "+variant).Having("data-state", state)
	}
	back := map[string]string{}
	for _, variant := range people {
		back[variant] = s.visit(card(variant, "waiting"))
	}
	for variant, want := range broken {
		failed := card(variant, "failed")
		failed.Expect(strings.Contains(failed.Text(), strings.ReplaceAll(want, "DEMO", w.URL)), "want %q", want)
	}
	card("refresh-refused", "waiting").Contains("HTTP 400: invalid_grant: no refresh token is good enough")
	card("state-wrong", "waiting")
	if !strings.Contains(back["state-wrong"], "No sign-in waits for this state") {
		t.Errorf("with a wrong state the browser shows %s", back["state-wrong"])
	}
	if len(broken) != 25 {
		t.Errorf("there are %d variants in the table", len(broken))
	}
}
