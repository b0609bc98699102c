package findings_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"elicitation-inspector/bridge/findings"
	"elicitation-inspector/bridge/rawjson"
)

// A step of a conversation is a message with its sender: "> " is the client and "< "
// the server. "---" begins another session, "# " is noise.
const (
	hello     = `> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}}}}}`
	welcome   = `< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`
	helloJune = `> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}}}}`
	june      = `< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`
	discover  = `> {"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol\/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}}}}`
	found     = `< {"jsonrpc":"2.0","id":0,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}}`
	call      = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`
	again     = `> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask"}}`
	done      = `< {"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
	done2     = `< {"jsonrpc":"2.0","id":2,"result":{"content":[]}}`
	complete  = `< {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}}`
	form      = `< {"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"elicitationId":"e1","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`
	accepted  = `> {"jsonrpc":"2.0","id":7,"result":{"action":"accept"}}`
	declined  = `> {"jsonrpc":"2.0","id":7,"result":{"action":"decline"}}`
)

func visit(id int, elicitation, url string) string {
	return fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"mode":"url","elicitationId":%q,"message":"Sign in","url":%q}}`, id, elicitation, url)
}

func required(id int, elicitation, url string) string {
	return fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"error":{"code":-32042,"message":"Sign in","data":{"elicitations":[{"mode":"url","elicitationId":%q,"message":"Sign in","url":%q}]}}}`, id, elicitation, url)
}

// plain is form without an elicitationId.
var plain = strings.Replace(form, `"elicitationId":"e1",`, "", 1)

// asked returns copies of plain with different ids.
func asked(times int) []string {
	var steps []string
	for i := range times {
		steps = append(steps, strings.Replace(plain, `"id":7`, fmt.Sprintf(`"id":%d`, 8+i), 1))
	}
	return steps
}

// rounds returns a result that asks with the invalid schema type array.
func rounds(id int) string {
	return fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","message":"Who?","requestedSchema":{"type":"array","properties":{"a":{"type":"string"}}}}}}}}`, id)
}

const (
	auth  = "https://example.com/auth"
	other = "https://example.com/other"
)

