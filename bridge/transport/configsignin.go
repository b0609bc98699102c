package transport

import (
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"elicitation-inspector/bridge/signin"
)

// readSignIn reads "oauth": false, or an object that says how to sign in to the server.
func (s *configServer) readSignIn() {
	v := s.members["oauth"]
	if !s.has("oauth") {
		return
	}
	object, ok := v.Value.(*hujson.Object)
	switch {
	case !ok && v.Value.Kind() == 'f':
		s.spec.SignIn.Off = true
		return
	case !ok:
		s.fail(v, "oauth", "want an object or false, got %s", kind(v))
		return
	}
	s.misspelt("oauth.", object, signInMembers)
	c := &s.spec.SignIn
	for _, m := range object.Members {
		member := "oauth." + name(m)
		switch name(m) {
		case "clientId":
			c.ClientID = s.value(m.Value, member)
		case "issuer":
			c.Issuer = s.value(m.Value, member)
		case "clientSecretFile":
			secret, err := signin.ReadSecret(s.inFolder(s.value(m.Value, member)))
			if c.ClientSecret = secret; err != nil {
				s.fail(m.Value, member, "%w", err)
			}
		case "clientKeyFile":
			key, err := signin.ReadKey(s.inFolder(s.value(m.Value, member)))
			if c.ClientKey = key; err != nil {
				s.fail(m.Value, member, "%w", err)
			}
		case "clientMetadataUrl":
			c.MetadataURL = s.value(m.Value, member)
		case "scope":
			c.Scopes = strings.Fields(s.value(m.Value, member))
		case "redirectPort", "callbackPort": // the latter in Claude Code
			port, err := strconv.Atoi(s.value(m.Value, member))
			if c.RedirectPort = port; err != nil {
				s.fail(m.Value, member, "want a number")
			}
		case "keep":
			c.Keep = m.Value.Value.Kind() == 't'
		}
	}
	if err := c.Check(); err != nil {
		s.fail(v, "oauth", "%w", err)
	}
}
