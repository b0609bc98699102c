package signin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/elicit/link"
	"elicitation-inspector/bridge/wire"
)

// errNotOffered is the error of a grant that the authorization server does not support.
var errNotOffered = errors.New("the authorization server does not offer this grant")

// authorize gets a token in the steps of the specification (2025-11-25, Authorization): the
// metadata of the server names an authorization server, whose metadata names its endpoints; the
// client registers where it must; and a person, or the client itself, gets the token.
//
// A client with a secret or a key can use both grants: without a page the one that needs no person
// comes first, with a page the other one.
func (f *Flow) authorize(ctx context.Context) (err error) {
	grants := []Grant{GrantCode}
	if f.config.ClientSecret != "" || f.config.ClientKey != nil {
		if grants = append(grants, GrantCredentials); f.desk.config.Headless {
			slices.Reverse(grants)
		}
	}
	for _, grant := range grants {
		by := f.byCode
		if grant == GrantCredentials {
			by = f.byCredentials
		}
		if err = by(ctx); !errors.Is(err, errNotOffered) {
			return err
		}
	}
	return err
}

// byCode gets a token with the authorization code grant, for which a person signs in.
func (f *Flow) byCode(ctx context.Context) error {
	redirectURI, err := f.desk.redirectURI(f.config.RedirectPort)
	if err != nil {
		return err
	}
	r := f.run
	r.grant = GrantCode
	f.update(func(a *Attempt) { a.Grant = GrantCode })
	if err := r.discover(ctx); err != nil {
		return err
	}
	config, err := r.register(ctx, redirectURI)
	if err != nil {
		return err
	}
	config.Scopes = f.scopes(r.scopes)
	if slices.Contains(r.server.ScopesSupported, "offline_access") { // SEP-2207
		config.Scopes = union(config.Scopes, []string{"offline_access"})
	}
	config.Scopes = union(f.granted[r.server.Issuer], config.Scopes) // a step-up keeps what was granted (SEP-2350)

	verifier, state, resource := oauth2.GenerateVerifier(), rand.Text(), oauth2.SetAuthURLParam("resource", r.resource)
	came, err := f.fetchCode(ctx, config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), resource))
	switch {
	case err != nil:
		return err
	case came.Get("state") != state:
		return errors.New("state mismatch")
	}
	if err := r.checkIssuer(came.Get("iss")); err != nil {
		return err
	}
	r.step = wire.StepToken
	f.bind()
	token, err := config.Exchange(tap{f}.context(ctx), came.Get("code"), oauth2.VerifierOption(verifier), resource)
	if err != nil {
		return fmt.Errorf("token exchange failed: %w", err)
	}
	f.grant(config.Scopes, &tokenSet{token: token, config: config, resource: r.resource, issuer: r.server.Issuer})
	return nil
}

// byCredentials gets a token with the client credentials grant, which needs no person (the
// extension io.modelcontextprotocol/oauth-client-credentials).
func (f *Flow) byCredentials(ctx context.Context) error {
	r := f.run
	r.grant = GrantCredentials
	f.update(func(a *Attempt) {
		a.Grant, a.Registration, a.ClientID = GrantCredentials, Preregistered, f.config.ClientID
	})
	if err := r.discover(ctx); err != nil {
		return err
	}
	if r.step = wire.StepToken; !r.offers(GrantCredentials) {
		return errNotOffered
	}
	f.bind()
	config := clientcredentials.Config{
		ClientID: f.config.ClientID, ClientSecret: f.config.ClientSecret, TokenURL: r.server.TokenEndpoint,
		Scopes: f.scopes(union(f.granted[r.server.Issuer], r.scopes)), AuthStyle: styleAmong(r.server.TokenEndpointAuthMethodsSupported),
	}
	token, err := config.Token(tap{f}.context(ctx))
	if err != nil {
		return fmt.Errorf("client credentials token request failed: %w", err)
	}
	f.grant(config.Scopes, &tokenSet{token: token, resource: r.resource, issuer: r.server.Issuer})
	return nil
}

// discover reads the metadata of the server, and of its authorization server, unless an earlier
// grant has.
func (r *run) discover(ctx context.Context) error {
	if r.server != nil {
		return nil
	}
	client := tap{r.flow}.client()
	authorizationServer, err := r.findResource(ctx, client)
	if err != nil {
		return err
	}
	found := r.step
	r.step = wire.StepServer
	server, err := auth.GetAuthServerMetadata(ctx, authorizationServer, client)
	switch {
	case r.halted != nil:
		return r.halted
	case err != nil:
		return fmt.Errorf("failed to get authorization server metadata: %w", err)
	case server == nil: // the endpoints of revision 2025-03-26 that need no metadata are not supported
		r.step = found
		return fmt.Errorf("there is no metadata: HTTP %d", r.missingStatus)
	}
	r.server, r.step = server, wire.StepRegistration
	r.grants = rawjson.Strings(rawjson.Member(r.latest.body, "grant_types_supported"))
	r.flow.update(func(a *Attempt) { a.Issuer = server.Issuer })
	return nil
}

