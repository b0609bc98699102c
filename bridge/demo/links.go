package demo

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// patience is how long a request of 2026-07-28 is held for a sign-in before the client is asked to come back.
const patience = time.Second

// addLinks adds the stories that send the person to a web page.
func (s *Server) addLinks() {
	s.addTool(tool{
		name: "connect_calendar", title: "Connect a calendar", tell: connectCalendar,
		description: "Sends you to a page to sign in. Shows URL mode with a page that really is there: it completes by notifications/elicitation/complete in 2025-11-25, and by retrying in 2026-07-28.",
		output: `{"type":"object","properties":{
			"connected":{"type":"boolean"},"free":{"type":"array","items":{"type":"string"}}
		},"required":["connected"]}`,
	})
	s.addTool(tool{
		name: "connect_mailbox", title: "Connect a mailbox", tell: connectMailbox,
		description: "Sends you to a page that never gets done. Shows a URL whose completion does not come: the client has to live with it. Hidden from clients that cannot open URLs.",
	})
	s.addTool(tool{
		name: "protected_report", title: "Fetch a protected report", tell: protectedReport,
		description: "Fails until you have signed in. Shows error -32042 (URL elicitation required) in 2025-11-25: sign in, then call again. In 2026-07-28, which has no such error, it asks in the ordinary way.",
		input: `{"type":"object","properties":{
			"report":{"type":"string","title":"Report","oneOf":[
				{"const":"quarter","title":"The quarter: one sign-in"},{"const":"board","title":"For the board: two sign-ins"}],"default":"quarter"}
		},"additionalProperties":false}`,
	})
	s.addTool(tool{
		name: "suspicious_link", title: "Follow a suspicious link", tell: suspiciousLink,
		description: "Asks you to open an address that you had better not. Shows what a client says about URLs: user names in front of the host, look-alike letters, numbers for hosts, scripts, and secrets in the query. Hidden from clients that cannot open URLs.",
		input: `{"type":"object","properties":{
			"link":{"type":"string","title":"Link","enum":["` + strings.Join(suspicious.names(), `","`) + `"],"default":"` + suspicious[0].name + `"}
		},"additionalProperties":false}`,
	})
	s.links["connect_mailbox"], s.links["suspicious_link"] = true, true
}

// signIn sends the person to a service and returns what they decided there, or the answer with which they did not go.
func (v *visit) signIn(ctx context.Context, key string, s service) (verdict, answer, error) {
	c, err := v.server.desk.card(v.memo(key, rand.Text), s, v.session)
	if err != nil {
		return waiting, answer{}, err
	}
	q := question{key: key, message: fmt.Sprintf("Sign in to %s, to let the demo server %s.", s.name, s.purpose), url: c.url, id: c.elicitation}
	a, err := v.ask(ctx, q)
	if err != nil || !a.accepted() {
		return waiting, a, err
	}
	v.log(ctx, "info", "waiting for you at "+s.name)
	if !v.rounds() {
		got, err := v.wait(ctx, c, 0)
		if err == nil {
			v.server.complete(ctx, c)
		}
		return got, a, err
	}
	got, err := v.wait(ctx, c, patience)
	if err == nil && got == waiting {
		v.forget(key)
		return waiting, a, &inputRequired{[]question{q}}
	}
	return got, a, err
}

// complete tells a client of 2025-11-25 that a sign-in is over, however it ended.
func (s *Server) complete(ctx context.Context, c *card) {
	s.sendRaw(ctx, c.session, "notifications/elicitation/complete", mustJSON(struct {
		ElicitationID string `json:"elicitationId"`
	}{c.elicitation}))
}

func connectCalendar(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	got, a, err := v.signIn(ctx, "calendar", calendar)
	if err != nil {
		return nil, err
	}
	type outcome struct {
		Connected bool     `json:"connected"`
		Free      []string `json:"free,omitempty"`
	}
	switch {
	case !a.accepted():
		return with(instead(a, "The calendar is not connected, as you wish.", "The calendar is not connected yet."), outcome{}), nil
	case got != allowed:
		return with(said("You said no at %s. The calendar is not connected.", calendar.name), outcome{}), nil
	}
	free := []string{"Tuesday 10:00", "Wednesday 15:30"}
	return with(said("%s is connected. You are free on %s.", calendar.name, strings.Join(free, " and ")), outcome{true, free}), nil
}

func connectMailbox(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	if v.rounds() {
		_, a, err := v.signIn(ctx, "mailbox", mailbox)
		if err != nil {
			return nil, err
		}
		return mailboxResult(a), nil
	}
	c, err := v.server.desk.card(rand.Text(), mailbox, v.session)
	if err != nil {
		return nil, err
	}
	v.server.desk.whenSettled(c, func() { v.server.completeLater(c) })
	a, err := v.ask(ctx, question{
		key: "mailbox", url: c.url, id: c.elicitation,
		message: fmt.Sprintf("Sign in to %s, to let the demo server %s.", mailbox.name, mailbox.purpose),
	})
	if err != nil {
		return nil, err
	}
	return mailboxResult(a), nil
}

