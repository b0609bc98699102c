package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"elicitation-inspector/bridge/signin"
)

// signInOptions are the flags about servers behind OAuth.
type signInOptions struct {
	clientID, secretFile, metadataURL string
	scopes                            string
	port                              int
	off, keep                         bool
}

func (o *signInOptions) register(f *pflag.FlagSet) {
	f.StringVar(&o.clientID, "oauth-client-id", "", "the `ID` of a client that the authorization server knows already")
	f.StringVar(&o.secretFile, "oauth-client-secret-file", "", "the `FILE` that has the secret of that client")
	f.StringVar(&o.metadataURL, "oauth-client-metadata-url", "", "the https `URL` of a client-ID metadata document")
	f.StringVar(&o.scopes, "oauth-scope", "", "the `SCOPES` to ask for, separated by spaces, in place of those that the server names")
	f.IntVar(&o.port, "oauth-redirect-port", 0, "the `PORT` of this machine to which the browser comes back; 0 for that of the page, or any")
	f.BoolVar(&o.keep, "oauth-keep", false, "keep tokens in the keyring of the system")
	f.BoolVar(&o.off, "no-oauth", false, "do not sign in where a server asks for a token")
}

// named returns the first flag that is given and belongs to one server; "" if there is
// none.
func (o *signInOptions) named() string {
	switch {
	case o.clientID != "":
		return "--oauth-client-id"
	case o.secretFile != "":
		return "--oauth-client-secret-file"
	case o.metadataURL != "":
		return "--oauth-client-metadata-url"
	case o.scopes != "":
		return "--oauth-scope"
	case o.port != 0:
		return "--oauth-redirect-port"
	}
	return ""
}

// config returns how to sign in to the server on the command line.
func (o *signInOptions) config() (signin.Config, error) {
	c := signin.Config{
		Off: o.off, Keep: o.keep, ClientID: o.clientID, MetadataURL: o.metadataURL,
		Scopes: strings.Fields(o.scopes), RedirectPort: o.port,
	}
	if o.secretFile != "" {
		secret, err := signin.ReadSecret(o.secretFile)
		if err != nil {
			return c, usage("--oauth-client-secret-file: %w", err)
		}
		c.ClientSecret = secret
	}
	if err := c.Check(); err != nil {
		return c, usage("%w", err)
	}
	return c, nil
}

// newDesk returns the desk of a command without a page. If a person must sign in, it says
// so on standard error.
func newDesk(cmd *cobra.Command, nobody bool) *signin.Desk {
	c := signin.DeskConfig{Headless: true, Warn: func(text string) { warn(cmd, "%s", text) }}
	if !nobody {
		c.Tell = func(server, address string) {
			_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s asks you to sign in. Open this address in a browser:\n%s\n", server, address)
		}
	}
	return signin.NewDesk(c)
}
