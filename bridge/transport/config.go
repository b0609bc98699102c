package transport

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
	"golang.org/x/net/http/httpguts"

	"elicitation-inspector/bridge/signin"
	"elicitation-inspector/bridge/wording"
	"elicitation-inspector/bridge/written"
)

// LoadConfig reads servers from an mcp.json file, in the order of the file: those in
// names, or all if names is empty. The servers are members of "mcpServers" (Claude,
// Cursor) or "servers" (VS Code). Comments and trailing commas are allowed. Unknown
// members are ignored, unless they look like a known one that is misspelt.
//
// A server is a process ("command", "args", "env", "envFile", "cwd") or a URL ("url",
// "headers", "oauth"), and its "type" is stdio, http, sse or streamable-http. As in VS Code, the
// type http, like a URL without a type, tries HTTP+SSE when Streamable HTTP is refused.
// A "disabled" server is only returned as [Spec.Disabled], unless names has it.
//
// Strings may contain ${env:NAME} and ${NAME}, with a default as ${NAME:-default};
// ${workspaceFolder}, which is the file's folder, or its parent if the folder is called
// .vscode or .cursor; ${workspaceFolderBasename}, ${userHome} and ${pathSeparator}. env
// looks up an environment variable. Processes run in the workspace folder unless "cwd"
// names another one.
//
// "protocol" and "elicitation" set how the client presents itself to the server.
//
// A server with mistakes has them as its [Spec.Problem], each with file, line, server
// and member; the other servers can be used. LoadConfig fails only if no server can be
// used.
func LoadConfig(path string, env func(string) (string, bool), names ...string) ([]Spec, error) {
	text, err := written.ReadFile(path)
	if err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := configFile{path: path, env: env, source: bytes.TrimPrefix(text, byteOrderMark), folder: filepath.Dir(absolute)}
	if base := filepath.Base(f.folder); base == ".vscode" || base == ".cursor" {
		f.folder = filepath.Dir(f.folder)
	}
	root, err := written.ParseJSON(f.source)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "hujson: "))
	}
	entries, err := f.entries(root)
	if err != nil {
		return nil, err
	}
	var (
		specs  []Spec
		known  []string
		wrong  []error
		usable bool
	)
	for _, m := range entries {
		key := name(m)
		taken := slices.Contains(known, key)
		known = append(known, key)
		if len(names) > 0 && !slices.Contains(names, key) {
			continue
		}
		s := configServer{configFile: f, spec: Spec{Name: key, From: f.place(m.Name)}}
		if taken {
			s.fail(m.Name, "", "the name is taken by another one before")
		} else {
			s.read(m.Value, len(names) > 0)
		}
		s.spec.Problem = errors.Join(s.wrong...)
		specs, wrong = append(specs, s.spec), append(wrong, s.wrong...)
		usable = usable || s.spec.Problem == nil && !s.spec.Disabled
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("%s has no server %q; it has %s%s", path, n, strings.Join(known, ", "), wording.DidYouMean(n, known))
		}
	}
	if len(wrong) > 0 && !usable {
		return nil, errors.Join(wrong...)
	}
	return specs, nil
}

// configFile is a configuration file while it is read.
type configFile struct {
	path   string
	folder string // to which the file belongs
	source []byte
	env    func(string) (string, bool)
}

// entries returns the members of the file's server objects, one per server.
func (f configFile) entries(root hujson.Value) ([]hujson.ObjectMember, error) {
	top, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%s: want an object, got %s", f.place(root), kind(root))
	}
	var entries []hujson.ObjectMember
	found, hint := false, ""
	for _, m := range top.Members {
		if key := name(m); key != "mcpServers" && key != "servers" {
			hint = cmp.Or(hint, wording.DidYouMean(key, []string{"mcpServers", "servers"}))
			continue
		}
		found = true
		list, ok := m.Value.Value.(*hujson.Object)
		if !ok {
			return nil, fmt.Errorf("%s: %s: want an object of servers, got %s", f.place(m.Value), name(m), kind(m.Value))
		}
		entries = append(entries, list.Members...)
	}
	switch {
	case !found:
		return nil, fmt.Errorf(`%s has neither "mcpServers" nor "servers"%s`, f.path, hint)
	case len(entries) == 0:
		return nil, fmt.Errorf("%s names no servers", f.path)
	}
	return entries, nil
}

func (f configFile) place(v hujson.Value) string {
	return fmt.Sprintf("%s:%d", f.path, 1+bytes.Count(f.source[:v.StartOffset], []byte("\n")))
}