func mailboxResult(a answer) *mcp.CallToolResult {
	if a.accepted() {
		return said("%s will tell when your mailbox is connected. That it never does is the point of this tool.", mailbox.name)
	}
	return instead(a, "The mailbox is not connected, as you wish.", "The mailbox is not connected yet.")
}

// completeLater completes a sign-in outside of any call.
func (s *Server) completeLater(c *card) {
	ctx, cancel := context.WithTimeout(s.life, 10*time.Second)
	defer cancel()
	s.complete(ctx, c)
}

func protectedReport(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	args := struct{ Report string }{"quarter"}
	if err := v.args(&args); err != nil {
		return nil, err
	}
	needs := []service{reporting}
	if args.Report == "board" {
		needs = append(needs, boardroom)
	}
	report := said("Revenue is up 4%% on the quarter, and 9%% on the year. The plants did well too.")
	if v.rounds() {
		for _, s := range needs {
			got, a, err := v.signIn(ctx, s.name, s)
			switch {
			case err != nil:
				return nil, err
			case !a.accepted():
				return instead(a, "No sign-in, no report.", "The report can wait."), nil
			case got != allowed:
				return failed("%s did not let you in.", s.name), nil
			}
		}
		return report, nil
	}
	if err := v.may(question{url: "https://ledger.example/"}); err != nil {
		return nil, err
	}
	var open []json.RawMessage
	for _, s := range needs {
		c := v.server.desk.find(v.session, s)
		if c != nil && v.server.desk.verdictOf(c) == allowed {
			continue
		}
		if c == nil || v.server.desk.verdictOf(c) == refused {
			var err error
			if c, err = v.server.desk.card(rand.Text(), s, v.session); err != nil {
				return nil, err
			}
			v.server.desk.whenSettled(c, func() { v.server.completeLater(c) })
		}
		open = append(open, question{
			message: fmt.Sprintf("Sign in to %s, to let the demo server %s.", s.name, s.purpose), url: c.url, id: c.elicitation,
		}.encode(v.revision))
	}
	if open == nil {
		return report, nil
	}
	return nil, &jsonrpc.Error{
		Code:    mcp.CodeURLElicitationRequired,
		Message: "You have to sign in before you can read this report.",
		Data: mustJSON(struct {
			Elicitations []json.RawMessage `json:"elicitations"`
		}{open}),
	}
}

// variant is one of the choices that a tool leaves to its caller.
type variant struct{ name, value string }

type variants []variant

func (v variants) names() []string {
	n := make([]string, len(v))
	for i := range v {
		n[i] = v[i].name
	}
	return n
}

func (v variants) value(name string) string {
	for _, c := range v {
		if c.name == name {
			return c.value
		}
	}
	return ""
}

// suspicious are addresses that nobody should open without a second look. No name in them is anybody's.
var suspicious = variants{
	{"user_name", "https://www.parcels.example@203.0.113.7/track"},
	{"not_encrypted", "http://parcels.example/track/4417"},
	{"ipv4", "https://203.0.113.7/track"},
	{"ipv4_as_one_number", "https://3405803783/track"},
	{"ipv4_in_hex", "https://0xcb.0x0.0x71.0x7/track"},
	{"ipv6", "https://[2001:db8::4417]/track"},
	{"look_alike", "https://pаrcels.example/track"}, // the second letter is Cyrillic
	{"punycode", "https://xn--prcels-3nf.example/track"},
	{"whole_other_script", "https://хор.example/"}, // Cyrillic throughout
	{"text_direction", "https://parcels.example/\u202egpj.exe"},
	{"hidden_character", "https://par\u200bcels.example/track"},
	{"too_long", "https://parcels.example/track?note=" + strings.Repeat("lorem-ipsum-", 200)},
	{"secrets", "https://parcels.example/track?access_token=demo-not-a-secret&email=ada@example.com&card=4111111111111111"},
	{"script", "javascript:alert(document.cookie)"},
	{"local_file", "file:///etc/passwd"},
	{"page_in_the_address", "data:text/html,<h1>Parcel held</h1>"},
	{"no_address", "https://[2001:db8::"},
}

func suspiciousLink(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	args := struct{ Link string }{suspicious[0].name}
	if err := v.args(&args); err != nil {
		return nil, err
	}
	a, err := v.ask(ctx, question{
		key: "link", message: "Your parcel is held. Confirm your address to have it delivered.", url: suspicious.value(args.Link), id: rand.Text(),
	})
	if err != nil {
		return nil, err
	}
	if a.accepted() {
		return said("You went there. There was no parcel."), nil
	}
	return instead(a, "Well spotted: there was no parcel.", "You left it alone. There was no parcel."), nil
}
