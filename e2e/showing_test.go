package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// TestShowing checks, on one page of the demo, what helps a person to show an exchange
// to others: exports, copies, the palette, presenting.
func TestShowing(t *testing.T) {
	s := open(t)
	s.call("deploy")
	s.question("Which build should go out?").Button("Decline").Click()
	s.result("")

	t.Run("export", func(t *testing.T) {
		s := &session{t: t, Process: s.Process, page: s.page.For(t)}
		log := s.page.Region("Wire log")
		filter := log.Field("Filter")
		filter.Fill("method:tools/call")
		s.page.Press(page.Enter)
		log.Button("Save").Click()
		menu := log.Role("group", "Save")
		for name, want := range map[string]string{
			"Whole session as HTML": "tools/list", "This call as Markdown": "Which build", "This filter as JSON Lines": "tools/call",
		} {
			link := menu.Link(name).Attr("href")
			body := s.get(link)
			if !strings.Contains(body, want) {
				t.Errorf("%s at %s lacks %q: %.300s", name, link, want, body)
			}
			if alone := !strings.HasPrefix(name, "Whole"); alone && strings.Contains(body, `"method":"tools/list"`) {
				t.Errorf("%s has other frames", name)
			}
		}
		menu.Field("Title").Type("Asked in vain")
		if link := menu.Link("This call as HTML").Attr("href"); !strings.Contains(s.get(link), "<title>Asked in vain</title>") {
			t.Errorf("%s has another title", link)
		}
		if menu.Link("Whole session as HAR").Exists() {
			t.Error("HAR is offered though nothing went over HTTP")
		}
		page.Eval[any](s.page, `document.querySelector("#save-more [href*=har]").click()`)
		s.page.Role("alert", "").Contains("The export failed: there are no frames of an HTTP connection")
		s.page.Press(page.Escape)
	})

	t.Run("copy as", func(t *testing.T) {
		s := &session{t: t, Process: s.Process, page: s.page.For(t)}
		if got, want := s.get("/questions/1/copy/call"), `inspector call deploy`; !strings.HasPrefix(got, want) {
			t.Errorf("the command line is %q", got)
		}
		report := s.get("/questions/1/copy/markdown")
		for _, part := range []string{"Written by the MCP Elicitation Inspector ", "Which build should go out?", `"requestedSchema": {`, "demo 1.0.0, revision 2026-07-28, in process", "What went back:", "inspector call deploy"} {
			if !strings.Contains(report, part) {
				t.Errorf("the report lacks %q: %s", part, report)
			}
		}
		s.call("deploy")
		question := s.question("Which build should go out?")
		question.Role("DisclosureTriangle", "Copy as…").Click()
		question.Button("Go (go-sdk)").Click()
		s.page.Role("status", "").Contains("Go (go-sdk) is copied.")
		question.Button("Cancel").Click()
	})

	t.Run("answers file", func(t *testing.T) {
		s := &session{t: t, Process: s.Process, page: s.page.For(t)}
		s.page.Region("Wire log").Button("Save").Click()
		file := s.get(s.page.Role("group", "Save").Link("My answers as an answers file").Attr("href"))
		s.page.Press(page.Escape)
		s.page.Region("Wire log").Button("Open an answers file").Click()
		page.Eval[any](s.page, fmt.Sprintf(`{
			const given = new DataTransfer(), input = document.querySelector("#script-more [type=file]");
			given.items.add(new File([%q], "answers.yaml"));
			input.files = given.files;
			input.dispatchEvent(new Event("change", {bubbles: true}));
		}`, file))
		s.page.Role("group", "Answers file").Field("Rules").HasValue(file)
		s.page.Role("group", "Answers file").Button("Answer by these rules").Click()
		s.page.Role("group", "Answers file").Button("Stop answering by rules").Wait()
		s.page.Press(page.Escape)
		s.page.Region("Wire log").Button("Answered by an answers file").Click()
		s.page.Role("group", "Answers file").Button("Stop answering by rules").Click()
		s.page.Press(page.Escape)
		s.page.Region("Wire log").Button("Open an answers file").Wait()
	})

	t.Run("palette", func(t *testing.T) {
		s := &session{t: t, Process: s.Process, page: s.page.For(t)}
		find := func(search, option string) {
			t.Helper()
			s.page.Press("k", page.Ctrl)
			s.page.Role("combobox", "Find").HasFocus()
			s.page.Type(search)
			s.page.Role("option", option).HasAttr("aria-selected", "true")
			s.page.Press(page.Enter)
			s.page.Role("dialog", "Command palette").Gone()
		}
		find("pay_invoice", "Pay an invoice pay_invoice · tool · demo")
		s.page.Region("Call").Role("heading", "pay_invoice").Wait()
		find("#1", "#1 frame")
		s.page.Region("Wire log").Role("group", "Frame").Contains("#1")
		find("keys", "Keys action")
		s.page.Role("dialog", "Keys").Wait()
		s.page.Press(page.Escape)
	})

	t.Run("present", func(t *testing.T) {
		s := &session{t: t, Process: s.Process, page: s.page.For(t)}
		s.page.Button("Present").Click()
		s.page.Region("Tools").Gone()
		s.page.Press("k", page.Ctrl)
		s.page.Type("call 1 ·")
		s.page.Role("option", "deploy call 1 · done").Click()
		s.page.Region("Sequence").Role("group", "Sequence diagram").Wait()
		s.page.Reload()
		s.page.Button("Present").HasAttr("aria-pressed", "true").Click()
		s.page.Role("combobox", "Theme").Choose("Dark")
		s.page.Reload()
		if scheme := page.Eval[string](s.page, "getComputedStyle(document.documentElement).colorScheme"); scheme != "dark" {
			t.Errorf("the theme is %q", scheme)
		}
	})

	t.Run("code", func(t *testing.T) {
		dir := t.TempDir()
		overlay := map[string]string{}
		for _, sdk := range []string{"go-sdk", "mcp-go"} {
			code := filepath.Join(dir, sdk+".go")
			write(t, code, s.get("/questions/1/copy/"+sdk))
			write(t, filepath.Join(dir, sdk+"-main.go"), "package main\n\nvar _ = ask\n\nfunc main() {}\n")
			for _, name := range []string{sdk + ".go", sdk + "-main.go"} {
				place, err := filepath.Abs(filepath.Join("snippet-"+sdk, name))
				if err != nil {
					t.Fatal(err)
				}
				overlay[place] = filepath.Join(dir, name)
			}
		}
		replace, err := json.Marshal(map[string]any{"Replace": overlay})
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "overlay.json"), string(replace))
		run(t, ".", "go", "build", "-o", dir, "-overlay", filepath.Join(dir, "overlay.json"), "./snippet-go-sdk", "./snippet-mcp-go")
		write(t, filepath.Join(dir, "ask.ts"), s.get("/questions/1/copy/typescript"))
		const parses = `require("node:module").stripTypeScriptTypes(require("node:fs").readFileSync("ask.ts", "utf8"))`
		run(t, dir, servers.Node(t)[0], "--no-warnings", "-e", parses)
	})
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs a command in a folder, and returns what it prints.
func run(t *testing.T, dir string, command ...string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
	return string(out)
}
