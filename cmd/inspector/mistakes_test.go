// The race detector makes these tests several times slower: they run dozens of inspectors. Others run
// each subcommand with it.

//go:build !race

package main

import (
	"strings"
	"testing"
)

// TestMistakesOnTheCommandLine checks that each mistake is told in one line, with what was
// probably meant, the flag, and the file once.
func TestMistakesOnTheCommandLine(t *testing.T) {
	t.Parallel()
	none := t.TempDir() + "/none.file"
	recorded := write(t, "flow.jsonl", "")
	text := write(t, "notes.txt", "hello\nworld\n")
	wrong := write(t, "wrong.yaml", "nope: [")
	config := write(t, "mcp.json", `{"mcpServers": {"alpha": {"command": "true", "arg": []}, "beta": {"url": "http://127.0.0.1:1", "oauth": {"scop": "a"}}, "gamma": {"cmd": "true"}}}`)
	other := write(t, "other.json", `{"mcpServer": {}}`)
	for _, c := range []struct {
		args []string
		code int
		want []string
		file string // to be named once
	}{
		{[]string{"lsit"}, exitUsage, []string{`there is no subcommand "lsit"; did you mean "list"?`}, ""},
		{[]string{"unfold", recorded}, exitUsage, []string{`there is no subcommand "unfold"; to open a transcript, write: inspector open `}, ""},
		{[]string{"unfold", "none.jsonl"}, exitUsage, []string{`there is no subcommand "unfold"`}, ""},
		{[]string{"replay"}, exitUsage, []string{"replay needs a FILE"}, ""},
		{[]string{"replay", none}, exitError, nil, none},
		{[]string{"replay", text, "--unknown", "guess"}, exitUsage, []string{`--unknown must be fail, ask, cancel or decline, not "guess"`}, ""},
		{[]string{"replay", text, "--unknown", "ask"}, exitUsage, []string{"--unknown ask needs a terminal"}, ""},
		{[]string{"replay", text, "--pace", "slow"}, exitUsage, []string{"--pace must be fast or recorded"}, ""},
		{[]string{"list", "--config", write(t, "line.json", `{"mcpServers": {"a": {"command": "sh -c true"}}}`)}, exitUsage, []string{`server "a", command: there is no program of this name: it looks like a whole command line. Write "command": "sh", "args": ["-c","true"]`}, ""},
		{[]string{"help", "opne"}, exitUsage, []string{`did you mean "open"?`}, ""},
		{[]string{"--recrod", "x"}, exitUsage, []string{`unknown flag: --recrod; did you mean "--record"?`, "Run 'inspector help' for usage."}, ""},
		{[]string{"check", "--behavior", "x"}, exitUsage, []string{`did you mean "--behaviour"?`, "Run 'inspector help check' for usage."}, ""},
		{[]string{"call", "deplo"}, exitRPC, []string{`demo (built in) lists no tool "deplo"; did you mean "deploy"? It offers "deploy", "transfer_money"`}, ""},
		{[]string{"call", "--prompt", "relase_notes"}, exitRPC, []string{`lists no prompt "relase_notes"; did you mean "release_notes"?`}, ""},
		{[]string{"check", "depoly", "--plan", write(t, "plan.yaml", "target: demo\n")}, exitUsage, []string{`demo 1.0.0 (built in) does not offer "depoly"; did you mean "deploy"? It offers`}, ""},
		{[]string{"list", "--config", config}, exitUsage, []string{
			`--config: `, `server "alpha", arg: there is no such member; did you mean "args"?`, `server "beta", oauth.scop: there is no such member; did you mean "scope"?`,
			`server "gamma", cmd: there is no such member; did you mean "command"?`,
		}, ""},
		{[]string{"list", "--config", config, "--server", "alhpa"}, exitUsage, []string{`has no server "alhpa"; it has alpha, beta, gamma; did you mean "alpha"?`}, config},
		{[]string{"list", "--config", other}, exitUsage, []string{`did you mean "mcpServers"?`}, other},
		{[]string{"list", "--config", none}, exitUsage, []string{"--config: "}, none},
		{[]string{"call", "deploy", "--answers", none}, exitUsage, []string{"--answers: "}, none},
		{[]string{"call", "deploy", "--answers", wrong}, exitUsage, []string{"--answers: ", ":1:7: this is not valid YAML"}, wrong},
		{[]string{"check", "--plan", wrong}, exitUsage, []string{"--plan: "}, wrong},
		{[]string{"call", "deploy", "--record", none + "/x"}, exitError, []string{"--record: "}, none},
		{[]string{"open", none}, exitError, nil, none},
		{[]string{"lint", none}, exitError, nil, none},
		{[]string{"answers", none}, exitError, nil, none},
		{[]string{"diff", none, none}, exitError, nil, none},
		{[]string{"diff", text}, exitUsage, []string{"diff needs two files, the old one and the new one"}, ""},
		{[]string{"diff", text, text, "--slower", "1"}, exitUsage, []string{"--slower must be more than 1"}, ""},
		{[]string{"diff", text, text, "--volatile", wrong}, exitUsage, []string{":1:7: this is not valid YAML"}, wrong},
		{[]string{"open", "--no-open", text}, exitError, []string{"it is not a transcript"}, text},
		{[]string{"lint", text}, exitError, []string{"it is not a transcript"}, text},
		{[]string{"export", "--format", "html", text}, exitError, []string{"it is not a transcript"}, text},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			got := inspectorRun(t, c.args...)
			if got.code != c.code || got.out != "" {
				t.Errorf("exit code %d, want %d\n%s\n%s", got.code, c.code, got.out, got.err)
			}
			for _, want := range c.want {
				if !strings.Contains(got.err, want) {
					t.Errorf("it does not say %q:\n%s", want, got.err)
				}
			}
			if c.file != "" && (strings.Count(got.err, c.file) != 1 || strings.Count(strings.TrimSuffix(got.err, "Run 'inspector help "+c.args[0]+"' for usage.\n"), "\n") != 1) {
				t.Errorf("not one line that names the file once:\n%s", got.err)
			}
		})
	}
}

// TestStandardErrorIsToldOnce starts a server that ends at server/discover, and is then started
// again: what it says both times is told once.
func TestStandardErrorIsToldOnce(t *testing.T) {
	t.Parallel()
	got := inspectorRun(t, "list", "--", "sh", "-c", "read a; echo begun >&2; echo no config >&2; exit 3")
	if got.code != exitConnect || strings.Count(got.err, "begun\n") != 1 || strings.Count(got.err, "no config\n") != 1 {
		t.Errorf("exit code %d:\n%s", got.code, got.err)
	}
}

// TestCheckCountsWhatItMakes checks a destructive tool that asks nothing when it is called as the
// plan says, and one that asks.
func TestCheckCountsWhatItMakes(t *testing.T) {
	t.Parallel()
	plan := write(t, "plan.yaml", "target: demo\n")
	for _, c := range []struct {
		tool string
		code int
		want string
	}{
		{"delete_files", exitOK, "2 trials (4 made): 2 pass"},
		{"who_am_i", exitAskedNothing, "0 trials (1 made): 0 pass"},
	} {
		got := inspectorRun(t, "check", c.tool, "--plan", plan, "--allow-destructive", c.tool, "--behaviour", "decline", "--protocol", "2025-11-25")
		if got.code != c.code || !strings.Contains(got.out, c.want) {
			t.Errorf("%s: exit code %d:\n%s\n%s", c.tool, got.code, got.out, got.err)
		}
	}
}