// sequences maps descriptions to conversations and their findings.
var sequences = map[string]struct {
	steps []string
	want  string // frame numbers and rules; "" for no findings
}{
	"a URL from its offer to its end":     {[]string{hello, welcome, call, visit(7, "e1", auth), accepted, complete, done}, ""},
	"an unknown completion":               {[]string{hello, welcome, complete}, "3 completion-unknown"},
	"a completion without params":         {[]string{hello, welcome, `< {"jsonrpc":"2.0","method":"notifications/elicitation/complete"}`}, "3 completion-malformed"},
	"a completion without an id":          {[]string{hello, welcome, `< {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{}}`}, "3 completion-malformed"},
	"a completion with a list":            {[]string{hello, welcome, `< {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":[]}`}, "3 completion-malformed"},
	"a completion with a number":          {[]string{hello, welcome, `< {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":1}}`}, "3 completion-malformed"},
	"a second completion":                 {[]string{hello, welcome, call, visit(7, "e1", auth), accepted, complete, complete}, "7 completion-repeated"},
	"a completion after decline":          {[]string{hello, welcome, call, visit(7, "e1", auth), declined, complete}, "6 completion-declined"},
	"a completion after cancel":           {[]string{hello, welcome, call, visit(7, "e1", auth), strings.Replace(declined, "decline", "cancel", 1), complete}, "6 completion-declined"},
	"a completion of a form":              {[]string{hello, welcome, call, form, accepted, complete}, "6 completion-of-form"},
	"a completion before 2025-11-25":      {[]string{helloJune, june, complete}, "3 completion-early"},
	"a completion in 2026-07-28":          {[]string{discover, found, complete}, "3 completion-removed"},
	"a completion of another session":     {[]string{hello, welcome, call, visit(7, "e1", auth), accepted, "---", hello, welcome, complete}, "8 completion-unknown"},
	"a completion in a part of a session": {[]string{complete}, ""},

	"an id again after its completion": {[]string{hello, welcome, call, visit(7, "e1", auth), accepted, complete, visit(8, "e1", auth)}, "7 id-reused"},
	"an id again for another URL":      {[]string{hello, welcome, call, visit(7, "e1", auth), accepted, visit(8, "e1", other)}, "6 id-reused"},
	"an id in another session":         {[]string{hello, welcome, call, visit(7, "e1", auth), accepted, complete, "---", hello, welcome, call, visit(8, "e1", other)}, ""},
	"the same offer while it is open":  {[]string{hello, welcome, call, required(1, "e1", auth), again, required(2, "e1", auth)}, ""},
	"the same offer after a decline":   {[]string{hello, welcome, call, visit(7, "e1", auth), declined, visit(8, "e1", auth)}, ""},

	"ping in 2025-11-25":                        {[]string{hello, welcome, `< {"jsonrpc":"2.0","id":1,"method":"ping"}`}, ""},
	"ping in 2026-07-28":                        {[]string{discover, found, `< {"jsonrpc":"2.0","id":1,"method":"ping"}`}, "3 server-request-removed"},
	"an elicitation as a request in 2026-07-28": {[]string{discover, found, call, strings.Replace(form, `"elicitationId":"e1",`, "", 1)}, "4 request-removed"},
	"roots as a request in 2026-07-28":          {[]string{discover, found, `< {"jsonrpc":"2.0","id":1,"method":"roots/list"}`}, "3 request-removed 3 roots-undeclared"},
	"a cancellation in 2025-11-25":              {[]string{hello, welcome, call, strings.Replace(form, `"elicitationId":"e1",`, "", 1), `< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, done}, ""},
	"a cancellation in 2026-07-28":              {[]string{discover, found, call, `< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`}, "4 cancelled-by-server"},
	"a cancellation in a part of a session":     {[]string{`< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`}, ""},
	"the end of a subscription":                 {[]string{discover, found, `> {"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{}}`, `< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}}`}, ""},

	"an elicitation as a notification": {[]string{hello, welcome, call, strings.Replace(form, `"id":7,`, "", 1), done}, "4 request-without-id"},

	"a response of another type of id":       {[]string{hello, welcome, call, strings.Replace(done, `"id":1`, `"id":"1"`, 1)}, "4 response-unasked"},
	"a response to nothing":                  {[]string{hello, welcome, call, done, done2}, "5 response-unasked"},
	"a result without an id":                 {[]string{hello, welcome, call, `< {"jsonrpc":"2.0","result":{"content":[]}}`}, "4 response-unasked"},
	"an error without an id":                 {[]string{hello, welcome, call, `< {"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}`}, "4 error-without-id"},
	"an error with the id null":              {[]string{hello, welcome, call, `< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`}, "4 error-without-id"},
	"a response after a cancellation":        {[]string{hello, welcome, call, `> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, done}, ""},
	"a response in a part of a session":      {[]string{done}, ""},
	"a question in a part of a session":      {[]string{strings.Replace(form, `"elicitationId":"e1",`, "", 1)}, ""},
	"a request under an id that is answered": {[]string{hello, welcome, call, visit(7, "e1", auth), accepted, visit(7, "e2", auth)}, ""},
	"a request under an id that waits":       {[]string{hello, welcome, call, visit(7, "e1", auth), visit(7, "e2", auth)}, "5 request-id-taken"},
	"an undeclared mode":                     {[]string{strings.Replace(hello, `,"url":{}`, "", 1), welcome, call, visit(7, "e1", auth)}, "4 mode-undeclared"},
	"roots that are declared":                {[]string{strings.Replace(hello, `"elicitation"`, `"roots":{},"elicitation"`, 1), welcome, call, `< {"jsonrpc":"2.0","id":7,"method":"roots/list"}`}, ""},
	"roots that are not":                     {[]string{hello, welcome, call, `< {"jsonrpc":"2.0","id":7,"method":"roots/list"}`}, "4 roots-undeclared"},
	"sampling that is not declared":          {[]string{hello, welcome, call, `< {"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}`}, "4 sampling-undeclared"},
	"capabilities of one call":               {[]string{discover, found, strings.Replace(call, `"name":"ask"`, `"name":"ask","_meta":{"io.modelcontextprotocol/clientCapabilities":{}}`, 1), rounds(1)}, "4 mode-undeclared 4 root-not-object"},
	"a question that was answered":           {[]string{hello, welcome, call, plain, accepted, strings.Replace(plain, `"id":7`, `"id":8`, 1)}, "6 asked-again"},
	"a question that was declined":           {[]string{hello, welcome, call, plain, declined, strings.Replace(plain, `"id":7`, `"id":8`, 1)}, ""},
	"an answered question of another call":   {[]string{hello, welcome, call, plain, accepted, done, again, strings.Replace(plain, `"id":7`, `"id":8`, 1)}, ""},
	"one of two calls that run":              {append([]string{hello, welcome, call, plain, accepted, again}, asked(8)...), ""}, // several questions, because a guess of the call would be random
	"a typed result in a part of a session":  {[]string{call, rounds(1)}, "2 root-not-object"},
	"noise":                                  {[]string{hello, welcome, "# listening"}, "3 stdout-noise"},
	"noise that is JSON":                     {[]string{hello, welcome, "# []"}, "3 stdout-noise"},
	"noise that is nothing":                  {[]string{hello, welcome, "# "}, "3 stdout-noise"},
}

func TestSequences(t *testing.T) {
	t.Parallel()
	for name, tt := range sequences {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := open(t, transcript(tt.steps))
			found, whole, err := findings.Of(context.Background(), log)
			if err != nil || !whole {
				t.Fatalf("whole: %t, %v", whole, err)
			}
			var got []string
			for _, f := range found {
				got = append(got, fmt.Sprintf("%d %s", f.Seq, f.Rule))
				frame, err := log.Frame(f.Seq)
				if err != nil || f.Pointer != "" && rawjson.At(frame.Raw, f.Pointer) == nil {
					t.Errorf("%+v leads nowhere in %s, %v", f, frame.Raw, err)
				}
				if !strings.HasSuffix(f.Text, ".") || f.Reference == "" {
					t.Errorf("%+v", f)
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("found %q, want %q\n%+v", got, tt.want, found)
			}
		})
	}
}

// Every rule that package lint leaves to this package is broken in some sequence.
func TestEveryRuleOfSequences(t *testing.T) {
	t.Parallel()
	all := ""
	for _, tt := range sequences {
		all += tt.want + " "
	}
	for _, rule := range strings.Fields("completion-malformed completion-unknown completion-of-form completion-repeated completion-declined completion-early completion-removed " +
		"stdout-noise request-id-taken request-without-id response-unasked error-without-id server-request-removed cancelled-by-server sampling-undeclared roots-undeclared") {
		if !strings.Contains(all, " "+rule+" ") {
			t.Errorf("%s has no sequence", rule)
		}
	}
}

// transcript returns steps as a transcript.
func transcript(steps []string) string {
	var b strings.Builder
	session := 1
	for _, step := range steps {
		if step == "---" {
			session++
			continue
		}
		way, message, _ := strings.Cut(step, " ")
		field, dir := "raw", map[string]string{">": "c2s", "<": "s2c", "#": "s2c"}[way]
		if way == "#" {
			field, message = "text", fmt.Sprintf("%q", message)
		}
		fmt.Fprintf(&b, `{"session_id":"s%d","server_label":"s","direction":%q,"transport":"stdio",%q:%s}`+"\n", session, dir, field, message)
	}
	return b.String()
}

// A linter that judges frames as they come has the same findings as one that judges all
// at once.
func TestStepByStep(t *testing.T) {
	t.Parallel()
	log := open(t, transcript([]string{hello, welcome, call, visit(7, "e1", auth), declined, complete, complete, done, done2, "# noise"}))
	whole, _, err := findings.Of(context.Background(), log)
	if err != nil || len(whole) < 4 {
		t.Fatalf("%+v, %v", whole, err)
	}
	beginning := log.Beginning()
	l := findings.New(beginning)
	for seq := int64(1); seq <= log.Len(); seq++ {
		beginning.Extend(seq)
		if err := l.Update(context.Background()); err != nil {
			t.Fatal(err)
		}
		if l.Judged() != seq {
			t.Errorf("%d frames are judged of %d", l.Judged(), seq)
		}
	}
	if got := l.From(0, log.Len()); !slices.Equal(got, whole) {
		t.Errorf("step by step\n%+v\nat once\n%+v", got, whole)
	}
}

// Noise on standard output has at most a hundred findings. Over HTTP there is no
// standard output.
func TestMuchNoise(t *testing.T) {
	t.Parallel()
	text := transcript(append([]string{hello, welcome}, slices.Repeat([]string{"# listening"}, 120)...))
	for transport, want := range map[string]int{"stdio": 100, "http": 0} {
		found, _, err := findings.Of(context.Background(), open(t, strings.ReplaceAll(text, `"transport":"stdio"`, `"transport":"`+transport+`"`)))
		if err != nil || len(found) != want {
			t.Errorf("%s: %d findings, want %d, %v", transport, len(found), want, err)
		}
	}
}

// A redacted value has no findings.
func TestRedacted(t *testing.T) {
	t.Parallel()
	asks := strings.Replace(visit(7, "e1", auth), `"url":"`+auth, `"url":"[REDACTED]`, 1)
	text := strings.Replace(transcript([]string{hello, welcome, call, asks}), `"raw":{"jsonrpc":"2.0","id":7,`, `"redacted":true,"raw":{"jsonrpc":"2.0","id":7,`, 1)
	found, _, err := findings.Of(context.Background(), open(t, text))
	if err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}
