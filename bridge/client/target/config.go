package target

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/base/written"
	"elicitation-inspector/bridge/client/signin"
)

// LoadConfig reads servers from an mcp.json file, in the order of the file: those in
// names, or all if names is empty. The servers are members of "mcpServers" (Claude,
// Cursor) or "servers" (VS Code). Comments and trailing commas are allowed. Unknown
// members are ignored, unless they look like a known one that is misspelt.
//
// A server is a process ("command", "args", "env", "envFile", "cwd") or a URL ("url",
// "headers", "oauth"), and its "type" is stdio, http, sse or streamable-http. As in VS Code, the
// type http, like a URL without a type, tries HTTP+SSE when Streamable HTTP is refused.
// As in other clients, "serverUrl" is a URL, too, and "httpUrl" one of Streamable HTTP.
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
	f := configFile{path: path, env: env, folder: filepath.Dir(absolute)}
	if base := filepath.Base(f.folder); base == ".vscode" || base == ".cursor" {
		f.folder = filepath.Dir(f.folder)
	}
	root, err := written.ParseJSON(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
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
	for name, entry := range entries.Members() {
		taken := slices.Contains(known, name.Text)
		known = append(known, name.Text)
		if len(names) > 0 && !slices.Contains(names, name.Text) {
			continue
		}
		s := configServer{configFile: f, Node: entry, spec: Spec{Name: name.Text, From: f.place(name)}}
		if taken {
			s.fail(name, "", "the name is taken by another one before")
		} else {
			s.read(len(names) > 0)
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
	env    func(string) (string, bool)
}

// entries returns an object with the members of all server objects of the file.
func (f configFile) entries(root *written.Node) (*written.Node, error) {
	if root.Kind != rawjson.Object {
		return nil, fmt.Errorf("%s: want an object, got %s", f.place(root), wording.WithArticle(root.Kind))
	}
	entries := new(written.Node)
	found, hint := false, ""
	for name, list := range root.Members() {
		if name.Text != "mcpServers" && name.Text != "servers" {
			hint = cmp.Or(hint, wording.DidYouMean(name.Text, []string{"mcpServers", "servers"}))
			continue
		}
		found = true
		if list.Kind != rawjson.Object {
			return nil, fmt.Errorf("%s: %s: want an object of servers, got %s", f.place(list), name.Text, wording.WithArticle(list.Kind))
		}
		entries.Names, entries.Values = append(entries.Names, list.Names...), append(entries.Values, list.Values...)
	}
	switch {
	case !found:
		return nil, fmt.Errorf(`%s has neither "mcpServers" nor "servers"%s`, f.path, hint)
	case len(entries.Names) == 0:
		return nil, fmt.Errorf("%s names no servers", f.path)
	}
	return entries, nil
}

func (f configFile) place(n *written.Node) string { return fmt.Sprintf("%s:%d", f.path, n.Line) }

// configServer is one server of a configuration file while it is read.
type configServer struct {
	configFile
	*written.Node // its entry in the file
	spec          Spec
	wrong         []error
}

func (s *configServer) fail(v *written.Node, member, format string, args ...any) {
	where := fmt.Sprintf("server %q", s.spec.Name)
	if member != "" {
		where += ", " + member
	}
	s.wrong = append(s.wrong, fmt.Errorf("%s: %s: %w", s.place(v), where, fmt.Errorf(format, args...)))
}

// read fills in s.spec from the server's entry. It stops early for a disabled server,
// unless the caller of LoadConfig has named it.
func (s *configServer) read(named bool) {
	if s.Kind != rawjson.Object {
		s.fail(s.Node, "", "want an object, got %s", wording.WithArticle(s.Kind))
		return
	}
	if v := s.Member("disabled"); v != nil && !named {
		if v.Kind != rawjson.Boolean && v.Kind != rawjson.Null {
			s.fail(v, "disabled", "want true or false, got %s", wording.WithArticle(v.Kind))
		}
		if s.spec.Disabled = string(v.Scalar) == "true"; s.spec.Disabled {
			return
		}
	}
	for _, name := range s.Names {
		switch name.Text {
		case "httpUrl": // of Gemini
			name.Text, s.spec.Transport = "url", TransportHTTP
		case "serverUrl": // of Windsurf
			name.Text = "url"
		}
	}
	s.misspelt("", s.Node, serverMembers)
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
		s.fail(s.Member("type"), "type", "%q is not stdio, http, sse or streamable-http", text)
		return
	}
	switch {
	case s.has("command") && s.has("url"):
		s.fail(s.Member("url"), "url", "there is a command too, and a server is reached by one of them")
	case stdio && !s.has("command"):
		s.fail(s.Node, "", `a stdio server needs a "command"`)
	case !stdio && !s.has("url"):
		s.fail(s.Node, "", `it needs a "command" or a "url"`)
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

// misspelt finds unknown members whose names resemble a known member that is missing.
func (s *configServer) misspelt(within string, object *written.Node, known []string) {
	left := slices.DeleteFunc(slices.Clone(known), func(k string) bool { return object.Member(k) != nil })
	for _, name := range object.Names {
		hint := wording.DidYouMean(name.Text, left)
		if name.Text == "cmd" { // which is more like cwd
			hint = wording.DidYouMean("command", left)
		}
		if hint != "" && !slices.Contains(known, name.Text) {
			s.fail(name, within+name.Text, "there is no such member%s", hint)
		}
	}
}

// readProcess reads the members of a process. As in VS Code, a null value in "env" leaves
// the variable unchanged.
func (s *configServer) readProcess() {
	s.spec.Command = []string{s.text("command")}
	if s.spec.Command[0] == "" && len(s.wrong) == 0 {
		s.fail(s.Member("command"), "command", "it is empty")
	}
	if words, err := wording.ShellWords(s.spec.Command[0]); err == nil && len(words) > 1 && !s.has("args") {
		_, whole := exec.LookPath(s.inFolder(s.spec.Command[0]))
		if _, first := exec.LookPath(words[0]); whole != nil && first == nil { // a path may have spaces
			args, _ := json.Marshal(words[1:]) // strings always encode
			s.fail(s.Member("command"), "command", `there is no program of this name: it looks like a whole command line. Write "command": %s, "args": %s`, rawjson.Quoted(words[0]), args)
		}
	}
	if args := s.Member("args"); args != nil && args.Kind != rawjson.Array {
		s.fail(args, "args", "want an array of strings, got %s", wording.WithArticle(args.Kind))
	} else if args != nil {
		for i, arg := range args.Values {
			s.spec.Command = append(s.spec.Command, s.value(arg, fmt.Sprintf("args[%d]", i)))
		}
	}
	if s.has("envFile") {
		path := s.inFolder(s.text("envFile"))
		text, err := written.ReadFile(path)
		if err != nil {
			s.fail(s.Member("envFile"), "envFile", "%w", err)
		} else if s.spec.Env, err = parseEnvFile(string(text)); err != nil {
			s.fail(s.Member("envFile"), "envFile", "%s: %w", path, err)
		}
	}
	for name, value := range s.object("env").Members() {
		member := "env." + name.Text
		switch {
		case value.Kind == rawjson.Null:
		case name.Text == "" || strings.ContainsAny(name.Text, "=\x00"):
			s.fail(name, member, "this cannot be the name of a variable")
		default:
			s.spec.Env = append(s.spec.Env, name.Text+"="+s.value(value, member))
		}
	}
	s.spec.Dir = s.folder
	if s.has("cwd") {
		s.spec.Dir = s.inFolder(s.text("cwd"))
	}
}

func (s *configServer) has(member string) bool { return s.Member(member) != nil }

func (s *configServer) text(member string) string { return s.value(s.Member(member), member) }

// value returns a string with its variables expanded, "" if it is absent. Numbers and
// booleans are taken as written, because editors accept them.
func (s *configServer) value(v *written.Node, member string) string {
	if v == nil {
		return ""
	}
	text := v.Text
	switch v.Kind {
	case rawjson.Object, rawjson.Array, rawjson.Null:
		s.fail(v, member, "want a string, got %s", wording.WithArticle(v.Kind))
		return ""
	case rawjson.Number, rawjson.Boolean:
		text = string(v.Scalar)
	}
	var wrong error
	text = variablePattern().ReplaceAllStringFunc(text, func(found string) string {
		value, known, err := s.variable(found[len("${") : len(found)-len("}")])
		if wrong = cmp.Or(wrong, err); known {
			return value
		}
		return found // no variable
	})
	if wrong != nil {
		s.fail(v, member, "%w", wrong)
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
	for name, v := range s.object("headers").Members() {
		member := "headers." + name.Text
		value := s.value(v, member)
		switch {
		case !httpguts.ValidHeaderFieldName(name.Text):
			s.fail(name, member, "this cannot be the name of a header")
		case !httpguts.ValidHeaderFieldValue(value):
			s.fail(v, member, "the value has characters that a header cannot have")
		default:
			s.spec.Header.Add(name.Text, value)
		}
	}
}

// object returns a member that is an object, an empty one if it is absent.
func (s *configServer) object(member string) *written.Node {
	object := s.Member(member)
	if object == nil {
		return new(written.Node)
	}
	if object.Kind != rawjson.Object {
		s.fail(object, member, "want an object of strings, got %s", wording.WithArticle(object.Kind))
	}
	return object
}

// readSignIn reads "oauth": false, or an object that says how to sign in to the server.
func (s *configServer) readSignIn() {
	object := s.Member("oauth")
	switch {
	case object == nil:
		return
	case string(object.Scalar) == "false":
		s.spec.SignIn.Off = true
		return
	case object.Kind != rawjson.Object:
		s.fail(object, "oauth", "want an object or false, got %s", wording.WithArticle(object.Kind))
		return
	}
	s.misspelt("oauth.", object, signInMembers)
	c := &s.spec.SignIn
	for name, v := range object.Members() {
		member := "oauth." + name.Text
		switch name.Text {
		case "clientId":
			c.ClientID = s.value(v, member)
		case "issuer":
			c.Issuer = s.value(v, member)
		case "clientSecretFile":
			secret, err := signin.ReadSecret(s.inFolder(s.value(v, member)))
			if c.ClientSecret = secret; err != nil {
				s.fail(v, member, "%w", err)
			}
		case "clientKeyFile":
			key, err := signin.ReadKey(s.inFolder(s.value(v, member)))
			if c.ClientKey = key; err != nil {
				s.fail(v, member, "%w", err)
			}
		case "clientMetadataUrl":
			c.MetadataURL = s.value(v, member)
		case "scope":
			c.Scopes = strings.Fields(s.value(v, member))
		case "redirectPort", "callbackPort": // the latter in Claude Code
			port, err := strconv.Atoi(s.value(v, member))
			if c.RedirectPort = port; err != nil {
				s.fail(v, member, "want a number")
			}
		case "keep":
			c.Keep = string(v.Scalar) == "true"
		}
	}
	if err := c.Check(); err != nil {
		s.fail(object, "oauth", "%w", err)
	}
}

var (
	variablePattern = lazy.Regexp(`\$\{([^}]*)\}`)
	variableName    = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

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
	} else if !variableName().MatchString(variable) {
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
		if value = strings.TrimSpace(value); !strings.HasPrefix(value, `"`) && !strings.HasPrefix(value, "'") {
			value, _, _ = strings.Cut(value, " #")
			value = strings.TrimSpace(value)
		} else if quoted := quotedValue().FindStringSubmatch(value); quoted != nil {
			value = unescapeEnv.Replace(quoted[1]) + quoted[2]
		} else {
			return nil, fmt.Errorf("line %d: the quote is not closed, or there is more behind the closing quote", i+1)
		}
		env = append(env, key+"="+value)
	}
	return env, nil
}

var (
	quotedValue = lazy.Regexp(`^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(?:#.*)?$`)
	unescapeEnv = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\\`, `\`)
)
