package inspection_test

import (
	"fmt"
	"testing"

	"elicitation-inspector/bridge/meaning/conversation"
)

func init() {
	// asks with similar ids, and returns the answer to each.
	rawServers["ids"] = func(s *rawServer) {
		s.serve("2025-11-25", []string{"alike", "twice", "own"}, func(call request) {
			if call.tool() == "own" {
				all := ""
				for _, r := range ownRequests {
					s.write(`{"jsonrpc":"2.0","id":%s,%s}`, r.id, r.rest)
					answer, ok := s.read()
					if !ok {
						return
					}
					all += answer.raw + "\n"
				}
				s.text(call, all)
				return
			}
			if call.tool() == "twice" {
				s.write(plainQuestion, `"same"`)
				s.write(plainQuestion, `"same"`)
				if answer, ok := s.read(); ok {
					s.text(call, answer.raw)
				}
				return
			}
			all := ""
			for _, id := range alikeIDs {
				s.write(plainQuestion, id)
			}
			for range alikeIDs {
				answer, ok := s.read()
				if !ok {
					return
				}
				all += answer.raw + "\n"
			}
			s.text(call, all)
		})
	}
}

var alikeIDs = []string{`1`, `"1"`, `-1`, `9007199254740993`, `9007199254740992`, `123456789012345678901234567890`, `"a<b>"`, `"\u0061"`, `""`}

// A response has exactly the bytes of the request's id.
func TestIDsThatAreAlike(t *testing.T) {
	b := start(t, "ids", conversation.ClientSettings{})
	call := b.call("alike")
	want := ""
	for i := range alikeIDs {
		b.question(i + 1)
	}
	for i, id := range alikeIDs {
		b.answer(i+1, accept(fmt.Sprintf(`{"n":%d}`, i)))
		b.until("the answer", func() bool { return b.question(i+1).AnswerSeq != 0 })
		want += fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"n":%d}}}`, id, i) + "\n"
	}
	if _, text := b.done(call.Number); text+"\n" != want && text != want {
		t.Errorf("the server got\n%s\nwant\n%s", text, want)
	}
}

// ownRequests ask no person, and the client answers them itself: with result, or else with
// the code and the message of an error.
var ownRequests = []struct{ id, rest, answer string }{
	{`1`, `"method":"ping"`, `"result":{}`},
	{`"1"`, `"method":"ping","params":{"_meta":{"a":[1]}}`, `"result":{}`},
	{`9007199254740993`, `"method":"ping","params":{}`, `"result":{}`},
	{`"a<b>\u0061"`, `"method":"no/such \"<method>\"","params":{}`, `"error":{"code":-32601,"message":"method not found: \"no/such \\\"<method>\\\"\""}`},
	{`4`, `"method":"tools/list"`, `"error":{"code":-32601,"message":"method not found: \"tools/list\""}`},
	{`5`, `"method":"roots/list"`, `"error":{"code":-32601,"message":"method not found: \"roots/list\""}`},
	{`6`, `"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}`, `"error":{"code":-32601,"message":"method not found: \"sampling/createMessage\""}`},
	{`7`, `"method":"completion/complete","params":{}`, `"error":{"code":-32601,"message":"method not found: \"completion/complete\""}`},
}

// The client answers what is not for the person to answer, with exactly the id of the request.
func TestRequestsThatAskNobody(t *testing.T) {
	b := start(t, "ids", conversation.ClientSettings{})
	call := b.call("own")
	want := ""
	for _, r := range ownRequests {
		want += fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, r.id, r.answer) + "\n"
	}
	if _, text := b.done(call.Number); text+"\n" != want && text != want {
		t.Errorf("the server got\n%s\nwant\n%s", text, want)
	}
}

// Of two requests with the same id, only the first is answered.
func TestOneIDForTwoQuestions(t *testing.T) {
	b := start(t, "ids", conversation.ClientSettings{})
	call := b.call("twice")
	second := b.question(2)
	b.until("the refusal", func() bool { return b.question(2).State == conversation.Refused })
	if first := b.question(1); first.State != conversation.Pending {
		t.Errorf("the first is %s", first.State)
	}
	f, err := b.log.Frame(second.AskedSeq)
	if err != nil {
		t.Fatal(err)
	}
	if b.in.Waits(f.Seq, f.Session) {
		t.Error("the second is said to wait for a response")
	}
	b.judged()
	if found := b.in.Found(second.AskedSeq); len(found) == 0 || found[0].Rule != "request-id-taken" {
		t.Errorf("the linter says %+v", found)
	}
	b.answer(1, accept(`{}`))
	if _, text := b.done(call.Number); text != `{"jsonrpc":"2.0","id":"same","result":{"action":"accept","content":{}}}` {
		t.Errorf("the server got %s", text)
	}
	if first := b.question(1); first.State != conversation.Answered || first.AnswerSeq == 0 {
		t.Errorf("the first is %s, answered in frame %d", first.State, first.AnswerSeq)
	}
}
