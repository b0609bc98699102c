package conversation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"elicitation-inspector/bridge/wire"
)

// A value of --effect adds spans that are effects, or takes some away.
func TestParseEffect(t *testing.T) {
	s := &wire.Span{Name: "charge card", Kind: "internal", Service: "shop", Attributes: map[string]json.RawMessage{"shop.step": json.RawMessage(`"Pay"`), "n": json.RawMessage("7")}}
	for value, want := range map[string]bool{
		"name:~^charge": true, "name:~^card": false, "name:CARD": true, "-name:card": true, "kind:internal": true, "service:shop": true, "scope:x": false,
		"shop.step:pay": true, "n:7": true, "m:7": false,
	} {
		if is, err := ParseEffect(value); err != nil || is(s) != want {
			t.Errorf("%s: %v", value, err)
		}
	}
	for _, value := range []string{"", "name", ":x", "name:", "name:~(", "-"} {
		if _, err := ParseEffect(value); err == nil {
			t.Errorf("%q is taken", value)
		}
	}
	for value, want := range map[string]string{"name:card": "--effect name:card", "-name:card": "", "": "http.request.method POST"} {
		s := &wire.Span{Name: "charge card", Kind: wire.SpanClient, Effect: value, Attributes: map[string]json.RawMessage{"http.request.method": json.RawMessage(`"POST"`)}}
		if got := EffectOf(s); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

// What the conventions say of a span decides whether it is an effect: writing, sending, deleting and calling
// out are, and reading is not.
func TestEffectOf(t *testing.T) {
	for _, c := range []struct {
		kind, name, attributes string // of the span; "a=b;c=d"
		is                     bool
	}{
		{"client", "INSERT orders", "db.operation.name=INSERT", true},
		{"client", "orders", "db.operation=update", true},
		{"internal", "orders", "db.query.text=/* app */ insert into orders values (?)", true},
		{"client", "orders", "db.statement=-- app\nDELETE FROM orders", true},
		{"client", "orders", "db.query.text=WITH old AS (SELECT 1) DELETE FROM orders", true},
		{"client", "orders", "db.operation.name=insertMany;db.system.name=mongodb", true},
		{"client", "orders", "db.operation.name=findOneAndUpdate", true},
		{"client", "SETEX", "db.operation.name=SETEX;db.system.name=redis", true},
		{"client", "SET", "db.operation.name=SET;db.system=redis", true},
		{"client", "POST", "http.request.method=POST", true},
		{"client", "DELETE", "http.method=DELETE", true},
		{"producer", "send mails", "messaging.operation.type=send", true},
		{"client", "PutItem", "rpc.system=aws-api;rpc.method=PutItem", true},
		{"client", "pay", "rpc.system=grpc;rpc.method=shop.Bank/Charge", true},
		{"internal", "write ledger", "file.path=/tmp/ledger", true},

		{"client", "SELECT orders", "db.operation.name=SELECT", false},
		{"client", "orders", "db.query.text=select * from orders for update", false},
		{"client", "orders", "db.query.text=WITH a AS (SELECT 'x') SELECT * FROM a", false},
		{"client", "SET", "db.query.text=SET search_path TO shop;db.system.name=postgresql", false},
		{"client", "GET", "db.operation.name=GET;db.system.name=redis", false},
		{"client", "find", "db.operation.name=find", false},
		{"client", "GET", "http.request.method=GET", false},
		{"server", "POST /mcp", "http.request.method=POST", false},
		{"client", "elicitation/create", "mcp.method.name=elicitation/create;rpc.method=send", false},
		{"client", "chat", "gen_ai.operation.name=chat;http.request.method=POST", false},
		{"consumer", "receive", "messaging.operation.type=receive", false},
		{"client", "GetItem", "rpc.system=aws-api;rpc.method=GetItem", false},
		{"internal", "read ledger", "file.path=/tmp/ledger", false},
		{"internal", "write log line", "log.level=info", false},
		{"internal", "INSERT", "", false},
	} {
		s := &wire.Span{Name: c.name, Kind: c.kind, Attributes: map[string]json.RawMessage{}}
		for one := range strings.SplitSeq(c.attributes, ";") {
			key, value, _ := strings.Cut(one, "=")
			s.Attributes[key] = fmt.Appendf(nil, "%q", value)
		}
		if got := EffectOf(s); got != "" != c.is {
			t.Errorf("%s %s {%s} is %q", c.kind, c.name, c.attributes, got)
		}
	}
}
