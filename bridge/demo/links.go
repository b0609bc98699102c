package demo

import (
	"context"
	"crypto/rand"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
