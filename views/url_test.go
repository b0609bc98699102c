package views

import (
	"elicitation-inspector/bridge/meaning/elicit"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit/link"
)

// urlQuestion returns a question for a URL as package web makes it.
func urlQuestion(raw string) Question {
	verdict := link.Judge(raw)
	q := someQuestion()
	q.Request.Mode, q.Request.ElicitationID = elicit.ModeURL, "e-1"
	q.Address = &verdict
	return q
}

// accepted returns the question after the person accepted it.
func accepted(q Question) Question {
	q.State, q.Action, q.By, q.Completion, q.Waited = conversation.Answered, "accept", "person", conversation.CompletionAwaited, time.Second
	return q
}

func links(n *html.Node) []*html.Node { return every(n, outward) }

// outward matches links, but for the one to Compose, which leads to the inspector itself.
func outward(n *html.Node) bool {
	return tag("a")(n) && !regexp.MustCompile(`^/\?compose=[0-9]+$`).MatchString(attr(n, "href"))
}

// TestURLIsOnlyInItsLink checks that the address is drawn as text, and that only one link
// contains it.
func TestURLIsOnlyInItsLink(t *testing.T) {
	for _, raw := range []string{
		"https://example.com/pay?id=7#end",
		"http://127.0.0.1:8080/sign-in",
		"https://www.parcels.example@203.0.113.7/track",
		"https://xn--prcels-3nf.example/track",
		`https://example.com/"><img src=x onerror=alert(1)>`,
		"https://example.com/' onclick='alert(1)",
		"HTTPS://EXAMPLE.COM/",
	} {
		q := urlQuestion(raw)
		if !q.Address.Openable {
			t.Fatalf("%s: not openable", raw)
		}
		doc := draw(t, QuestionCard(q))
		link := only(t, doc, "a link", outward)
		if got := text(link); got != "Open" {
			t.Errorf("%s: the link is named %q", raw, got)
		}
		if got := attr(link, "href"); got != raw {
			t.Errorf("%s: the link leads to %q", raw, got)
		}
		if got := attr(link, "rel"); got != "noopener noreferrer" {
			t.Errorf("%s: rel is %q", raw, got)
		}
		if got := attr(link, "target"); got != "_blank" {
			t.Errorf("%s: target is %q", raw, got)
		}
		for n := range doc.Descendants() {
			for _, a := range n.Attr {
				if n != link && strings.Contains(strings.ToLower(a.Val), strings.ToLower(raw)) {
					t.Errorf("%s: it stands in %s of <%s>", raw, a.Key, n.Data)
				}
			}
		}
		if got := text(byID(t, doc, "q7-url")); got != raw {
			t.Errorf("%s: it reads %q", raw, got)
		}
		for _, state := range []Question{accepted(q), {InputRequest: conversation.InputRequest{Question: conversation.Question{State: conversation.Answered, Action: "decline"}}, Address: q.Address, Unfolded: true}} {
			if found := links(draw(t, QuestionCard(state))); len(found) > 0 {
				t.Errorf("%s: %d links once it is settled", raw, len(found))
			}
		}
	}
}

// TestURLThatCannotBeOpened checks that an address other than a web address has no link,
// and a reason.
func TestURLThatCannotBeOpened(t *testing.T) {
	for _, raw := range []string{
		"javascript:alert(document.cookie)",
		"JaVaScRiPt:alert(1)",
		" javascript:alert(1)",
		"java\tscript:alert(1)",
		"data:text/html,<script>alert(1)</script>",
		"vbscript:msgbox(1)",
		"file:///etc/passwd",
		"blob:https://example.com/7",
		"mailto:ada@example.com",
		"vscode://open",
		"//example.com/",
		"https:example.com",
		"https://",
		"https://exa\nmple.com/",
		"https://example.com\\@evil.example/",
		"",
	} {
		doc := draw(t, QuestionCard(urlQuestion(raw)))
		if found := links(doc); len(found) > 0 {
			t.Errorf("%q: it has a link to %q", raw, attr(found[0], "href"))
		}
		for n := range doc.Descendants() {
			for _, a := range n.Attr {
				if raw != "" && strings.Contains(a.Val, raw) {
					t.Errorf("%q: it stands in %s of <%s>", raw, a.Key, n.Data)
				}
			}
		}
		for _, name := range []string{"Copy URL and accept", "Decline", "Cancel"} {
			button(t, doc, name)
		}
		if got := text(doc); !strings.Contains(got, "cannot be opened from here") {
			t.Errorf("%q: it does not say that it cannot be opened: %q", raw, got)
		}
		if len(every(doc, tag("script"))) > 0 || len(every(doc, tag("img"))) > 0 {
			t.Errorf("%q: it became markup", raw)
		}
	}
}

