package lint_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
)

// A step of a conversation is a message with its sender: "> " is the client and "< "
// the server. "---" begins another session, "# " is noise.
const (
	hello     = `> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{},"url":{}}}}}`
	welcome   = `< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`
	helloJune = `> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}}}}`
	june      = `< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`
	discover  = `> {"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol\/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}}}}}}`
	found     = `< {"jsonrpc":"2.0","id":0,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private"}}`
	call      = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`
	again     = `> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask"}}`
	done      = `< {"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
	done2     = `< {"jsonrpc":"2.0","id":2,"result":{"content":[]}}`
	complete  = `< {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e1"}}`
	form      = `< {"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"elicitationId":"e1","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`
	accepted  = `> {"jsonrpc":"2.0","id":7,"result":{"action":"accept"}}`
	declined  = `> {"jsonrpc":"2.0","id":7,"result":{"action":"decline"}}`
)

const (
	initialized = `> {"jsonrpc":"2.0","method":"notifications/initialized"}`
	ping        = `> {"jsonrpc":"2.0","id":3,"method":"ping"}`
	cancel      = `> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	slow        = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","_meta":{"progressToken":"p"}}}`
	listening   = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","_meta":{"io.modelcontextprotocol/logLevel":"info"}}}`
	logging     = `< {"jsonrpc":"2.0","id":0,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"logging":{}},"ttlMs":0,"cacheScope":"private"}}`
	changed     = `< {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	secret      = `< {"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"Sign in","requestedSchema":{"type":"object","properties":{"password":{"type":"string"}}}}}`
	told        = `> {"jsonrpc":"2.0","id":7,"result":{"action":"accept","content":{"password":"open-sesame"}}}`
)

const (
	named       = `> {"jsonrpc":"2.0","id":7,"result":{"action":"accept","content":{"name":"Ann Lee"}}}`
	welcomeLogs = `< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"logging":{}}}}`
)

// needed is plain with a required field.
var needed = strings.Replace(plain, `{"type":"string"}}`, `{"type":"string"}},"required":["name"]`, 1)

// next returns a question or an answer of the next call.
func next(step string) string { return strings.Replace(step, `"id":7`, `"id":8`, 1) }

func saying(id int, text string) string {
	return fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":%q}]}}`, id, text)
}

func failing(text string) string {
	return strings.Replace(saying(1, text), `"content"`, `"isError":true,"content"`, 1)
}

func step(progress float64) string {
	return fmt.Sprintf(`< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":%v}}`, progress)
}

func note(text string) string {
	return fmt.Sprintf(`< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%q}}`, text)
}

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
	"a URL in an error of 2025-06-18":  {[]string{helloJune, june, call, required(1, "e1", auth)}, "4 error-removed"},
	"the same offer after a decline":   {[]string{hello, welcome, call, visit(7, "e1", auth), declined, visit(8, "e1", auth)}, ""},

	"ping in 2025-11-25":                        {[]string{hello, welcome, `< {"jsonrpc":"2.0","id":1,"method":"ping"}`}, ""},
	"ping in 2026-07-28":                        {[]string{discover, found, `< {"jsonrpc":"2.0","id":1,"method":"ping"}`}, "3 server-request-removed"},
	"an elicitation as a request in 2026-07-28": {[]string{discover, found, call, strings.Replace(form, `"elicitationId":"e1",`, "", 1)}, "4 request-removed"},
	"roots as a request in 2026-07-28":          {[]string{discover, found, `< {"jsonrpc":"2.0","id":1,"method":"roots/list"}`}, "3 request-removed 3 roots-undeclared"},
	"a cancellation in 2025-11-25":              {[]string{hello, welcome, call, strings.Replace(form, `"elicitationId":"e1",`, "", 1), `< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, done}, ""},
	"a cancellation in 2026-07-28":              {[]string{discover, found, call, `< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`}, "4 cancelled-by-server"},
	"a cancellation in a part of a session":     {[]string{`< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`}, ""},
	"the end of a subscription":                 {[]string{discover, found, `> {"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{}}`, `< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}}`}, ""},

	"a question again in a round that no number links": {[]string{discover, found, call,
		`< {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}}}}`,
		`> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask","requestState":"s","inputResponses":{"a":{"action":"accept","content":{"name":"Ann"}}}}}`,
		`< {"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","requestState":"t","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}}}}`,
	}, "6 asked-again"},

	"a crash after a decline":     {[]string{hello, welcome, call, needed, declined, failing("TypeError: Cannot read properties of undefined (reading 'name')")}, "6 reads-declined-content"},
	"a crash after a cancel":      {[]string{hello, welcome, call, needed, strings.Replace(declined, "decline", "cancel", 1), `< {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"'NoneType' object is not subscriptable"}}`}, "6 reads-declined-content"},
	"a crash after an accept":     {[]string{hello, welcome, call, needed, named, failing("TypeError: Cannot read properties of undefined (reading 'name')")}, ""},
	"a failure after a decline":   {[]string{hello, welcome, call, needed, declined, failing("The user did not want to say who.")}, ""},
	"undefined after a decline":   {[]string{hello, welcome, call, needed, declined, saying(1, "Linked undefined")}, "6 undefined-after-decline"},
	"<nil> after a decline":       {[]string{hello, welcome, call, needed, declined, saying(1, "Linked %!s(<nil>).")}, "6 undefined-after-decline"},
	"undefined after an accept":   {[]string{hello, welcome, call, needed, named, saying(1, "Linked undefined")}, ""},
	"null after a decline":        {[]string{hello, welcome, call, needed, declined, saying(1, "None was linked: null")}, ""},
	"declined, and done":          {[]string{hello, welcome, call, needed, named, saying(1, "Linked as 71fd2b5c-4d0a-4b7e-9f15-3c1f0f6a2b11."), again, next(needed), next(declined), saying(2, "Linked as 0c4b1a9e-7f5d-4d3c-8e21-5a6b7c8d9e0f.")}, "10 declined-as-accepted"},
	"declined, and then accepted": {[]string{hello, welcome, call, needed, declined, saying(1, "Done."), again, next(needed), next(named), saying(2, "Done.")}, "10 declined-as-accepted"},
	"declined, and said so":       {[]string{hello, welcome, call, needed, named, saying(1, "Linked."), again, next(needed), next(declined), saying(2, "Not linked.")}, ""},
	"declined what is optional":   {[]string{hello, welcome, call, plain, named, saying(1, "Linked."), again, next(plain), next(declined), saying(2, "Linked.")}, ""},
	"declined, and other numbers": {[]string{hello, welcome, call, needed, named, saying(1, "3 files were deleted."), again, next(needed), next(declined), saying(2, "0 files were deleted.")}, ""},
	"declined, after a no":        {[]string{hello, welcome, call, needed, strings.Replace(named, `"Ann Lee"`, `false`, 1), saying(1, "Nothing was linked."), again, next(needed), next(declined), saying(2, "Nothing was linked.")}, ""},
	"declined another question":   {[]string{hello, welcome, call, needed, named, saying(1, "Linked."), again, next(strings.Replace(needed, "Who?", "When?", 1)), next(declined), saying(2, "Linked.")}, ""},
	"personal data in a log":      {[]string{hello, welcomeLogs, call, strings.ReplaceAll(plain, `"name"`, `"email"`), strings.Replace(named, `"name":"Ann Lee"`, `"email":"ann@example.org"`, 1), note("linked ann@example.org"), done}, "6 personal-in-log"},
	"a title in a log":            {[]string{hello, welcomeLogs, call, plain, named, note("linked Ann Lee"), done}, ""},

	"an elicitation as a notification": {[]string{hello, welcome, call, strings.Replace(form, `"id":7,`, "", 1), done}, "4 request-without-id"},

	"a response of another type of id":       {[]string{hello, welcome, call, strings.Replace(done, `"id":1`, `"id":"1"`, 1)}, "4 response-unasked"},
	"a response to nothing":                  {[]string{hello, welcome, call, done, done2}, "5 response-unasked"},
	"a result without an id":                 {[]string{hello, welcome, call, `< {"jsonrpc":"2.0","result":{"content":[]}}`}, "4 response-unasked"},
	"an error without an id":                 {[]string{hello, welcome, call, `< {"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}`}, "4 error-without-id"},
	"an error with the id null":              {[]string{hello, welcome, call, `< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`}, "4 error-without-id"},
	"a response after a cancellation":        {[]string{hello, welcome, call, `> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, done}, ""},
	"a response in a part of a session":      {[]string{done}, ""},
	"a question in a part of a session":      {[]string{strings.Replace(form, `"elicitationId":"e1",`, "", 1)}, ""},
	"a request under an id that is answered": {[]string{hello, welcome, call, visit(7, "e1", auth), accepted, visit(7, "e2", auth)}, "6 id-used-again"},
	"an id again in another session":         {[]string{hello, welcome, call, plain, accepted, done, "---", hello, welcome, call, plain, accepted, done}, ""},
	"a question after initialized":           {[]string{hello, welcome, initialized, call, plain, accepted, done}, ""},
	"a question before initialized":          {[]string{hello, welcome, call, plain, accepted, initialized, done}, "4 request-early"},
	"a ping before initialized":              {[]string{hello, welcome, `< {"jsonrpc":"2.0","id":7,"method":"ping"}`}, ""},
	"two responses":                          {[]string{hello, welcome, call, done, done}, "5 answered-twice"},
	"a result and an error":                  {[]string{hello, welcome, call, done, `< {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"x"}}`}, "5 answered-twice"},
	"two responses in a part of a session":   {[]string{call, done, done}, ""},
	"a result that is a text":                {[]string{hello, welcome, call, `< {"jsonrpc":"2.0","id":1,"result":"done"}`}, "4 result-not-object"},
	"a result that is null":                  {[]string{hello, welcome, call, `< {"jsonrpc":"2.0","id":1,"result":null}`}, "4 result-not-object"},
	"content that is a text":                 {[]string{hello, welcome, call, `< {"jsonrpc":"2.0","id":1,"result":{"content":"done"}}`}, "4 content-not-list"},
	"a question that is left open":           {[]string{hello, welcome, call, plain, done, again, done2}, "7 question-left-open"},
	"a question that is still answered":      {[]string{hello, welcome, call, plain, done, `> {"jsonrpc":"2.0","id":4,"method":"tools/list"}`, `< {"jsonrpc":"2.0","id":4,"result":{"tools":[]}}`, accepted, again, done2}, ""},
	"a question that is taken back":          {[]string{hello, welcome, call, plain, `< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, done, again, done2}, ""},
	"a question that is taken back late":     {[]string{hello, welcome, call, plain, done, `< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, again, done2}, ""},
	"a question that is answered late":       {[]string{hello, welcome, call, plain, done, again, accepted, done2}, ""},
	"a question of another call that runs":   {[]string{hello, welcome, call, plain, again, done2, accepted, done}, ""},
	"a cancellation of nothing":              {[]string{hello, welcome, `< {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`}, "3 cancelled-unknown"},
	"a call that goes on":                    {[]string{hello, welcome, call, plain, cancel, accepted, done}, "7 cancelled-goes-on"},
	"a call that fails by a cancellation":    {[]string{hello, welcome, call, plain, cancel, strings.Replace(done, `[]`, `[],"isError":true`, 1)}, ""},
	"an error after a cancellation":          {[]string{hello, welcome, call, plain, cancel, `< {"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"cancelled"}}`}, ""},
	"a cancellation after the answer":        {[]string{hello, welcome, call, plain, accepted, cancel, done}, ""},
	"a ping that waits for an answer":        {[]string{hello, welcome, call, plain, ping, "~ 5s", accepted, `< {"jsonrpc":"2.0","id":3,"result":{}}`, done}, "7 ping-unanswered"},
	"a ping that is lost":                    {[]string{hello, welcome, call, plain, ping, "~ 5s", accepted, done, again, done2}, "9 ping-unanswered"},
	"a ping that is given up":                {[]string{hello, welcome, call, plain, ping, "~ 5s", strings.Replace(cancel, `1}`, `3}`, 1), accepted, done, again, done2}, "10 ping-unanswered"},
	"a ping that is answered too late":       {[]string{hello, welcome, call, plain, ping, "~ 5s", strings.Replace(cancel, `1}`, `3}`, 1), accepted, done, again, `< {"jsonrpc":"2.0","id":3,"result":{}}`, done2}, "10 ping-unanswered"},
	"a ping that is taken back":              {[]string{hello, welcome, call, plain, ping, strings.Replace(cancel, `1}`, `3}`, 1), "~ 5s", accepted, done, again, done2}, ""},
	"a ping that is answered":                {[]string{hello, welcome, call, plain, ping, `< {"jsonrpc":"2.0","id":3,"result":{}}`, "~ 5s", accepted, done, again, done2}, ""},
	"a ping on a slow connection":            {[]string{hello, welcome, call, plain, ping, "~ 5s", `< {"jsonrpc":"2.0","id":3,"result":{}}`, accepted, done, again, done2}, ""},
	"progress":                               {[]string{hello, welcome, slow, step(1), step(1.5), done}, ""},
	"progress that stands still":             {[]string{hello, welcome, slow, step(1), step(1), done}, "5 progress-not-rising"},
	"progress after the result":              {[]string{hello, welcome, slow, step(1), done, step(2)}, "6 progress-after-result"},
	"progress after a cancellation":          {[]string{hello, welcome, slow, step(1), cancel, step(2)}, ""},
	"progress of nothing":                    {[]string{hello, welcome, call, step(1)}, "4 progress-unknown"},
	"progress in a part of a session":        {[]string{step(1)}, ""},
	"a log message":                          {[]string{hello, strings.Replace(welcome, `{}}}`, `{"logging":{}}}}`, 1), call, note("x")}, ""},
	"a log message undeclared":               {[]string{hello, welcome, call, note("x")}, "4 log-undeclared"},
	"a log message unasked":                  {[]string{discover, logging, call, note("x")}, "4 log-unasked"},
	"a log message after its request":        {[]string{discover, logging, listening, strings.Replace(done, `{"content`, `{"resultType":"complete","content`, 1), note("x")}, "5 log-unasked"},
	"a log message that was asked for":       {[]string{discover, logging, listening, note("x")}, ""},
	"a secret in a log message":              {[]string{hello, strings.Replace(welcome, `{}}}`, `{"logging":{}}}}`, 1), call, secret, told, note("signed in by open-sesame")}, "4 secret-in-form 6 secret-in-log"},
	"a secret that the log leaves out":       {[]string{hello, strings.Replace(welcome, `{}}}`, `{"logging":{}}}}`, 1), call, secret, told, note("signed in")}, "4 secret-in-form"},
	"a changed list":                         {[]string{hello, strings.Replace(welcome, `{}}}`, `{"tools":{"listChanged":true}}}}`, 1), changed}, ""},
	"a changed list undeclared":              {[]string{hello, strings.Replace(welcome, `{}}}`, `{"tools":{}}}}`, 1), changed}, "3 change-undeclared"},
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
	"a byte order mark before a message":     {[]string{hello, "# \ufeff", welcome}, "2 byte-order-mark"},
	"noise that is JSON":                     {[]string{hello, welcome, "# []"}, "3 stdout-noise"},
	"noise that is nothing":                  {[]string{hello, welcome, "# "}, "3 stdout-noise"},
}

func TestSequences(t *testing.T) {
	t.Parallel()
	for name, tt := range sequences {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := open(t, transcript(tt.steps))
			found, gaps, err := lint.FindingsOf(context.Background(), log)
			if err != nil || gaps != "" {
				t.Fatalf("%s, %v", gaps, err)
			}
			var got []string
			for _, f := range found {
				if f.Judges == lint.ClientParty { // see TestClients
					continue
				}
				got = append(got, fmt.Sprintf("%d %s", stepOf(t, log, f.Seq), f.Rule))
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
	for _, rule := range lint.Rules() {
		if rule.Judges() == lint.ServerParty && strings.Contains(rule.ID, "task") && !strings.Contains(all, " "+rule.ID+" ") {
			t.Errorf("%s has no sequence", rule.ID)
		}
	}
	for _, rule := range strings.Fields("completion-malformed completion-unknown completion-of-form completion-repeated completion-declined completion-early completion-removed " +
		"stdout-noise request-id-taken request-without-id response-unasked error-without-id server-request-removed cancelled-by-server sampling-undeclared roots-undeclared") {
		if !strings.Contains(all, " "+rule+" ") {
			t.Errorf("%s has no sequence", rule)
		}
	}
}

// ready is the message with which transcript has the client follow a welcome, unless the
// steps have one.
const ready = `> {"jsonrpc":"2.0","method":"notifications/initialized","params":{}}`

// stepOf returns the place of a frame among the steps.
func stepOf(t *testing.T, log *wire.Log, seq int64) (place int) {
	for ; seq > 0; seq-- {
		frame, err := log.Frame(seq)
		if err != nil {
			t.Fatal(err)
		}
		if "> "+string(frame.Raw) != ready {
			place++
		}
	}
	return place
}

// transcript returns steps as a transcript. "~ 5s" lets time pass.
func transcript(steps []string) string {
	var b strings.Builder
	session := 1
	at := time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)
	if !slices.Contains(steps, initialized) {
		for i := len(steps) - 1; i >= 0; i-- {
			if strings.Contains(steps[i], `"result":{"protocolVersion"`) {
				steps = slices.Insert(slices.Clone(steps), i+1, ready)
			}
		}
	}
	for _, step := range steps {
		if pause, ok := strings.CutPrefix(step, "~ "); ok {
			took, _ := time.ParseDuration(pause)
			at = at.Add(took)
			continue
		}
		if step == "---" {
			session++
			continue
		}
		way, message, _ := strings.Cut(step, " ")
		field, dir := "raw", map[string]string{">": "c2s", "<": "s2c", "#": "s2c", "$": "c2s"}[way]
		if way == "#" || way == "$" {
			field, message = "text", fmt.Sprintf("%q", message)
		}
		more := `"transport":"stdio"`
		if i := strings.LastIndex(message, "} \""); i >= 0 { // members of the frame stand behind the message
			message, more = message[:i+1], message[i+2:]
		}
		fmt.Fprintf(&b, `{"session_id":"s%d","server_label":"s","direction":%q,%s,"ts":%q,%q:%s}`+"\n", session, dir, more, at.Format(time.RFC3339), field, message)
	}
	return b.String()
}

// A linter that judges frames as they come has the same findings as one that judges all
// at once.
func TestStepByStep(t *testing.T) {
	t.Parallel()
	log := open(t, transcript([]string{hello, welcome, call, visit(7, "e1", auth), declined, complete, complete, done, done2, "# noise"}))
	whole, _, err := lint.FindingsOf(context.Background(), log)
	if err != nil || len(whole) < 4 {
		t.Fatalf("%+v, %v", whole, err)
	}
	beginning := log.Beginning()
	l := lint.NewLinter(beginning, conversation.New(beginning))
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
		found, _, err := lint.FindingsOf(context.Background(), open(t, strings.ReplaceAll(text, `"transport":"stdio"`, `"transport":"`+transport+`"`)))
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
	found, _, err := lint.FindingsOf(context.Background(), open(t, text))
	if err != nil || len(found) > 0 {
		t.Errorf("%+v, %v", found, err)
	}
}
