package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// launcher is a program that runs another one, whose name is a better name for a server.
type launcher struct {
	verbs  []string // one of these may come before the program or package
	only   bool     // one of the verbs is required, otherwise nothing is run
	values []string // options with a value in the next argument
	module string   // option whose value is the program
	pack   bool     // it runs a package, not a file
}

// launchers is keyed by the name of the launcher, without a version at its end.
var launchers = map[string]launcher{
	"node":    {values: []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file", "-C", "--conditions"}},
	"tsx":     {verbs: []string{"watch"}},
	"ts-node": {values: []string{"-P", "--project"}},
	"deno":    {verbs: []string{"run"}, values: []string{"-c", "--config", "--import-map"}},
	"bun":     {verbs: []string{"run", "x"}},
	"python":  {module: "-m", values: []string{"-X", "-W"}},
	"uv":      {verbs: []string{"run"}, only: true, module: "-m", values: []string{"--directory", "--project", "--with", "--python", "-p", "--env-file"}},
	"ruby":    {values: []string{"-r", "-I"}},
	"php":     {values: []string{"-d", "-c"}},
	"java":    {module: "-jar", values: []string{"-cp", "-classpath"}},
	"dotnet":  {verbs: []string{"run", "exec"}, module: "--project"},
	"go":      {verbs: []string{"run"}, only: true, values: []string{"-C", "-tags", "-ldflags", "-modfile"}},
	"npx":     {pack: true, values: []string{"-p", "--package"}},
	"bunx":    {pack: true},
	"uvx":     {pack: true, values: []string{"--from", "--with", "--python", "-p"}},
	"pipx":    {verbs: []string{"run"}, only: true, pack: true, values: []string{"--spec", "--python"}},
	"npm":     {verbs: []string{"exec", "x"}, only: true, pack: true},
	"pnpm":    {verbs: []string{"dlx", "exec"}, only: true, pack: true},
	"yarn":    {verbs: []string{"dlx"}, only: true, pack: true},
}

// serverName returns a name for the server that a command line starts, until the server
// sends its own name. dir is the working directory.
func serverName(command []string, dir string) string {
	program := strings.TrimSuffix(filepath.Base(command[0]), ".exe")
	l, ok := launchers[program]
	if !ok {
		l, ok = launchers[strings.TrimRight(program, "0123456789.")] // python3.12
	}
	if !ok {
		return program
	}
	what := l.runs(command[1:])
	switch {
	case what == "":
		return program
	case l.pack:
		return packageName(what)
	default:
		return scriptName(what, dir)
	}
}

// runs returns the program or package among the arguments, "" if there is none.
func (l launcher) runs(args []string) string {
	verbs, only := l.verbs, l.only
	for i := 0; i < len(args); i++ {
		arg := args[i]
		option, value, joined := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			if i+1 < len(args) {
				return args[i+1]
			}
			return ""
		case l.module != "" && option == l.module && joined:
			return value
		case l.module != "" && option == l.module && i+1 < len(args):
			return args[i+1]
		case slices.Contains(l.values, arg):
			i++
		case arg == "-c" || arg == "-e" || arg == "--eval" || arg == "-":
			return "" // the program is not in a file
		case strings.HasPrefix(arg, "-"):
		case slices.Contains(verbs, arg):
			verbs, only = nil, false
		case only:
			return ""
		default:
			return arg
		}
	}
	return ""
}

// packageName returns the name of a package without its version: @scope/name@1.2,
// name[extra]==1.2, git+https://host/owner/name.git@v1.
func packageName(p string) string {
	if strings.Contains(p, "://") {
		p = p[strings.LastIndex(p, "/")+1:]
	}
	if i := strings.IndexAny(p[min(1, len(p)):], "@=<>~["); i >= 0 {
		p = p[:i+1]
	}
	return strings.TrimSuffix(p, ".git")
}

// Names of files and folders that do not describe their contents.
var (
	plainFiles   = []string{"index", "main", "__main__", "mod", "cli", "."}
	plainFolders = []string{"dist", "build", "src", "lib", "out", "bin", "cmd", ".", "..", "", string(filepath.Separator)}
)

// scriptName returns the name of a script, or, if that is too general, of its project's
// folder.
func scriptName(path, dir string) string {
	for _, registry := range []string{"npm:", "jsr:"} {
		if p, ok := strings.CutPrefix(path, registry); ok {
			return packageName(p)
		}
	}
	if at := strings.LastIndex(path, "@"); at > 0 && !strings.Contains(path[at:], "/") {
		path = path[:at] // a version
	}
	if !strings.Contains(path, "://") && !filepath.IsAbs(path) && (strings.HasPrefix(path, ".") || filepath.Ext(path) != "") {
		path = filepath.Join(dir, path)
	}
	base := filepath.Base(path)
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	if !slices.Contains(plainFiles, stem) {
		return base
	}
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		if name := filepath.Base(folder); !slices.Contains(plainFolders, name) {
			return name
		}
		if folder == filepath.Dir(folder) {
			return base
		}
	}
}

// advice returns a hint for a command line whose first argument is not a URL but can be run
// or opened; "" otherwise.
func advice(args []string) string {
	words := strings.Join(args, " ")
	switch info, err := os.Stat(args[0]); {
	case err == nil && info.IsDir():
		return ""
	case err == nil:
		switch filepath.Ext(args[0]) {
		case ".jsonl", ".ndjson":
			return fmt.Sprintf("to open a transcript, write: inspector open %s", words)
		case ".json", ".jsonc":
			return fmt.Sprintf("for the servers of an mcp.json, write: inspector --config %s", words)
		}
	default:
		if _, err := exec.LookPath(args[0]); err != nil {
			return ""
		}
	}
	return fmt.Sprintf("to run it as a server, write: inspector -- %s", words)
}

// rest returns the command line from an argument on, or only the argument if it is not in
// all.
func rest(all []string, from string) []string {
	if i := slices.Index(all, from); i >= 0 {
		return all[i:]
	}
	return []string{from}
}
