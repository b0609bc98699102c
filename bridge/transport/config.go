package transport

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

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
	f := configFile{path: path, env: env, source: bytes.TrimPrefix(text, byteOrderMark)}
	if f.folder, err = workspace(path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
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
		s := configServer{configFile: f, spec: Spec{Name: key, From: f.place(m.Name)}}
		if taken {
			s.fail(m.Name, "", "the name is taken by another one before")
		} else {
			s.read(m.Value, len(names) > 0)
		}
		s.spec.Problem = errors.Join(s.wrong...)
		specs = append(specs, s.spec)
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return nil, fmt.Errorf("%s has no server %q; it has %s%s", path, n, strings.Join(known, ", "), wording.DidYouMean(n, known))
		}
	}
	if err := unusable(specs); err != nil {
		return nil, err
	}
	return specs, nil
}

// workspace returns the folder that a configuration file belongs to.
func workspace(path string) (string, error) {
	path, err := filepath.Abs(path)
	folder := filepath.Dir(path)
	if base := filepath.Base(folder); base == ".vscode" || base == ".cursor" {
		folder = filepath.Dir(folder)
	}
	return folder, err
}

// unusable returns the problems of all servers; nil if at least one server can be
// reached.
func unusable(specs []Spec) error {
	var wrong []error
	for _, s := range specs {
		if s.Problem == nil && !s.Disabled {
			return nil
		}
		wrong = append(wrong, s.Problem)
	}
	return errors.Join(wrong...)
}

// configFile is a configuration file while it is read.
type configFile struct {
	path   string
	folder string
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

// name returns the decoded name of a member.
func name(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

func kind(v hujson.Value) string {
	kinds := map[hujson.Kind]string{
		'{': "an object", '[': "an array", '"': "a string", '0': "a number", 'n': "null", 't': "a boolean", 'f': "a boolean",
	}
	return kinds[v.Value.Kind()]
}
