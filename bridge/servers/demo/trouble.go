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

	protocol "elicitation-inspector/bridge/base/mcp"
)

// codeTimedOut is the error code that other SDKs use for a timeout.
const codeTimedOut = -32001

type patient struct{ Seconds float64 }

func (p patient) time() time.Duration { return time.Duration(p.Seconds * float64(time.Second)) }

func impatient(ctx context.Context, v *visit, args patient) (*mcp.CallToolResult, error) {
	var t struct{ Name string }
	err := v.askWithin(ctx, args.time(), true, form("seats", &t, args.time()))
	switch {
	case err == errTooLate:
		return failed("The seats went to somebody else after %v.", args.time()), nil
	case err != nil:
		return nil, err
	}
	return said("Row G, seats 7 and 8, for %s.", t.Name), nil
}

func timesOut(ctx context.Context, v *visit, args patient) (*mcp.CallToolResult, error) {
	var p struct{ Place string }
	err := v.askWithin(ctx, args.time(), false, form("door", &p))
	switch {
	case err == errTooLate:
		return nil, &jsonrpc.Error{Code: codeTimedOut, Message: fmt.Sprintf("The courier left after %v without an answer.", args.time())}
	case err != nil:
		return nil, err
	}
	return said("Delivered: %s.", p.Place), nil
}

type floodArgs struct {
	Count int
	Wait  bool
}

func flood(ctx context.Context, v *visit, args floodArgs) (*mcp.CallToolResult, error) {
	var o struct {
		Sent         int    `json:"sent"`
		Milliseconds int64  `json:"milliseconds"`
		Answer       string `json:"answer,omitempty"`
	}
	v.outcome = &o
	var a answer
	sent, err := v.askDuring(ctx, form("gate", &a), args.Wait, func() string {
		most := args.Count
		if !v.wants("info") {
			most = 0
		}
		start := time.Now()
		for i := range most {
			params := fmt.Appendf(nil, `{"level":"info","logger":"flood","data":"gauge %03d: %d.%02d m, message %d of %d"}`, i%100, 3+i%4, i%97, i+1, args.Count)
			if ctx.Err() != nil {
				break
			}
			v.session.Notify(v.stream(), protocol.NotificationMessage, params)
			o.Sent++
		}
		o.Milliseconds = time.Since(start).Milliseconds()
		return string(mustJSON(o))
	})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(sent), &o); err != nil {
		return nil, fmt.Errorf("reading what was sent from requestState: %w", err)
	}
	o.Answer = a.Action
	if o.Sent == 0 {
		return said("No messages: this client has asked for none of level info."), nil
	}
	return said("%d messages in %d ms.", o.Sent, o.Milliseconds), nil
}

func askMany(ctx context.Context, v *visit, args struct{ Count int }) (*mcp.CallToolResult, error) {
	questions, answers := make([]question, args.Count), make([]answer, args.Count)
	for i := range questions {
		questions[i] = form("talk", &answers[i], i+1, args.Count)
		questions[i].key = fmt.Sprintf("talk %03d", i+1)
	}
	if err := v.ask(ctx, questions...); err != nil {
		return nil, err
	}
	count := map[string]int{}
	for _, a := range answers {
		count[a.Action]++
	}
	var parts []string
	for _, action := range []string{"accept", "decline", "cancel"} {
		if n := count[action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d × %s", n, action))
		}
	}
	return said("%d questions: %s.", args.Count, strings.Join(parts, ", ")), nil
}

func crashOnDecline(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	var a answer
	if err := v.ask(ctx, form("restart", &a)); err != nil {
		return nil, err
	}
	if a.Action != "decline" {
		return said("The print server is fine."), nil
	}
	if exit := v.server.options.Exit; exit != nil {
		exit(3)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	v.session.Session.Close()
	return nil, raw(nil)
}

type countArgs struct {
	Sheep   int
	Seconds float64
}

func slowCount(ctx context.Context, v *visit, args countArgs) (*mcp.CallToolResult, error) {
	for i := range args.Sheep {
		v.progress(i, args.Sheep, fmt.Sprintf("%d over the fence", i))
		if err := v.pause(ctx, time.Duration(args.Seconds*float64(time.Second))); err != nil {
			return nil, err
		}
	}
	v.progress(args.Sheep, args.Sheep, "All over the fence")
	return said("%d sheep. Good night.", args.Sheep), nil
}

var (
	calendar  = service{key: "calendar", name: "Fernhill Calendar", purpose: "read when you are free"}
	mailbox   = service{key: "mailbox", name: "Northmail", purpose: "read your newsletters", never: true}
	reporting = service{key: "Ledger Reports", name: "Ledger Reports", purpose: "fetch the quarterly report"}
	boardroom = service{key: "Boardroom", name: "Boardroom", purpose: "see what only the board sees"}
)

func connectCalendar(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	var o struct {
		Connected bool     `json:"connected"`
		Free      []string `json:"free,omitempty"`
	}
	v.outcome = &o
	got, err := v.signIn(ctx, calendar)
	if err != nil {
		return nil, err
	}
	if got != allowed {
		return said("You said no at %s. The calendar is not connected.", calendar.name), nil
	}
	o.Connected, o.Free = true, []string{"Tuesday 10:00", "Wednesday 15:30"}
	return said("%s is connected. You are free on %s.", calendar.name, strings.Join(o.Free, " and ")), nil
}

func connectMailbox(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	if _, err := v.signIn(ctx, mailbox); err != nil {
		return nil, err
	}
	return said("%s will tell when your mailbox is connected. That it never does is the point of this tool.", mailbox.name), nil
}

func protectedReport(ctx context.Context, v *visit, args struct{ Report string }) (*mcp.CallToolResult, error) {
	needs := []service{reporting}
	if args.Report == "board" {
		needs = append(needs, boardroom)
	}
	if err := v.signInFirst(ctx, needs...); err != nil {
		return nil, err
	}
	return said("Revenue is up 4%% on the quarter, and 9%% on the year. The plants did well too."), nil
}

// link is a suspicious address.
type link struct{ name, url string }

func (l link) id() string { return l.name }

// suspicious only contains reserved names and addresses.
var suspicious = []link{
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

func suspiciousLink(ctx context.Context, v *visit, args struct{ Link string }) (*mcp.CallToolResult, error) {
	q := form("link", nil)
	q.url, q.id = chosen(args.Link, suspicious).url, rand.Text()
	if err := v.ask(ctx, q); err != nil {
		return nil, err
	}
	return said("You went there. There was no parcel."), nil
}
