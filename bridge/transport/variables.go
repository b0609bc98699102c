package transport

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

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