// TestLinkRefusesWhatTheJudgeMissed checks that a dangerous address that is wrongly
// marked as openable does not become a link that runs code.
func TestLinkRefusesWhatTheJudgeMissed(t *testing.T) {
	q := someQuestion()
	q.Request.Mode, q.Address = elicit.ModeURL, &link.Verdict{Raw: "javascript:alert(1)", Openable: true}
	if got := attr(only(t, draw(t, QuestionCard(q)), "a link", outward), "href"); strings.Contains(got, "javascript") {
		t.Errorf("the link leads to %q", got)
	}
}

// TestNothingIsPrefetched checks that no element of a card makes a browser load the
// address.
func TestNothingIsPrefetched(t *testing.T) {
	q := urlQuestion("https://example.com/")
	for _, card := range []Question{q, accepted(q)} {
		for _, name := range []string{"link", "img", "iframe", "object", "embed", "script", "meta"} {
			doc := only(t, draw(t, QuestionCard(card)), "the body", tag("body"))
			if found := every(doc, tag(name)); len(found) > 0 {
				t.Errorf("the card has a <%s>", name)
			}
		}
	}
}

func TestDomainStandsOut(t *testing.T) {
	for _, c := range []struct{ raw, domain, shown string }{
		{"https://pay.shop.example.co.uk/x", "example.co.uk", "https://pay.shop.example.co.uk/x"},
		{"https://bank.example@203.0.113.7/", "203.0.113.7", "https://bank.example@203.0.113.7/"},
		{"https://example.com/\u202egpj.exe", "example.com", `https://example.com/\u{202E}gpj.exe`},
		{"https://par\u200bcels.example/", `par\u{200B}cels.example`, `https://par\u{200B}cels.example/`},
	} {
		doc := draw(t, QuestionCard(urlQuestion(c.raw)))
		whole := byID(t, doc, "q7-url")
		if got := text(whole); got != c.shown {
			t.Errorf("%q reads %q, want %q", c.raw, got, c.shown)
		}
		if got := text(only(t, whole, "the domain", tag("b"))); got != c.domain {
			t.Errorf("%q: %q stands out, want %q", c.raw, got, c.domain)
		}
	}
}

func TestBothFormsOfAHost(t *testing.T) {
	doc := draw(t, QuestionCard(urlQuestion("https://p\u0430rcels.example/track")))
	for _, want := range []string{"p\u0430rcels.example", "xn--prcels-3nf.example"} {
		if !strings.Contains(text(doc), want) {
			t.Errorf("%q is not shown", want)
		}
	}
	if grave := every(doc, func(e *html.Node) bool { return attr(e, "class") == "in-place violation" }); len(grave) == 0 {
		t.Error("no warning looks as grave as a broken MUST")
	}
	if link := only(t, doc, "a link", outward); strings.Contains(attr(link, "class"), "primary") {
		t.Error("opening what is dangerous is the main thing to do")
	}
}

