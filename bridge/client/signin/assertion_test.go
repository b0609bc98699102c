package signin_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"elicitation-inspector/bridge/client/signin"
)

// keyFile writes a private key in PKCS #8, and returns the path of the file.
func keyFile(t *testing.T, key crypto.Signer) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A client with a private key signs in without a person, and authenticates each token
// request, also those of a person's sign-in, by an assertion for the authorization server.
func TestClientKey(t *testing.T) {
	t.Parallel()
	elliptic, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	modular, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for algorithm, key := range map[string]crypto.Signer{"ES256": elliptic, "EdDSA": edwards, "RS256": modular} {
		t.Run(algorithm, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Server["grant_types_supported"] = []string{"client_credentials", "authorization_code", "refresh_token"}
			w.Server["token_endpoint_auth_methods_supported"] = []string{"private_key_jwt"}
			var asked []string
			w.Token = func(form url.Values) (int, map[string]any) {
				asked = append(asked, form.Get("grant_type"))
				w.verify(t, form, algorithm, key.Public())
				return w.GiveToken(form)
			}
			read, err := signin.ReadKey(keyFile(t, key))
			if err != nil {
				t.Fatal(err)
			}
			config := signin.Config{ClientID: "ci", ClientKey: read}
			service := newUser(t, w, config, signin.DeskConfig{Headless: true})
			if status, err := service.get(t.Context()); err != nil || status != http.StatusNoContent {
				t.Fatalf("the request ended with %d, %v", status, err)
			}
			service.noSecrets()
			person := newUser(t, w, config, signin.DeskConfig{})
			person.visits()
			for range 2 {
				if status, err := person.get(t.Context()); err != nil || status != http.StatusNoContent {
					t.Fatalf("the request ended with %d, %v", status, err)
				}
				w.Revoke()
			}
			person.noSecrets()
			if got := strings.Join(asked, " "); got != "client_credentials authorization_code refresh_token" {
				t.Errorf("the grants are %s", got)
			}
		})
	}
}

// verify checks the assertion in a token request, and keeps it as a secret.
func (w *world) verify(t *testing.T, form url.Values, algorithm string, key crypto.PublicKey) {
	_, err := jwt.Parse(form.Get("client_assertion"), func(*jwt.Token) (any, error) { return key, nil }, jwt.WithValidMethods([]string{algorithm}),
		jwt.WithAudience(w.Issuer.URL), jwt.WithIssuer("ci"), jwt.WithSubject("ci"), jwt.WithExpirationRequired())
	if err != nil || form.Has("client_secret") || form.Get("client_assertion_type") != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" {
		t.Errorf("the client authenticates with %v: %v", form, err)
	}
	if !form.Has("resource") {
		t.Error("the request has no resource")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.secrets = append(w.secrets, form.Get("client_assertion"))
}

func TestReadKey(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"no key": "no PEM block",
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("x")})): "asn1",
	} {
		path := filepath.Join(t.TempDir(), "key.pem")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := signin.ReadKey(path); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A headless desk waits for the person as long as it says, and asks no more afterwards.
func TestNobodyComes(t *testing.T) {
	t.Parallel()
	asked := 0
	u := newUser(t, newWorld(t), signin.Config{}, signin.DeskConfig{Headless: true, Wait: 1, Tell: func(string, string) { asked++ }})
	for _, want := range []string{"nobody signed in within 1ns", "a person must sign in, and nobody did within 1ns"} {
		if _, err := u.get(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if asked != 1 {
		t.Errorf("the person was asked %d times", asked)
	}
}
