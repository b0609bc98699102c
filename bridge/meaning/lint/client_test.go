package lint_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
)

// answer is the response to plain.
func answer(result string) string { return `> {"jsonrpc":"2.0","id":7,"result":` + result + `}` }

// fields is a form with one field of each kind.
const fields = `< {"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","required":["name"],"properties":{"name":{"type":"string","minLength":2},"age":{"type":"integer","maximum":150},"tags":{"type":"array","items":{"type":"string","enum":["a","b"]}}}}}}`

const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}}`

// first and retry are calls of the revision 2026-07-28; more has members of the params.
func first(id int) string { return retry(id, `"arguments":{"a":1}`) }

func retry(id int, more string) string {
	return fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask",%s,%s}}`, id, modern, more)
}

// asks is an input-required result with the questions a and b. more has members of the
// result.
func asks(id int, more string) string {
	question := `{"method":"elicitation/create","params":{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`
	return fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required","inputRequests":{"a":%s,"b":%[2]s}%s}}`, id, question, more)
}

const (
	same    = `"arguments":{"a":1},`
	stated  = `,"requestState":"s1"`
	state   = `"requestState":"s1"`
	given   = `"inputResponses":{"a":{"action":"decline"},"b":{"action":"accept","content":{"name":"Ann"}}}`
	taking  = `< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
	refused = `> {"jsonrpc":"2.0","id":7,"error":{"code":%d,"message":"no"}}`
)

// clientSequences maps descriptions to conversations and the findings about the client.
var clientSequences = map[string]struct {
	steps []string
	want  string
}{
	"accept":                                  {[]string{hello, welcome, call, fields, answer(`{"action":"accept","content":{"name":"Ann","age":7,"tags":["a"]}}`), done}, ""},
	"decline":                                 {[]string{hello, welcome, call, fields, declined, done}, ""},
	"an answer that is a text":                {[]string{hello, welcome, call, fields, answer(`"yes"`)}, "5 answer-malformed"},
	"an answer without an action":             {[]string{hello, welcome, call, fields, answer(`{"content":{}}`)}, "5 answer-action-unknown"},
	"an answer with another action":           {[]string{hello, welcome, call, fields, answer(`{"action":"reject"}`)}, "5 answer-action-unknown"},
	"a form accepted without content":         {[]string{hello, welcome, call, fields, accepted}, "5 answer-content-missing"},
	"an empty form without content":           {[]string{hello, welcome, call, strings.Replace(plain, `"name":{"type":"string"}`, "", 1), accepted}, ""},
	"content that is a list":                  {[]string{hello, welcome, call, fields, answer(`{"action":"accept","content":["Ann"]}`)}, "5 answer-malformed"},
	"content with decline":                    {[]string{hello, welcome, call, fields, answer(`{"action":"decline","content":{"name":"Ann"}}`)}, "5 answer-content-unwanted"},
	"content that is null with decline":       {[]string{hello, welcome, call, fields, answer(`{"action":"decline","content":null}`)}, "5 answer-malformed"},
	"content with cancel":                     {[]string{helloJune, june, call, plain, answer(`{"action":"cancel","content":{}}`)}, "5 answer-content-unwanted"},
	"content with a URL":                      {[]string{hello, welcome, call, visit(7, "e1", auth), answer(`{"action":"accept","content":{}}`)}, "5 answer-url-content"},
	"an accepted URL":                         {[]string{hello, welcome, call, visit(7, "e1", auth), accepted}, ""},
	"content that breaks the schema":          {[]string{hello, welcome, call, fields, answer(`{"action":"accept","content":{"name":"A","age":200}}`)}, "5 answer-unchecked 5 answer-unchecked"},
	"content that lacks a field":              {[]string{hello, welcome, call, fields, answer(`{"action":"accept","content":{}}`)}, "5 answer-invalid"},
	"content with null":                       {[]string{hello, welcome, call, fields, answer(`{"action":"accept","content":{"name":"Ann","age":null}}`)}, "5 answer-value-type"},
	"content with a list of numbers":          {[]string{hello, welcome, call, fields, answer(`{"action":"accept","content":{"name":"Ann","tags":[1]}}`)}, "5 answer-value-type"},
	"content with an unknown field":           {[]string{hello, welcome, call, fields, answer(`{"action":"accept","content":{"name":"Ann","nick":"A"}}`)}, "5 answer-field-unknown"},
	"an undeclared mode answered":             {[]string{strings.Replace(hello, `,"url":{}`, "", 1), welcome, call, visit(7, "e1", auth), declined}, "5 answer-undeclared"},
	"nothing declared and answered":           {[]string{strings.Replace(helloJune, `"elicitation":{}`, "", 1), june, call, plain, declined}, "5 answer-undeclared"},
	"an undeclared mode refused":              {[]string{strings.Replace(hello, `,"url":{}`, "", 1), welcome, call, visit(7, "e1", auth), fmt.Sprintf(refused, -32602)}, ""},
	"an undeclared mode refused wrongly":      {[]string{strings.Replace(hello, `,"url":{}`, "", 1), welcome, call, visit(7, "e1", auth), fmt.Sprintf(refused, -32603)}, "5 refused-undeclared"},
	"a declared mode refused as not declared": {[]string{hello, welcome, call, fields, fmt.Sprintf(refused, -32602)}, "5 refused-declared"},
	"a declared URL refused":                  {[]string{hello, welcome, call, visit(7, "e1", auth), fmt.Sprintf(refused, -32602)}, "5 refused-declared"},
	"an invalid question refused":             {[]string{hello, welcome, call, strings.Replace(plain, `{"type":"string"}`, `{"type":"object"}`, 1), fmt.Sprintf(refused, -32602)}, ""},
	"an optional form without content":        {[]string{hello, welcome, call, plain, accepted}, ""},
	"headers of 2026-07-28":                   {[]string{discover, found, posts("tools/call", "ask")}, ""},
	"headers of 2026-07-28 in base64":         {[]string{discover, found, posts("tools/call", "=?base64?YXNr?=")}, ""},
	"no Mcp-Name":                             {[]string{discover, found, posts("tools/call", "")}, "3 standard-header-missing"},
	"no Mcp-Method":                           {[]string{discover, found, posts("", "ask")}, "3 standard-header-missing"},
	"another Mcp-Name":                        {[]string{discover, found, posts("tools/call", "other")}, "3 standard-header-wrong"},
	"a declared mode refused":                 {[]string{hello, welcome, call, plain, fmt.Sprintf(refused, -32601)}, "5 refused-declared"},
	"roots declared and refused":              {[]string{strings.Replace(hello, `"elicitation"`, `"roots":{},"elicitation"`, 1), welcome, call, `< {"jsonrpc":"2.0","id":7,"method":"roots/list"}`, fmt.Sprintf(refused, -32601)}, "5 refused-declared"},
	"an answer that crosses":                  {[]string{hello, welcome, call, plain, taking, declined}, ""},
	"an answer after a cancellation":          {[]string{hello, welcome, call, plain, taking, "~ 5s", declined}, "6 answer-after-cancellation"},
	"an answer to nothing":                    {[]string{hello, welcome, call, declined}, "4 client-response-unasked"},
	"an answer twice":                         {[]string{hello, welcome, call, plain, declined, declined}, "6 client-answered-twice"},
	"an answer in a part of a session":        {[]string{declined}, ""},
	"an answer that is left out":              {[]string{hello, welcome, call, fields, answer(`{"action":"accept","content":{"name":"[REDACTED]","age":"[REDACTED]"}}`) + ` "redacted":true`}, ""},

	"a round":                            {[]string{discover, found, first(1), asks(1, stated), retry(2, same+state+","+given)}, ""},
	"a round without a state":            {[]string{discover, found, first(1), asks(1, ""), retry(2, same+given)}, ""},
	"a state that is escaped otherwise":  {[]string{discover, found, first(1), asks(1, `,"requestState":"a\/b"`), retry(2, same+`"requestState":"a/b",`+given)}, ""},
	"a state that is missing":            {[]string{discover, found, first(1), asks(1, stated), retry(2, same+given)}, "5 state-missing"},
	"a state that is changed":            {[]string{discover, found, first(1), asks(1, stated), retry(2, same+`"requestState":"s2",`+given)}, "5 state-changed"},
	"a state that nothing gave":          {[]string{discover, found, first(1), asks(1, ""), retry(2, same+state+","+given)}, "5 state-unasked"},
	"a state in another request":         {[]string{discover, found, first(1), asks(1, stated), strings.Replace(retry(2, same+state+","+given), `"name":"ask"`, `"name":"other"`, 1)}, "5 state-elsewhere"},
	"the id of the request":              {[]string{discover, found, first(1), asks(1, stated), retry(1, same+state+","+given)}, "5 retry-id-same"},
	"other arguments":                    {[]string{discover, found, first(1), asks(1, stated), retry(2, `"arguments":{"a":2},`+state+","+given)}, "5 retry-changed"},
	"an input that is missing":           {[]string{discover, found, first(1), asks(1, stated), retry(2, same+state+`,"inputResponses":{"a":{"action":"decline"}}`)}, "5 input-missing"},
	"inputs that are missing":            {[]string{discover, found, first(1), asks(1, stated), retry(2, same+state)}, "5 input-missing 5 input-missing"},
	"an input that nothing asked for":    {[]string{discover, found, first(1), asks(1, stated), retry(2, same+state+","+strings.Replace(given, `{"a"`, `{"c":{"action":"decline"},"a"`, 1))}, "5 input-unknown"},
	"an input twice":                     {[]string{discover, found, first(1), asks(1, stated), retry(2, same+state+","+strings.Replace(given, `{"a"`, `{"a":{"action":"decline"},"a"`, 1))}, "5 input-duplicate"},
	"inputs before a question":           {[]string{discover, found, retry(1, same+given)}, "3 input-unasked"},
	"inputs in a part of a session":      {[]string{retry(1, same+given)}, ""},
	"an invalid input":                   {[]string{discover, found, first(1), asks(1, stated), retry(2, same+state+","+strings.Replace(given, `"Ann"`, `7`, 1))}, "5 answer-invalid"},
	"two rounds at once":                 {[]string{discover, found, first(1), first(2), asks(1, stated), asks(2, `,"requestState":"s2"`), retry(3, same+state+","+given), retry(4, same+`"requestState":"s2",`+given)}, ""},
	"a round that is sent again":         {[]string{discover, found, first(1), asks(1, stated), retry(2, same+state+","+given), retry(3, same+state+","+given)}, ""},
	"a request without its capabilities": {[]string{discover, found, strings.Replace(first(1), `,"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}`, "", 1)}, "3 meta-missing"},
	"requests without _meta":             {[]string{discover, found, call, again}, "3 meta-missing"},

	"a line that is not a message":      {[]string{hello, welcome, "$ hello"}, "3 stdin-noise"},
	"two requests under one id":         {[]string{hello, welcome, call, call}, "4 client-id-taken"},
	"an id again":                       {[]string{hello, welcome, call, done, call}, "5 client-id-again"},
	"a request before the handshake":    {[]string{hello, call, welcome}, "2 client-request-early"},
	"a ping before the handshake":       {[]string{hello, ping, welcome}, ""},
	"no initialized":                    {[]string{hello, welcome, call, again, initialized}, "3 initialized-missing"},
	"initialize cancelled":              {[]string{hello, strings.Replace(cancel, `1}`, `0}`, 1)}, "2 initialize-cancelled"},
	"a request cancelled":               {[]string{hello, welcome, call, cancel}, ""},
	"a request cancelled late":          {[]string{hello, welcome, call, done, cancel}, ""},
	"a cancellation of nothing":         {[]string{hello, welcome, cancel}, "3 client-cancelled-unknown"},
	"a ping":                            {[]string{hello, welcome, `< {"jsonrpc":"2.0","id":7,"method":"ping"}`, "~ 1s", answer(`{}`)}, ""},
	"a ping that waits":                 {[]string{hello, welcome, `< {"jsonrpc":"2.0","id":7,"method":"ping"}`, "~ 30s", answer(`{}`)}, "4 client-ping-late"},
	"a header":                          {[]string{hello, welcome, posted("2025-11-25")}, ""},
	"no header":                         {[]string{hello, welcome, posted("")}, "3 version-header-missing"},
	"a header of another revision":      {[]string{hello, welcome, posted("2025-06-18")}, "3 version-header-wrong"},
	"a fault of the inspector":          {[]string{hello, welcome, call, fields, deliberate(answer(`{"action":"reject"}`)), done}, ""},
	"a fault of the inspector in round": {[]string{discover, found, first(1), asks(1, stated), deliberate(retry(2, same+given))}, ""},
}

// posted is a call over HTTP, whose frame has these members beside its message.
func posted(revision string) string {
	header := ""
	if revision != "" {
		header = `,"Mcp-Protocol-Version":["` + revision + `"]`
	}
	return call + ` "transport":"http","headers":{"Content-Type":["application/json"]` + header + `}`
}

// posts is a call in 2026-07-28 over HTTP with these headers; "" leaves one out.
func posts(method, name string) string {
	header := `"Mcp-Protocol-Version":["2026-07-28"]`
	for key, value := range map[string]string{"Mcp-Method": method, "Mcp-Name": name} {
		if value != "" {
			header += fmt.Sprintf(`,%q:[%q]`, key, value)
		}
	}
	return first(1) + ` "transport":"http","headers":{"Content-Type":["application/json"],` + header + `}`
}

// deliberate marks a message as one that a fault of the inspector has made.
func deliberate(step string) string { return step + ` "fault":"some","actor":"fault"` }

// Requests to a process that was started anew, or to an endpoint of HTTP+SSE, have nothing to do
// with those before.
func TestSessionsBeginAnew(t *testing.T) {
	t.Parallel()
	for _, note := range []string{`{"kind":"process-started","program":"a","command":["a"],"pid":2}`, `{"kind":"endpoint","to":"/m"}`} {
		posted := discover + ` "transport":"http","headers":{"Content-Type":["application/json"]}`
		for _, first := range [][]string{{discover}, {hello, welcome, call}} {
			text := transcript(first) + `{"session_id":"s1","server_label":"s","transport":"stdio","direction":"meta","note":` + note + `}` + "\n" + transcript([]string{hello, welcome, call, done})
			if strings.Contains(note, "endpoint") {
				text += transcript([]string{strings.Replace(posted, `"id":0`, `"id":5`, 1)})
			}
			all, _, err := lint.FindingsOf(t.Context(), open(t, text))
			if err != nil || len(all) > 0 {
				t.Errorf("%s: %v, %v", note, all, err)
			}
		}
	}
}

func TestClients(t *testing.T) {
	t.Parallel()
	for name, tt := range clientSequences {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := open(t, transcript(tt.steps))
			all, _, err := lint.FindingsOf(context.Background(), log)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range all {
				if f.Judges != lint.ClientParty {
					continue
				}
				got = append(got, fmt.Sprintf("%d %s", stepOf(t, log, f.Seq), f.Rule))
				frame, err := log.Frame(f.Seq)
				if err != nil || frame.Dir != wire.ClientToServer || f.Pointer != "" && rawjson.At(frame.Raw, f.Pointer) == nil {
					t.Errorf("%+v leads nowhere in %s, %v", f, frame.Raw, err)
				}
				if !strings.HasSuffix(f.Text, ".") || f.Reference == "" {
					t.Errorf("%+v", f)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("found %q, want %q\n%+v", got, tt.want, all)
			}
		})
	}
}

func TestEveryRuleOfClients(t *testing.T) {
	t.Parallel()
	all := " "
	for _, tt := range clientSequences {
		all += tt.want + " "
	}
	for _, rule := range lint.Rules() {
		if rule.Judges() == lint.ClientParty && !strings.Contains(all, " "+rule.ID+" ") {
			t.Errorf("%s has no sequence", rule.ID)
		}
	}
}
