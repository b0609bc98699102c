package protected

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write README.md anew")

// differences are what a client sees of each variant that it does not see at the usual server.
var differences = map[string][]string{
	"well-known":    {`challenge: 401 Bearer scope="demo.use"`},
	"openid":        {"authorization-metadata: 404 404 page not found"},
	"preregistered": {noDocuments, "authorization-metadata: registration_endpoint <nil>", "registration: 404 not found"},
	"no-refresh":    {"refresh: no refresh_token"},
	"brief":         {"refresh: expires in 5"},

	"challenge-missing":           {"challenge: 401 "},
	"challenge-scheme":            {`challenge: 401 Basic realm="demo"`},
	"resource-metadata-missing":   {"resource-metadata: 404 not found"},
	"resource-metadata-elsewhere": {`challenge: 401 Bearer scope="demo.use"`, "resource-metadata: 404 404 page not found"},
	"resource-mismatch":           {"resource-metadata: resource BASE/other"},
	"no-authorization-server":     {"resource-metadata: servers []"},
	"resource-metadata-invalid":   {"resource-metadata: is not JSON"},
	"resource-metadata-huge":      {"resource-metadata: is huge"},
	"resource-metadata-hanging":   {"resource-metadata: hangs"},
	"server-metadata-missing":     {"authorization-metadata: 404 not found"},
	"issuer-mismatch":             {"authorization-metadata: issuer https://elsewhere.example"},
	"s256-missing":                {"authorization-metadata: code_challenge_methods_supported [plain]"},
	"pkce-missing":                {"authorization-metadata: code_challenge_methods_supported <nil>"},
	"http-endpoints": {
		"authorization-metadata: authorization_endpoint http://elsewhere.example/consent",
		"authorization-metadata: token_endpoint http://elsewhere.example/tokens",
	},
	"server-metadata-invalid": {"authorization-metadata: is not JSON"},
	"server-metadata-huge":    {"authorization-metadata: is huge"},
	"server-metadata-hanging": {"authorization-metadata: hangs"},
	"registration-refused":    {noDocuments, `registration: 403 {"error":"access_denied","error_description":"Registration is closed."}`},
	"registration-empty":      {noDocuments, "registration: no client_id"},
	"scope-refused":           {"redirect: invalid_scope"},
	"denied":                  {"redirect: access_denied"},
	"state-wrong":             {`redirect: state "another-the state"`},
	"iss-missing":             {`redirect: iss ""`},
	"iss-wrong":               {`redirect: iss "https://elsewhere.example"`},
	"token-refused":           {`token: 400 {"error":"invalid_grant","error_description":"no code is good enough"}`},
	"token-unavailable":       {"token: 503 <h1>Back soon</h1>"},
	"token-redirected":        {"token: 307 "},
	"token-invalid":           {"token: is not JSON"},
	"token-huge":              {"token: is huge"},
	"token-hanging":           {"token: hangs"},
	"token-type": {
		`token: scope "demo.use", type "mac", expires in 60`,
		`token: scope "demo.use demo.transfer", type "mac", expires in 60`,
	},
	"audience-wrong":  {"request: 401 invalid token: its audience is BASE/other, not BASE/bad/audience-wrong/mcp"},
	"refresh-refused": {"refresh: expires in 5", `refresh: 400 {"error":"invalid_grant","error_description":"no refresh token is good enough"}`},
	"step-up-unnamed": {`step-up: 403 Bearer error="insufficient_scope", resource_metadata="BASE/.well-known/oauth-protected-resource/bad/step-up-unnamed/mcp"`},
	"step-up-endless": {`token: scope "demo.use", type "Bearer", expires in 60`, "step-up: then 403"},
}

const noDocuments = "authorization-metadata: client_id_metadata_document_supported <nil>"

// TestVariants checks that each variant differs from the usual server in what its table says, and in nothing else.
func TestVariants(t *testing.T) {
	base := serve(t, Options{})
	if got := newTestClient(t, base, Variant{}).walk(); got != nil {
		t.Errorf("the usual server:\n%s", strings.Join(got, "\n"))
	}
	if len(differences) != len(Variants()) {
		t.Errorf("the test has %d variants, not %d", len(differences), len(Variants()))
	}
	for _, v := range Variants() {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			if got, want := newTestClient(t, base, v).walk(), differences[v.Name]; !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestMovedMetadata checks where the metadata is that two variants have in another place.
func TestMovedMetadata(t *testing.T) {
	base := serve(t, Options{})
	for path, want := range map[string]string{
		"/good/openid/auth/.well-known/openid-configuration":                        `"issuer":"` + base + `/good/openid/auth"`,
		"/bad/resource-metadata-elsewhere/mcp/.well-known/oauth-protected-resource": `"resource":"` + base + `/bad/resource-metadata-elsewhere/mcp"`,
	} {
		res, err := newTestClient(t, base, Variant{}).do(StepServerMetadata, get(base+path))
		if err != nil || res.status != http.StatusOK || !strings.Contains(res.body, want) {
			t.Errorf("%s: %d %s %v", path, res.status, res.body, err)
		}
	}
}

const introduction = `# The protected demo server

Tests of sign-in serve the demo server behind OAuth, with a small authorization server of its
own, to see a sign-in work, and to see it fail at each step.

At ` + "`/mcp`" + ` it is right. A ` + "`401`" + ` names the metadata of the protected server (RFC 9728) and the scope
` + "`demo.use`" + `. The authorization server has metadata (RFC 8414) and takes client ID metadata documents,
dynamic registration (RFC 7591) and two clients that it knows already. It asks for PKCE with S256
and ` + "`resource`" + ` (RFC 8707), shows a page on which you allow or deny the request, as Robin or as Sam,
and returns ` + "`iss`" + ` (RFC 9207). Access tokens are JWTs that expire after a minute. Refresh tokens are
replaced with each use, and clients get them if they registered for ` + "`refresh_token`" + `. The tool
` + "`transfer_money`" + ` needs the scope ` + "`demo.transfer`" + `, too: without it, the answer is 403 with
` + "`insufficient_scope`" + `. A restart makes every token, client and key invalid.

| client | for | secret |
|---|---|---|
| ` + "`" + ClientID + "`" + ` | people; redirects to any http URL on a loopback address | none |
| ` + "`" + ServiceID + "`" + ` | client credentials | ` + "`" + ServiceSecret + "`" + ` |

Each of the servers below differs from that in one point. The ` + "`/good/`" + ` ones are right as well. *Step*
is where a client meets the difference. A client that follows the specification gets all that it
asks for where *works* says yes; elsewhere it must refuse or fail at the step.

This page is written by ` + "`go test ./bridge/testdata/protected -update`" + `.

| server | what is different | step | works |
|---|---|---|---|
`

// The documentation lists the variants as they are.
func TestDocumentation(t *testing.T) {
	const path = "README.md"
	var b strings.Builder
	b.WriteString(introduction)
	for _, v := range Variants() {
		works := "no"
		if !v.Wrong || v.GoesOn {
			works = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | %s |\n", v.Path(), v.What, v.Step, works)
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != b.String() {
		t.Errorf("README.md is out of date (%v): run go test ./bridge/testdata/protected -update", err)
	}
}
