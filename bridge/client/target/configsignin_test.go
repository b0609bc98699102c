package target

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"elicitation-inspector/bridge/client/signin"
)

// The member oauth of an mcp.json has what the flags have.
func TestConfigSignIn(t *testing.T) {
	t.Parallel()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want signin.Config
		why  string // part of the error
	}{
		{text: `false`, want: signin.Config{Off: true}},
		{text: `{"clientId": "ci", "issuer": "https://as.example", "clientSecretFile": "secret", "scope": "a b", "redirectPort": 8123, "keep": true}`,
			want: signin.Config{ClientID: "ci", Issuer: "https://as.example", ClientSecret: "s3cret", Scopes: []string{"a", "b"}, RedirectPort: 8123, Keep: true}},
		{text: `{"clientId": "ci", "clientKeyFile": "key.pem", "callbackPort": "8123"}`, want: signin.Config{ClientID: "ci", ClientKey: key, RedirectPort: 8123}},
		{text: `{"clientMetadataUrl": "https://ci.example/client.json"}`, want: signin.Config{MetadataURL: "https://ci.example/client.json"}},
		{text: `{"clientKeyFile": "key.pem"}`, why: "a client key needs a client id"},
		{text: `{"clientId": "ci", "clientKeyFile": "key.pem", "clientSecretFile": "secret"}`, why: "a secret or a key, and not both"},
		{text: `{"clientId": "ci", "clientKeyFile": "secret"}`, why: "no PEM block"},
		{text: `{"clientId": "ci", "clientKeyFile": "none.pem"}`, why: "none.pem"},
		{text: `"yes"`, why: "want an object or false"},
	} {
		path := config(t, "mcp.json", `{"servers": {"a": {"url": "https://h/mcp", "oauth": `+c.text+`}}}`)
		for name, text := range map[string][]byte{"secret": []byte("s3cret\n"), "key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})} {
			if err := os.WriteFile(filepath.Join(filepath.Dir(path), name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := LoadConfig(path, lookup)
		switch {
		case c.why != "":
			if err == nil || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: %v, want %q", c.text, err, c.why)
			}
		case err != nil || len(got) != 1 || !reflect.DeepEqual(got[0].SignIn, c.want):
			t.Errorf("%s: %+v, %v", c.text, got, err)
		}
	}
}
