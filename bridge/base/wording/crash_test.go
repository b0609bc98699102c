package wording

import (
	"strings"
	"testing"
)

// TestCrashCause expects the line that says why a program crashed, whatever follows it, and
// none where no line does.
func TestCrashCause(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ lines, want string }{
		"Go":                 {"starting\npanic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main()\n\t/x/main.go:3 +0x4e\nexit status 2", "panic: assignment to entry in nil map"},
		"Go, again":          {"panic: a [recovered]\n\tpanic: b\n\ngoroutine 1 [running]:", "panic: a [recovered]"},
		"Go, log.Fatal":      {"2026/11/26 18:00:00 listen tcp :80: permission denied", ""},
		"Python":             {"Traceback (most recent call last):\n  File \"/x/a.py\", line 5, in boom\n    return d[\"nothing\"]\n           ~^^^^\nKeyError: 'nothing'", "KeyError: 'nothing'"},
		"Python, chained":    {"Traceback (most recent call last):\n  File \"a.py\", line 5, in f\nKeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a.py\", line 7, in g\nsqlite3.OperationalError: no such table: t", "sqlite3.OperationalError: no such table: t"},
		"Python, no header":  {"  File \"a.py\", line 3\n    def f(:\n          ^\nSyntaxError: invalid syntax", "SyntaxError: invalid syntax"},
		"Python, no message": {"Traceback (most recent call last):\n  File \"a.py\", line 5, in f\nKeyboardInterrupt", "KeyboardInterrupt"},
		"Node":               {"/x/a.js:1\nfoo()\n^\n\nReferenceError: foo is not defined\n    at Object.<anonymous> (/x/a.js:1:1)\n\nNode.js v20.20.2", "ReferenceError: foo is not defined"},
		"Node, a code":       {"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'\n    at a (node:b:1:1)\n  code: 'ERR_MODULE_NOT_FOUND'\n}", "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'"},
		"a program":          {"Error: unknown flag: --flg\nUsage:\n  srv [flags]", "Error: unknown flag: --flg"},
		"Rust":               {"thread 'main' panicked at src/main.rs:2:5:\nindex out of bounds\nnote: run with `RUST_BACKTRACE=1`", "thread 'main' panicked at src/main.rs:2:5: index out of bounds"},
		"Rust, older":        {"thread 'main' panicked at 'oh', src/main.rs:2:5\nnote: run with", "thread 'main' panicked at 'oh', src/main.rs:2:5"},
		"Java":               {"Exception in thread \"main\" java.lang.NullPointerException: x\n\tat A.main(A.java:3)", "Exception in thread \"main\" java.lang.NullPointerException: x"},
		".NET":               {"Unhandled exception. System.Exception: no\n   at P.Main() in p.cs:line 3", "Unhandled exception. System.Exception: no"},
		"Ruby":               {"a.rb:3:in 'f': no such thing (NameError)\n\tfrom a.rb:9:in '<main>'", "a.rb:3:in 'f': no such thing (NameError)"},
		"PHP":                {"PHP Fatal error:  Uncaught E in a.php:3\nStack trace:\n#0 {main}", "PHP Fatal error:  Uncaught E in a.php:3"},
		"a log":              {"loading\nINFO Error: none so far\nbye", ""},
		"nothing":            {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c Crash
			for line := range strings.Lines(test.lines) {
				c.Line(strings.TrimSuffix(line, "\n"))
			}
			if c.Cause() != test.want {
				t.Errorf("%q, want %q", c.Cause(), test.want)
			}
		})
	}
}
