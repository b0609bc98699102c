package signin

import (
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// newCode makes the SDK's flow in which a person signs in.
func (f *Flow) newCode(redirect string) (*auth.AuthorizationCodeHandler, error) {
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:              redirect,
		AuthorizationCodeFetcher: f.fetch,
		ScopeFilter:              f.scopes,
		RequestRefreshToken:      true,
		Client:                   f.client(),
		NewTokenSource:           f.keep,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName:              "MCP Elicitation Inspector",
			RedirectURIs:            []string{redirect},
			GrantTypes:              []string{"authorization_code", "refresh_token"},
			ResponseTypes:           []string{"code"},
			TokenEndpointAuthMethod: "none",
		}},
	}
	if f.config.MetadataURL != "" {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: f.config.MetadataURL}
	}
	if f.config.ClientID != "" {
		c.PreregisteredClient = f.registration()
	}
	return auth.NewAuthorizationCodeHandler(c)
}

// newCredentials makes the SDK's flow for a client with a secret.
func (f *Flow) newCredentials() (*extauth.ClientCredentialsHandler, error) {
	return extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{Credentials: f.registration(), HTTPClient: f.client()})
}

// registration returns the client that is registered already.
func (f *Flow) registration() *oauthex.ClientCredentials {
	c := &oauthex.ClientCredentials{ClientID: f.config.ClientID}
	if f.config.ClientSecret != "" {
		c.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: f.config.ClientSecret}
	}
	return c
}

// client returns the HTTP client for the SDK. It follows redirects of GETs only, which
// carry no credentials.
func (f *Flow) client() *http.Client {
	return &http.Client{Transport: tap{f}, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if via[0].Method != http.MethodGet || len(via) > redirectsMost {
			return http.ErrUseLastResponse
		}
		req.Header.Del("Referer")
		return nil
	}}
}

// challengeOf returns the WWW-Authenticate headers of a response.
func challengeOf(resp *http.Response) string {
	return strings.Join(resp.Header.Values("WWW-Authenticate"), ", ")
}