// findResource reads the metadata of the server (RFC 9728) at the place that its challenge names,
// or else at its path and at its root. It returns the authorization server: without metadata
// that is the root of the server (specification 2025-03-26).
func (r *run) findResource(ctx context.Context, client *http.Client) (authorizationServer string, err error) {
	server := r.flow.server.String()
	root, at := *r.flow.server, *r.flow.server
	root.Path = ""
	at.Path = "/.well-known/oauth-protected-resource/" + strings.TrimLeft(at.Path, "/")
	places := [][2]string{{r.metadataURL, server}, {at.String(), server}}
	at.Path = "/.well-known/oauth-protected-resource"
	places = append(places, [2]string{at.String(), root.String()})
	for _, place := range places {
		if place[0] == "" {
			continue
		}
		resource, err := oauthex.GetProtectedResourceMetadata(ctx, place[0], place[1], client)
		switch {
		case r.halted != nil:
			return "", r.halted
		case err != nil:
			continue
		case r.latest.why != "":
			return "", errors.New(r.latest.why)
		}
		if r.resource, r.issuers = resource.Resource, resource.AuthorizationServers; len(r.scopes) == 0 {
			r.scopes = resource.ScopesSupported
		}
		r.step = wire.StepServer
		r.flow.update(func(a *Attempt) { a.Issuer = r.issuers[0] })
		return r.issuers[0], nil
	}
	if r.unusable != "" {
		return "", errors.New(r.unusable)
	}
	return root.String(), nil
}

// register returns the configuration for a client that the authorization server knows: by its
// metadata document, by hand, or because it registers now.
func (r *run) register(ctx context.Context, redirectURI string) (*oauth2.Config, error) {
	c, server := r.flow.config, r.server
	out := &oauth2.Config{RedirectURL: redirectURI, Endpoint: oauth2.Endpoint{AuthURL: server.AuthorizationEndpoint, TokenURL: server.TokenEndpoint}}
	switch {
	case c.MetadataURL != "" && server.ClientIDMetadataDocumentSupported:
		out.ClientID = c.MetadataURL
	case c.ClientID != "":
		out.ClientID, out.ClientSecret, out.Endpoint.AuthStyle = c.ClientID, c.ClientSecret, styleAmong(server.TokenEndpointAuthMethodsSupported)
	case server.RegistrationEndpoint != "":
		us := &oauthex.ClientRegistrationMetadata{
			ClientName: wording.Product, RedirectURIs: []string{redirectURI}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none", ApplicationType: "native",
		}
		if u, err := url.Parse(redirectURI); err == nil && !link.IsLoopback(u.Hostname()) {
			us.ApplicationType = "web"
		}
		known, err := oauthex.RegisterClient(ctx, server.RegistrationEndpoint, us, tap{r.flow}.client())
		if err != nil {
			return nil, fmt.Errorf("failed to register client: %w", err)
		}
		out.ClientID, out.ClientSecret, out.Endpoint.AuthStyle = known.ClientID, known.ClientSecret, oauth2.AuthStyleInHeader // RFC 7591, section 2
		if method := known.TokenEndpointAuthMethod; method == "client_secret_post" || method == "none" {
			out.Endpoint.AuthStyle = oauth2.AuthStyleInParams
		}
	default:
		return nil, errors.New("no configured client registration methods are supported by the authorization server")
	}
	return out, nil
}

// styleAmong returns how a client authenticates by one of the methods that an authorization server
// supports (token_endpoint_auth_methods_supported).
func styleAmong(supported []string) oauth2.AuthStyle {
	switch {
	case slices.Contains(supported, "client_secret_post"):
		return oauth2.AuthStyleInParams
	case slices.Contains(supported, "client_secret_basic"):
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleAutoDetect
}

// checkIssuer judges the iss parameter of a redirect (RFC 9207, section 2.4).
func (r *run) checkIssuer(iss string) error {
	announced := r.server.AuthorizationResponseIssParameterSupported
	switch {
	case iss == "" && announced:
		return errors.New("authorization server advertises RFC 9207 iss parameter support but none was received in the authorization response")
	case iss == "":
		return nil
	case iss != r.server.Issuer:
		return fmt.Errorf("authorization response issuer %q does not match expected issuer %q", iss, r.server.Issuer)
	case !announced:
		return errors.New("authorization server does not advertise RFC 9207 iss parameter support but iss was received in the authorization response")
	}
	return nil
}

// scopes returns the scopes to request: the discovered ones, or those of the configuration,
// to which a step-up adds the discovered ones.
func (f *Flow) scopes(discovered []string) []string {
	switch {
	case len(f.config.Scopes) == 0:
		return discovered
	case f.run.stepUp:
		return union(f.config.Scopes, discovered)
	}
	return f.config.Scopes
}

func union(list, more []string) []string {
	out := slices.Clone(list)
	for _, one := range more {
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}

// bind makes the configured client belong to the present authorization server, if it belongs to
// none yet.
func (f *Flow) bind() {
	if f.issuer == "" && f.config.ClientID != "" {
		f.issuer = f.run.server.Issuer
	}
}

// grant keeps a token, and remembers its scopes: those that the response names, or else those that
// were requested.
func (f *Flow) grant(requested []string, t *tokenSet) {
	if scope, named := t.token.Extra("scope").(string); named {
		requested = strings.Fields(scope)
	}
	f.granted[t.issuer] = requested
	f.setTokens(t)
}