func name(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

func kind(v hujson.Value) string {
	kinds := map[hujson.Kind]string{
		'{': "an object", '[': "an array", '"': "a string", '0': "a number", 'n': "null", 't': "a boolean", 'f': "a boolean",
	}
	return kinds[v.Value.Kind()]
}

// configServer is one server of a configuration file while it is read.
type configServer struct {
	configFile
	members map[string]hujson.Value // no Value in those that are absent
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
	if v := s.members["disabled"]; v.Value != nil && !named {
		if !strings.ContainsRune("tfn", rune(v.Value.Kind())) {
			s.fail(v, "disabled", "want true or false, got %s", kind(v))
		}
		if s.spec.Disabled = v.Value.Kind() == 't'; s.spec.Disabled {
			return
		}
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
		s.readURL()
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

// readProcess reads the members of a process. As in VS Code, a null value in "env" leaves
// the variable unchanged.
func (s *configServer) readProcess() {
	s.spec.Command = []string{s.text("command")}
	if s.spec.Command[0] == "" && len(s.wrong) == 0 {
		s.fail(s.members["command"], "command", "it is empty")
	}
	switch list := s.members["args"].Value.(type) {
	case nil: // no args
	case *hujson.Array:
		for i, arg := range list.Elements {
			s.spec.Command = append(s.spec.Command, s.value(arg, fmt.Sprintf("args[%d]", i)))
		}
	default:
		s.fail(s.members["args"], "args", "want an array of strings, got %s", kind(s.members["args"]))
	}
	if s.has("envFile") {
		path := s.inFolder(s.text("envFile"))
		text, err := written.ReadFile(path)
		if err != nil {
			s.fail(s.members["envFile"], "envFile", "%w", err)
		} else if s.spec.Env, err = parseEnvFile(string(bytes.TrimPrefix(text, byteOrderMark))); err != nil {
			s.fail(s.members["envFile"], "envFile", "%s: %w", path, err)
		}
	}
	for _, m := range s.object("env") {
		key, member := name(m), "env."+name(m)
		switch {
		case m.Value.Value.Kind() == 'n':
		case key == "" || strings.ContainsAny(key, "=\x00"):
			s.fail(m.Name, member, "this cannot be the name of a variable")
		default:
			s.spec.Env = append(s.spec.Env, key+"="+s.value(m.Value, member))
		}
	}
	s.spec.Dir = s.folder
	if s.has("cwd") {
		s.spec.Dir = s.inFolder(s.text("cwd"))
	}
}

func (s *configServer) has(member string) bool { return s.members[member].Value != nil }

func (s *configServer) text(member string) string { return s.value(s.members[member], member) }

// value returns a string with its variables expanded, "" if it is absent. Numbers and
// booleans are taken as written, because editors accept them.
func (s *configServer) value(v hujson.Value, member string) string {
	if v.Value == nil {
		return ""
	}
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

func (s *configServer) readURL() {
	s.spec.URL = s.text("url")
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

var (
	variablePattern = regexp.MustCompile(`\$\{([^}]*)\}`)
	variableName    = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// expand replaces the variables in a text by their values. An unknown ${…} stays
// unchanged.
func (f configFile) expand(text string) (string, error) {
	var wrong error
	text = variablePattern.ReplaceAllStringFunc(text, func(found string) string {
		value, known, err := f.variable(found[len("${") : len(found)-len("}")])
		wrong = cmp.Or(wrong, err)
		if !known {
			return found
		}
		return value
	})
	return text, wrong
}

// variable returns the value of the variable with the text v between ${ and }. known is
// false if v is no variable; err says why a variable has no value.
func (f configFile) variable(v string) (value string, known bool, err error) {
	switch v {
	case "workspaceFolder":
		return f.folder, true, nil
	case "workspaceFolderBasename":
		return filepath.Base(f.folder), true, nil
	case "pathSeparator", "/":
		return string(filepath.Separator), true, nil
	case "userHome":
		value, err = os.UserHomeDir()
		return value, true, err
	}
	variable, fallback, hasFallback := strings.Cut(v, ":-")
	if scope, rest, scoped := strings.Cut(variable, ":"); scoped {
		switch scope {
		case "env":
			variable = rest
		case "input":
			return "", false, fmt.Errorf("${%s} has an editor ask for the value, which is not supported here: write ${env:NAME} and set NAME in the environment", v)
		case "command", "config", "workspaceFolder":
			return "", false, fmt.Errorf("${%s} is known to editors only", v)
		default:
			return "", false, nil
		}
	} else if !variableName.MatchString(variable) {
		return "", false, nil
	}
	value, ok := f.env(variable)
	switch {
	case ok && (value != "" || !hasFallback):
		return value, true, nil
	case hasFallback:
		return fallback, true, nil
	default:
		return "", false, fmt.Errorf("${%s}: the environment has no %s; set it, or give it a default as ${%s:-default}", v, variable, v)
	}
}

// parseEnvFile reads lines of NAME=value. The value may be in quotes; double quotes
// allow the escapes \n, \r, \t, \" and \\. "export" before the name and comments are
// allowed.
func parseEnvFile(text string) ([]string, error) {
	var env []string
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "export "); ok {
			line = strings.TrimSpace(rest)
		}
		key, value, ok := strings.Cut(line, "=")
		key = strings.TrimSpace(key)
		if !ok || key == "" || strings.ContainsAny(key, " \t\x00") {
			return nil, fmt.Errorf("line %d is not NAME=value", i+1)
		}
		value, err := envValue(strings.TrimSpace(value))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		env = append(env, key+"="+value)
	}
	return env, nil
}

var (
	quotedValue = regexp.MustCompile(`^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(?:#.*)?$`)
	unescapeEnv = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\\`, `\`)
)

func envValue(value string) (string, error) {
	if !strings.HasPrefix(value, `"`) && !strings.HasPrefix(value, "'") {
		value, _, _ = strings.Cut(value, " #")
		return strings.TrimSpace(value), nil
	}
	quoted := quotedValue.FindStringSubmatch(value)
	if quoted == nil {
		return "", errors.New("the quote is not closed, or there is more behind the closing quote")
	}
	return unescapeEnv.Replace(quoted[1]) + quoted[2], nil
}
