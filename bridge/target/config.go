package target

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
	"golang.org/x/net/http/httpguts"
)

// LoadConfig reads the servers of an mcp.json file, in the order of the file:
// those that are named, or all if none is. They stand under "mcpServers" (as
// Claude and Cursor have it) or "servers" (VS Code); comments and trailing commas
// are allowed, and members that it does not know are ignored.
//
// A server is a process ("command", "args", "env", "envFile", "cwd") or a URL
// ("url", "headers"), and its "type" is stdio, http, sse or streamable-http. As
// in VS Code, http tries HTTP+SSE too where Streamable HTTP is refused, and so
// does a URL without a type. One that is "disabled" is left out, as [Spec.Disabled],
// unless it is named.
//
// Texts may use ${env:NAME} and ${NAME}, with a default as ${NAME:-default};
// ${workspaceFolder}, which is the file's folder, or its parent where that is
// called .vscode or .cursor; ${workspaceFolderBasename}, ${userHome} and
// ${pathSeparator}. env looks a variable of the environment up. Processes run in
// the workspace folder unless "cwd" says otherwise.
//
// "protocol" and "elicitation" say how the client presents itself to the server.
//
// A server that is described wrongly has that as its [Spec.Problem], with file,
// line, server and member of everything that is wrong; the others can be used. It
// is an error only where none of the servers can.
func LoadConfig(path string, env func(string) (string, bool), names ...string) ([]Spec, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err // says what was being done, and with which file
	}
	f := configFile{path: path, env: env}
	if f.folder, err = workspace(path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.source = bytes.TrimPrefix(text, byteOrderMark)
	root, err := hujson.Parse(f.source)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "hujson: "))
	}
	return f.servers(root, names)
}

// workspace is the folder that a configuration file belongs to.
func workspace(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	folder := filepath.Dir(path)
	if base := filepath.Base(folder); base == ".vscode" || base == ".cursor" {
		folder = filepath.Dir(folder)
	}
	return folder, nil
}

// configFile is a configuration file that is being read.
type configFile struct {
	path   string
	folder string
	source []byte
	env    func(string) (string, bool)
}

// at is an error at a place in the file.
func (f configFile) at(v hujson.Value, where, format string, args ...any) error {
	if where != "" {
		where += ": "
	}
	return fmt.Errorf("%s: %s%w", f.place(v), where, fmt.Errorf(format, args...))
}

// place is the file and the line of a value.
func (f configFile) place(v hujson.Value) string {
	return fmt.Sprintf("%s:%d", f.path, 1+bytes.Count(f.source[:v.StartOffset], []byte("\n")))
}

func (f configFile) servers(root hujson.Value, names []string) ([]Spec, error) {
	top, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, f.at(root, "", "want an object, got %s", kind(root))
	}
	var entries []hujson.ObjectMember
	found := false
	for _, m := range top.Members {
		if key := name(m); key != "mcpServers" && key != "servers" {
			continue
		}
		found = true
		list, ok := m.Value.Value.(*hujson.Object)
		if !ok {
			return nil, f.at(m.Value, name(m), "want an object of servers, got %s", kind(m.Value))
		}
		entries = append(entries, list.Members...)
	}
	switch {
	case !found:
		return nil, fmt.Errorf(`%s has neither "mcpServers" nor "servers"`, f.path)
	case len(entries) == 0:
		return nil, fmt.Errorf("%s names no servers", f.path)
	}
	var (
		specs []Spec
		known []string
	)
	for _, m := range entries {
		key := name(m)
		taken := slices.Contains(known, key)
		known = append(known, key)
		if len(names) > 0 && !slices.Contains(names, key) {
			continue
		}
		s := configServer{configFile: f, spec: Spec{Name: key, From: f.place(m.Name)}, entry: m.Value}
		if taken {
			s.fail(m.Name, "", "the name is taken by another one before")
		} else if s.spec.Disabled = len(names) == 0 && s.disabled(); !s.spec.Disabled {
			s.read()
		}
		s.spec.Problem = errors.Join(s.wrong...)
		specs = append(specs, s.spec)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("%s has no server %q; it has %s", f.path, n, strings.Join(known, ", "))
		}
	}
	if err := unusable(specs); err != nil {
		return nil, err
	}
	return specs, nil
}

// unusable is all that is wrong with servers of which none can be reached; nil
// if one can.
func unusable(specs []Spec) error {
	var wrong []error
	for _, s := range specs {
		switch {
		case s.Problem != nil:
			wrong = append(wrong, s.Problem)
		case !s.Disabled:
			return nil
		}
	}
	return errors.Join(wrong...)
}

// configServer is one server of the file that is being read.
type configServer struct {
	configFile
	entry hujson.Value
	spec  Spec
	wrong []error
}

// fail notes what is wrong with a member.
func (s *configServer) fail(v hujson.Value, member, format string, args ...any) {
	where := fmt.Sprintf("server %q", s.spec.Name)
	if member != "" {
		where += ", " + member
	}
	s.wrong = append(s.wrong, s.at(v, where, format, args...))
}

// disabled reports whether the file leaves the server out.
func (s *configServer) disabled() bool {
	object, ok := s.entry.Value.(*hujson.Object)
	if !ok {
		return false
	}
	for _, m := range object.Members {
		if name(m) != "disabled" {
			continue
		}
		switch m.Value.Value.Kind() {
		case 't':
			return true
		case 'f', 'n':
		default:
			s.fail(m.Value, "disabled", "want true or false, got %s", kind(m.Value))
		}
	}
	return false
}

