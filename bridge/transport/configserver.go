package transport

import (
	"bytes"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"elicitation-inspector/bridge/written"
	"golang.org/x/net/http/httpguts"

	"elicitation-inspector/bridge/wording"
)

// configServer is one server of a configuration file while it is read.
type configServer struct {
	configFile
	members map[string]hujson.Value
	spec    Spec
	wrong   []error
}

func (s *configServer) fail(v hujson.Value, member, format string, args ...any) {
	where := fmt.Sprintf("server %q", s.spec.Name)
	if member != "" {
		where += ", " + member
	}
	s.wrong = append(s.wrong, fmt.Errorf("%s: %s: %w", s.place(v), where, fmt.Errorf(format, args...)))
}

// read fills in s.spec from the server's entry. It stops early for a disabled server,
// unless the caller of LoadConfig has named it.
func (s *configServer) read(entry hujson.Value, named bool) {
	object, ok := entry.Value.(*hujson.Object)
	if !ok {
		s.fail(entry, "", "want an object, got %s", kind(entry))
		return
	}
	s.members = map[string]hujson.Value{}
	for _, m := range object.Members {
		s.members[name(m)] = m.Value
	}
	if s.spec.Disabled = !named && s.disabled(); s.spec.Disabled {
		return
	}
	s.misspelt("", object, serverMembers)
	s.spec.Protocol, s.spec.Elicitation = s.text("protocol"), s.text("elicitation")
	stdio := s.has("command")
	switch text := s.text("type"); {
	case !s.has("type"):
	case text == "stdio":
		stdio = true
	case text == "http":
		stdio = false
	case text == "streamable-http", text == "streamableHttp":
		stdio, s.spec.Transport = false, TransportHTTP
	case text == "sse":
		stdio, s.spec.Transport = false, TransportSSE
	default:
		s.fail(s.members["type"], "type", "%q is none of stdio, http, sse and streamable-http", text)
		return
	}
	switch {
	case s.has("command") && s.has("url"):
		s.fail(s.members["url"], "url", "there is a command too, and a server is reached by one of them")
	case stdio && !s.has("command"):
		s.fail(entry, "", `a stdio server needs a "command"`)
	case !stdio && !s.has("url"):
		s.fail(entry, "", `it needs a "command" or a "url"`)
	case stdio:
		s.readProcess()
	default:
		s.spec.URL = s.text("url")
		s.readHeaders()
		s.readSignIn()
	}
}

// The members of a server, and of its "oauth".
var (
	serverMembers = []string{
		"type", "command", "args", "env", "envFile", "cwd", "url", "headers", "oauth", "disabled", "protocol", "elicitation",
	}
	signInMembers = []string{
		"clientId", "clientSecretFile", "clientKeyFile", "clientMetadataUrl", "scope", "redirectPort", "callbackPort", "keep",
	}
)

// misspelt finds members that no program knows, but that are like one that is not there.
func (s *configServer) misspelt(within string, object *hujson.Object, known []string) {
	var left []string
	for _, k := range known {
		if !slices.ContainsFunc(object.Members, func(m hujson.ObjectMember) bool { return name(m) == k }) {
			left = append(left, k)
		}
	}
	for _, m := range object.Members {
		hint := wording.DidYouMean(name(m), left)
		if name(m) == "cmd" { // which is more like cwd
			hint = wording.DidYouMean("command", left)
		}
		if hint != "" && !slices.Contains(known, name(m)) {
			s.fail(m.Name, within+name(m), "there is no such member%s", hint)
		}
	}
}

// disabled reports whether the entry has "disabled": true.
func (s *configServer) disabled() bool {
	v := s.members["disabled"]
	if s.has("disabled") && !strings.ContainsRune("tfn", rune(v.Value.Kind())) {
		s.fail(v, "disabled", "want true or false, got %s", kind(v))
	}
	return s.has("disabled") && v.Value.Kind() == 't'
}

func (s *configServer) readProcess() {
	s.spec.Command = []string{s.text("command")}
	if s.spec.Command[0] == "" && len(s.wrong) == 0 {
		s.fail(s.members["command"], "command", "it is empty")
	}
	s.readArgs()
	s.readEnvFile()
	s.readEnv()
	s.spec.Dir = s.folder
	if s.has("cwd") {
		s.spec.Dir = s.inFolder(s.text("cwd"))
	}
}

func (s *configServer) has(member string) bool {
	_, ok := s.members[member]
	return ok
}

func (s *configServer) text(member string) string {
	if !s.has(member) {
		return ""
	}
	return s.value(s.members[member], member)
}

// value returns a string with its variables expanded. Numbers and booleans are taken as
// written, because editors accept them.
func (s *configServer) value(v hujson.Value, member string) string {
	literal, ok := v.Value.(hujson.Literal)
	if !ok || literal.Kind() == 'n' {
		s.fail(v, member, "want a string, got %s", kind(v))
		return ""
	}
	text, err := s.expand(literal.String())
	if err != nil {
		s.fail(v, member, "%w", err)
	}
	return text
}

func (s *configServer) inFolder(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.folder, path)
}

func (s *configServer) readArgs() {
	switch list := s.members["args"].Value.(type) {
	case nil: // no args
	case *hujson.Array:
		for i, arg := range list.Elements {
			s.spec.Command = append(s.spec.Command, s.value(arg, fmt.Sprintf("args[%d]", i)))
		}
	default:
		s.fail(s.members["args"], "args", "want an array of strings, got %s", kind(s.members["args"]))
	}
}

// readEnv adds the variables of "env". As in VS Code, a null value leaves the variable
// unchanged.
func (s *configServer) readEnv() {
	for _, m := range s.object("env") {
		member := "env." + name(m)
		if m.Value.Value.Kind() == 'n' {
			continue
		}
		if key := name(m); key == "" || strings.ContainsAny(key, "=\x00") {
			s.fail(m.Name, member, "this cannot be the name of a variable")
			continue
		}
		s.spec.Env = append(s.spec.Env, name(m)+"="+s.value(m.Value, member))
	}
}

func (s *configServer) readHeaders() {
	if !s.has("headers") {
		return
	}
	s.spec.Header = http.Header{}
	for _, m := range s.object("headers") {
		member := "headers." + name(m)
		value := s.value(m.Value, member)
		switch {
		case !httpguts.ValidHeaderFieldName(name(m)):
			s.fail(m.Name, member, "this cannot be the name of a header")
		case !httpguts.ValidHeaderFieldValue(value):
			s.fail(m.Value, member, "the value has characters that a header cannot have")
		default:
			s.spec.Header.Add(name(m), value)
		}
	}
}

// object returns the members of an object member; nil if it is absent.
func (s *configServer) object(member string) []hujson.ObjectMember {
	switch object := s.members[member].Value.(type) {
	case nil:
	case *hujson.Object:
		return object.Members
	default:
		s.fail(s.members[member], member, "want an object of strings, got %s", kind(s.members[member]))
	}
	return nil
}

func (s *configServer) readEnvFile() {
	if !s.has("envFile") {
		return
	}
	path := s.inFolder(s.text("envFile"))
	text, err := written.ReadFile(path)
	if err != nil {
		s.fail(s.members["envFile"], "envFile", "%w", err)
		return
	}
	env, err := parseEnvFile(string(bytes.TrimPrefix(text, byteOrderMark)))
	if err != nil {
		s.fail(s.members["envFile"], "envFile", "%s: %w", path, err)
	}
	s.spec.Env = append(s.spec.Env, env...)
}
