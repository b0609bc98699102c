package protected

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// session connects the SDK's client to a server.
func session(t *testing.T, url string, handler auth.OAuthHandler) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "decline"}, nil
		},
	})
	s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url, OAuthHandler: handler}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// transferred calls the tool that needs a further scope.
func transferred(t *testing.T, s *mcp.ClientSession) {
	t.Helper()
	if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: StepUpTool}); err != nil {
		t.Error(err)
	}
}

// TestSDKSignsIn has the SDK's client sign in with registration, and step up, at the servers where that must work.
func TestSDKSignsIn(t *testing.T) {
	base := serve(t, Options{})
	for _, name := range []string{"", "well-known", "openid", "no-refresh", "challenge-missing"} {
		v := Variant{}
		if i := slices.IndexFunc(Variants(), func(v Variant) bool { return v.Name == name }); i >= 0 {
			v = Variants()[i]
		}
		var asked []string
		person := newTestClient(t, base, v)
		handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
			DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName: "SDK", RedirectURIs: []string{redirect}, GrantTypes: []string{grantCode, grantRefresh},
			}},
			AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
				u, err := url.Parse(args.URL)
				if err != nil {
					return nil, err
				}
				scopes := strings.Fields(u.Query().Get("scope"))
				slices.Sort(scopes) // the SDK has them in any order
				asked = append(asked, strings.Join(scopes, " "))
				back, _ := person.authorize(u.Query(), "allow")
				return &auth.AuthorizationResult{Code: back.Get("code"), State: back.Get("state"), Iss: back.Get("iss")}, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		transferred(t, session(t, base+v.Path(), handler))
		if got := strings.Join(asked, ", "); got != "demo.use, demo.transfer demo.use" {
			t.Errorf("%s: asked for %s", name, got)
		}
	}
}

// TestSDKService has the SDK's client use its credentials.
func TestSDKService(t *testing.T) {
	handler, err := extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{
		Credentials: &oauthex.ClientCredentials{ClientID: ServiceID, ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: ServiceSecret}},
		HTTPClient:  http.DefaultClient,
	})
	if err != nil {
		t.Fatal(err)
	}
	transferred(t, session(t, serve(t, Options{})+mcpPath, handler))
}
