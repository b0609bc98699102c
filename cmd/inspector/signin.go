package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/signin"
)

type signInOptions struct {
	clientID, issuer, secretFile, keyFile, metadataURL string
	scopes                                             string
	port                                               int
	off, keep                                          bool
	wait                                               time.Duration // for a person, in commands without a page
}

func (o *signInOptions) register(f *pflag.FlagSet) {
	f.StringVar(&o.clientID, "oauth-client-id", "", "the `ID` of a client that the authorization server knows already")
	f.StringVar(&o.issuer, "oauth-issuer", "", "the authorization server that knows that client, as its `URL`; without it the first one that gives it a token")
	f.StringVar(&o.secretFile, "oauth-client-secret-file", "", "the `FILE` that has the secret of that client")
	f.StringVar(&o.keyFile, "oauth-client-key-file", "", "the PEM `FILE` that has the private key of that client, in place of a secret")
	f.StringVar(&o.metadataURL, "oauth-client-metadata-url", "", "the https `URL` of a client-ID metadata document")
	f.StringVar(&o.scopes, "oauth-scope", "", "the `SCOPES` to ask for, separated by spaces, in place of those that the server names")
	f.IntVar(&o.port, "oauth-redirect-port", 0, "the `PORT` of this machine to which the browser comes back; 0 for that of the page, or any")
	f.BoolVar(&o.keep, "oauth-keep", false, "keep tokens in the keyring of the system")
	f.BoolVar(&o.off, "no-oauth", false, "do not sign in where a server asks for a token")
}

// named returns the first flag that is given and belongs to one server; "" if there is
// none.
func (o *signInOptions) named() string {
	return cmp.Or(
		wording.Either(o.clientID != "", "--oauth-client-id", ""),
		wording.Either(o.issuer != "", "--oauth-issuer", ""),
		wording.Either(o.secretFile != "", "--oauth-client-secret-file", ""),
		wording.Either(o.keyFile != "", "--oauth-client-key-file", ""),
		wording.Either(o.metadataURL != "", "--oauth-client-metadata-url", ""),
		wording.Either(o.scopes != "", "--oauth-scope", ""),
		wording.Either(o.port != 0, "--oauth-redirect-port", ""),
	)
}

func (o *signInOptions) config() (signin.Config, error) {
	c := signin.Config{
		Off: o.off, Keep: o.keep, ClientID: o.clientID, Issuer: o.issuer, MetadataURL: o.metadataURL,
		Scopes: strings.Fields(o.scopes), RedirectPort: o.port,
	}
	if o.secretFile != "" {
		secret, err := signin.ReadSecret(o.secretFile)
		if err != nil {
			return c, usage("--oauth-client-secret-file: %w", err)
		}
		c.ClientSecret = secret
	}
	if o.keyFile != "" {
		key, err := signin.ReadKey(o.keyFile)
		if err != nil {
			return c, usage("--oauth-client-key-file: %w", err)
		}
		c.ClientKey = key
	}
	if err := c.Check(); err != nil {
		return c, usage("%w", err)
	}
	return c, nil
}

// usualWait is how long a command on a terminal waits for a person to sign in.
const usualWait = 5 * time.Minute

// registerWait adds the flag of the commands without a page about the person who signs in.
func (o *signInOptions) registerWait(f *pflag.FlagSet) {
	f.DurationVar(&o.wait, "oauth-wait", 0, "how long (`D`) to wait for a person to sign in where a server asks for that; 0 not to wait (default 5m on a terminal, 0 elsewhere)")
}

// newDesk returns the desk of a command without a page. Where a person must sign in, it
// prints the address on standard error and waits as long as --oauth-wait says. Without that
// flag it waits only if somebody is there: on a terminal, unless nobody is true.
func (o *signInOptions) newDesk(cmd *cobra.Command, nobody bool) *signin.Desk {
	wait := o.wait
	if !cmd.Flags().Changed("oauth-wait") && !nobody && onTerminal() {
		wait = usualWait
	}
	c := signin.DeskConfig{Headless: true, Wait: wait, Warn: func(text string) { warn(cmd, "%s", text) }}
	if wait > 0 {
		c.Tell = func(server, address string) {
			_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s asks you to sign in. Open this address in a browser, within %v (--oauth-wait):\n%s\n", server, wait, address)
		}
	}
	return signin.NewDesk(c)
}