// TestAwaitedURL checks that the buttons for an awaited outcome depend on whether the
// server can report it, and whether a call waits for it.
func TestAwaitedURL(t *testing.T) {
	all := []string{"Retry now", "Retry every", "Give up", "Mark as done"}
	for _, c := range []struct {
		name        string
		told, waits bool
		offers      []string
		says        string
	}{
		{"request of 2025-11-25", true, false, all[3:], "Waiting for notifications/elicitation/complete"},
		{"error -32042", true, true, all, "Waiting for notifications/elicitation/complete"},
		{"round of 2026-07-28", false, true, all[:3], "Waiting for you to try again"},
	} {
		q := accepted(urlQuestion("https://example.com/"))
		q.ServerMayReport, q.CallWaits = c.told, c.waits
		doc := draw(t, QuestionCard(q))
		var offered []string
		for _, name := range all {
			if found := every(doc, func(e *html.Node) bool { return e.Data == "button" && strings.TrimSpace(text(e)) == name }); len(found) == 1 {
				offered = append(offered, name)
			}
		}
		if strings.Join(offered, ",") != strings.Join(c.offers, ",") {
			t.Errorf("%s: it offers %q, want %q", c.name, offered, c.offers)
		}
		if !strings.Contains(text(doc), c.says) {
			t.Errorf("%s: it does not say %q", c.name, c.says)
		}
		if got := len(every(doc, tag("details"))); got != 0 {
			t.Errorf("%s: it is folded", c.name)
		}
	}
}

func TestRetryEvery(t *testing.T) {
	q := accepted(urlQuestion("https://example.com/"))
	q.CallWaits = true
	seconds := func() string {
		return attr(only(t, draw(t, QuestionCard(q)), "seconds", func(e *html.Node) bool { return attr(e, "class") == "seconds" }), "value")
	}
	pressed := func() string { return attr(button(t, draw(t, QuestionCard(q)), "Retry every"), "aria-pressed") }
	if seconds() != "5" || pressed() != "false" {
		t.Errorf("at first: every %s s, pressed %s", seconds(), pressed())
	}
	q.Every = 2500 * time.Millisecond
	if seconds() != "2.5" || pressed() != "true" {
		t.Errorf("every 2.5 s: every %s s, pressed %s", seconds(), pressed())
	}
}

// TestOutcomeOfAURL checks that the card is folded into a line with the outcome when this
// is known, or can no longer arrive.
func TestOutcomeOfAURL(t *testing.T) {
	for _, c := range []struct {
		completion conversation.Completion
		outcome    string
	}{
		{conversation.CompletionDone, "completed"},
		{conversation.CompletionMarked, "marked as done"},
		{conversation.CompletionAwaited, "accepted"},
	} {
		q := accepted(urlQuestion("https://example.com/"))
		q.Completion = c.completion
		doc := draw(t, QuestionCard(q))
		article := only(t, doc, "article", tag("article"))
		if got := attr(article, "data-outcome"); got != c.outcome {
			t.Errorf("%s: the outcome is %q, want %q", c.completion, got, c.outcome)
		}
		if !strings.Contains(text(only(t, doc, "summary", tag("summary"))), c.outcome) {
			t.Errorf("%s: the line does not say it", c.completion)
		}
	}
}

// TestEarlyCompletion checks a completion that arrives before the person accepts.
func TestEarlyCompletion(t *testing.T) {
	q := urlQuestion("https://example.com/")
	q.Completion = conversation.CompletionDone
	doc := draw(t, QuestionCard(q))
	if !strings.Contains(text(doc), "the server says it is done") {
		t.Errorf("it is not said: %q", text(doc))
	}
	if attr(only(t, doc, "article", tag("article")), "data-state") != "pending" {
		t.Error("it is not pending any more")
	}
}

func TestAwaitedStandsBetweenPendingAndSettled(t *testing.T) {
	awaited := accepted(urlQuestion("https://example.com/"))
	awaited.Number, awaited.ServerMayReport = 1, true
	settled := Question{InputRequest: conversation.InputRequest{Question: conversation.Question{Number: 2, State: conversation.Answered}}}
	pending := someQuestion()
	var got []int
	sorted, _, _ := inOrder([]Question{settled, awaited, pending}, 0)
	for _, q := range sorted {
		got = append(got, q.Number)
	}
	if want := []int{7, 1, 2}; len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("the order is %v, want %v", got, want)
	}
}
