package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"elicitation-inspector/bridge/meaning/lint"
)

// Lines of transcripts. What the variants of the protected demo break is tested with the
// calls there.
func refusal(status int, challenge string) string {
	return fmt.Sprintf(`"status":%d,"headers":{"Www-Authenticate":[%q]},"note":{"kind":"http-status","of":"initialize"}`, status, challenge)
}

func exchange(number int, step, url string, status int, more string) string {
	return fmt.Sprintf(`"url":%q,"status":%d,"note":{"kind":"sign-in","sign_in":{"number":%d,"step":%q}}%s`, url, status, number, step, more)
}

func TestSignIns(t *testing.T) {
	t.Parallel()
	const place = "https://server.example/.well-known/oauth-protected-resource"
	challenge := `Bearer resource_metadata="` + place + `/mcp", scope="read"`
	for name, tt := range map[string]struct {
		lines []string
		want  string
	}{
		"no challenge":                {[]string{refusal(401, "")}, "1 challenge-missing"},
		"another scheme":              {[]string{refusal(401, `Basic realm="Bearer tokens"`)}, "1 challenge-missing"},
		"a second scheme":             {[]string{refusal(401, `Basic realm="x", bearer scope=read`)}, ""},
		"no scope":                    {[]string{refusal(401, `Bearer realm="x"`)}, "1 challenge-scope-missing"},
		"a missing scope":             {[]string{refusal(403, `Bearer error="insufficient_scope"`)}, "1 scope-unnamed"},
		"another 403":                 {[]string{refusal(403, "")}, ""},
		"metadata is where it should": {[]string{refusal(401, challenge), exchange(1, "resource-metadata", place+"/mcp", 404, "")}, "2 resource-metadata-missing"},
		"missing once": {[]string{refusal(401, challenge), exchange(1, "resource-metadata", place+"/mcp", 404, ""), exchange(1, "resource-metadata", place, 404, ""),
			exchange(2, "resource-metadata", place+"/mcp", 404, "")}, "2 resource-metadata-missing 4 resource-metadata-missing"},
		"nowhere":                     {[]string{exchange(1, "resource-metadata", place+"/mcp", 404, ""), exchange(1, "resource-metadata", place, 404, "")}, "2 resource-metadata-missing"},
		"a token that comes back":     {[]string{exchange(1, "redirect", "http://127.0.0.1:6280/oauth/callback?access_token=[REDACTED]&state=x", 200, "")}, "1 token-in-url"},
		"a redirect with a token":     {[]string{exchange(1, "token", "https://a.example/token", 307, `,"headers":{"Location":["/other?id_token=x"]}`)}, "1 token-in-url"},
		"a redirect to another port":  {[]string{exchange(1, "token", "https://a.example/token", 307, `,"headers":{"Location":["https://a.example:444/token"]}`)}, "1 redirect-elsewhere"},
		"a redirect to the same host": {[]string{exchange(1, "token", "https://a.example/token", 307, `,"headers":{"Location":["/tokens"]}`)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var text strings.Builder
			for _, line := range tt.lines {
				text.WriteString(`{"session_id":"s1","server_label":"s","direction":"meta","transport":"http",` + line + "}\n")
			}
			found, _, err := lint.FindingsOf(t.Context(), open(t, text.String()))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range found {
				got = append(got, fmt.Sprintf("%d %s", f.Seq, f.Rule))
				if !strings.HasSuffix(f.Text, ".") || f.Reference == "" {
					t.Errorf("%+v", f)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}
