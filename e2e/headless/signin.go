package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"

	"elicitation-inspector/bridge/signin"
)

// metadataDocument is the URL of the client ID metadata document that the suite's
// authorization server expects.
const metadataDocument = "https://conformance-test.local/client-metadata.json"

// signInConfig returns the client's own data for signing in, as a scenario gives it.
func signInConfig(scenario, context string) (c signin.Config, err error) {
	if scenario == "auth/basic-cimd" {
		c.MetadataURL = metadataDocument
	}
	if context == "" {
		return c, nil
	}
	var given struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		PrivateKey   string `json:"private_key_pem"`
	}
	if err := json.Unmarshal([]byte(context), &given); err != nil {
		return c, fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
	}
	c.ClientID, c.ClientSecret = given.ClientID, given.ClientSecret
	if given.PrivateKey != "" {
		if c.ClientKey, err = signin.ParseKey([]byte(given.PrivateKey)); err != nil {
			return c, fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
		}
	}
	return c, c.Check()
}

// newDesk returns a desk that signs in without a person: the suite's authorization
// server redirects the browser back at once.
func newDesk() *signin.Desk {
	warn := func(text string) { fmt.Fprintln(os.Stderr, text) }
	return signin.NewDesk(signin.DeskConfig{Headless: true, Warn: warn, Tell: func(_, address string) {
		go func() {
			resp, err := http.Get(address)
			if err != nil {
				warn(err.Error())
				return
			}
			defer resp.Body.Close()
			_, _ = io.Copy(io.Discard, resp.Body)
		}()
	}})
}