func (s *configServer) read() {
	object, ok := s.entry.Value.(*hujson.Object)
	if !ok {
		s.fail(s.entry, "", "want an object, got %s", kind(s.entry))
		return
	}
	members := map[string]hujson.Value{}
	for _, m := range object.Members {
		members[name(m)] = m.Value
	}
	if v, ok := members["protocol"]; ok {
		s.spec.Protocol = s.value(v, "protocol")
	}
	if v, ok := members["elicitation"]; ok {
		s.spec.Elicitation = s.value(v, "elicitation")
	}
	command, isProcess := members["command"]
	url, isURL := members["url"]
	stdio := isProcess
	if v, ok := members["type"]; ok {
		switch text := s.value(v, "type"); text {
		case "stdio":
			stdio = true
		case "http":
			stdio = false
		case "streamable-http", "streamableHttp":
			stdio, s.spec.Transport = false, TransportHTTP
		case "sse":
			stdio, s.spec.Transport = false, TransportSSE
		default:
			s.fail(v, "type", "%q is none of stdio, http, sse and streamable-http", text)
			return
		}
	}
	switch {
	case isProcess && isURL:
		s.fail(url, "url", "there is a command too, and a server is reached by one of them")
		return
	case stdio && !isProcess:
		s.fail(s.entry, "", `a stdio server needs a "command"`)
		return
	case !stdio && !isURL:
		s.fail(s.entry, "", `it needs a "command" or a "url"`)
		return
	}
	if !stdio {
		s.spec.URL = s.value(url, "url")
		if v, ok := members["headers"]; ok {
			s.readHeaders(v)
		}
		return
	}
	s.spec.Command = []string{s.value(command, "command")}
	if s.spec.Command[0] == "" && len(s.wrong) == 0 {
		s.fail(command, "command", "it is empty")
	}
	if v, ok := members["args"]; ok {
		s.readArgs(v)
	}
	if v, ok := members["envFile"]; ok {
		s.readEnvFile(v)
	}
	if v, ok := members["env"]; ok {
		s.readEnv(v)
	}
	s.spec.Dir = s.folder
	if v, ok := members["cwd"]; ok {
		s.spec.Dir = s.inFolder(s.value(v, "cwd"))
	}
}

// value is one text with its variables put in. Numbers and booleans are taken
// as they are written, since editors do so.
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

// inFolder is a path that may be relative to the workspace folder.
func (s *configServer) inFolder(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.folder, path)
}

func (s *configServer) readArgs(v hujson.Value) {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		s.fail(v, "args", "want an array of strings, got %s", kind(v))
		return
	}
	for i, arg := range list.Elements {
		s.spec.Command = append(s.spec.Command, s.value(arg, fmt.Sprintf("args[%d]", i)))
	}
}

// readEnv adds the variables of "env". As in VS Code, null leaves one alone.
func (s *configServer) readEnv(v hujson.Value) {
	for _, m := range s.object(v, "env") {
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

func (s *configServer) readHeaders(v hujson.Value) {
	s.spec.Header = http.Header{}
	for _, m := range s.object(v, "headers") {
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

func (s *configServer) object(v hujson.Value, member string) []hujson.ObjectMember {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		s.fail(v, member, "want an object of strings, got %s", kind(v))
		return nil
	}
	return object.Members
}

func (s *configServer) readEnvFile(v hujson.Value) {
	path := s.inFolder(s.value(v, "envFile"))
	text, err := os.ReadFile(path)
	if err != nil {
		s.fail(v, "envFile", "%w", err)
		return
	}
	env, err := parseEnvFile(string(bytes.TrimPrefix(text, byteOrderMark)))
	if err != nil {
		s.fail(v, "envFile", "%s: %w", path, err)
		return
	}
	s.spec.Env = append(s.spec.Env, env...)
}

// parseEnvFile reads lines of NAME=value. The value may stand in quotes, of
// which the double ones know \n, \r, \t, \" and \\; "export" before the name and
// comments are allowed.
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

var unescapeEnv = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\\`, `\`)

func envValue(value string) (string, error) {
	if value == "" || value[0] != '"' && value[0] != '\'' {
		value, _, _ = strings.Cut(value, " #")
		return strings.TrimSpace(value), nil
	}
	quote := value[0]
	for i := 1; i < len(value); i++ {
		switch {
		case value[i] == '\\' && quote == '"':
			i++
		case value[i] == quote:
			if rest := strings.TrimSpace(value[i+1:]); rest != "" && rest[0] != '#' {
				return "", errors.New("there is more behind the closing quote")
			}
			if value = value[1:i]; quote == '"' {
				value = unescapeEnv.Replace(value)
			}
			return value, nil
		}
	}
	return "", errors.New("the quote is not closed")
}

// expand puts the values of variables into a text. What only looks like a
// variable stays as it is.
func (f configFile) expand(text string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		variable, after, closed := strings.Cut(rest, "}")
		if !closed {
			b.WriteString("${" + rest)
			return b.String(), nil
		}
		value, known, err := f.variable(variable)
		if err != nil {
			return "", err
		}
		if !known {
			value = "${" + variable + "}"
		}
		b.WriteString(value)
		text = after
	}
}

// variable is the value of what stands between ${ and }.
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
	} else if !isVariable(variable) {
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

func isVariable(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// name is the decoded name of a member.
func name(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// kind says what a value is.
func kind(v hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	default:
		return "a boolean"
	}
}
