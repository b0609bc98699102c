package signin

import (
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// newCode returns the SDK's handler of the authorization code grant.
func (f *Flow) newCode(redirectURI string) (*auth.AuthorizationCodeHandler, error) {
	c := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:              redirectURI,
		AuthorizationCodeFetcher: f.fetchCode,
		ScopeFilter:              f.scopes,
		RequestRefreshToken:      true,
		Client:                   f.client(),
		NewTokenSource:           f.newTokenSource,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName:              "MCP Elicitation Inspector",
			RedirectURIs:            []string{redirectURI},
			GrantTypes:              []string{"authorization_code", "refresh_token"},
			ResponseTypes:           []string{"code"},
			TokenEndpointAuthMethod: "none",
		}},
	}
	if f.config.MetadataURL != "" {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: f.config.MetadataURL}
	}
	if f.config.ClientID != "" {
		c.PreregisteredClient = f.preregistered()
	}
	return auth.NewAuthorizationCodeHandler(c)
}

// newCredentials returns the SDK's handler of the client credentials grant.
func (f *Flow) newCredentials() (*extauth.ClientCredentialsHandler, error) {
	credentials := f.preregistered()
	if f.config.ClientKey != nil { // the SDK requires a secret, which the tap replaces by an assertion
		credentials.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: "replaced"}
	}
	return extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{Credentials: credentials, HTTPClient: f.client()})
}

// preregistered returns the credentials of the configured client.
func (f *Flow) preregistered() *oauthex.ClientCredentials {
	c := &oauthex.ClientCredentials{ClientID: f.config.ClientID}
	if f.config.ClientSecret != "" {
		c.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: f.config.ClientSecret}
	}
	return c
}

// client returns the HTTP client for the SDK. It follows redirects only of GET requests,
// because those carry no credentials.
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
