package server

import (
	"encoding/json"
	"strconv"
	"testing"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/wire"
)

// sink keeps what is sent on a stream.
type sink []string

func (s *sink) Send(f wire.Frame, _ bool) int64 {
	*s = append(*s, string(f.Raw))
	return int64(len(*s))
}

// keeper is a peer that keeps what nothing waits for.
type keeper struct {
	deaf
	of []*Pending
}

func (k *keeper) Receive(_ wire.Frame, of *Pending) { k.of = append(k.of, of) }

func response(id string) wire.Frame {
	f := wire.Frame{Dir: wire.ClientToServer, Raw: []byte(`{"jsonrpc":"2.0","id":` + id + `,"result":{}}`)}
	f.Identify()
	return f
}

// The first response goes to the request that it answers. Later ones, those to requests that are forgotten, and
// those to none go to the peer, which learns what they were for.
func TestAsk(t *testing.T) {
	peer, out := &keeper{}, &sink{}
	s := New(Options{Name: "test", Begin: func(*Session) Peer { return peer }}).session("stdio", "", nil)
	first := s.Ask(out, Question{Method: mcp.MethodElicit, Params: json.RawMessage(`{"message":"?"}`)}, "call")
	second := s.Ask(out, Question{Method: mcp.MethodListRoots, Params: json.RawMessage("null")}, "call")
	if got, want := (*out)[0], `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"?"}}`; got != want || first.Seq != 1 {
		t.Errorf("frame %d: %s", first.Seq, got)
	}
	if got, want := (*out)[1], `{"jsonrpc":"2.0","id":2,"method":"roots/list"}`; got != want {
		t.Errorf("got %s", got)
	}
	if open := s.Open(); len(open) != 2 {
		t.Errorf("open: %v", open)
	}
	s.receive(response("1"))
	if f := <-first.Response; string(f.Message.ID) != "1" || first.Forget() {
		t.Errorf("got %s, and it is open", f.Raw)
	}
	if !second.Forget() || len(s.Open()) != 0 {
		t.Error("what is forgotten was not open, or still is")
	}
	for _, id := range []string{"1", "2", "3", `"1"`} {
		s.receive(response(id))
	}
	if len(peer.of) != 4 || peer.of[0] != first || peer.of[1] != second || peer.of[2] != nil || peer.of[3] != nil || len(second.Response) != 0 {
		t.Errorf("the peer got %v", peer.of)
	}
}

// A session remembers a bounded number of requests, and all that are open.
func TestAskedIsBounded(t *testing.T) {
	s := New(Options{Name: "test", Begin: func(*Session) Peer { return deaf{} }}).session("stdio", "", nil)
	open := s.Ask(nil, Question{Method: mcp.MethodPing}, nil)
	for range 2 * pendingMost {
		s.Ask(nil, Question{Method: mcp.MethodPing}, nil).Forget()
	}
	if n := len(s.asked); n > pendingMost || s.asked[open.ID] != open || s.asked[strconv.Itoa(s.count)] == nil {
		t.Errorf("%d are remembered, open: %v", n, s.asked[open.ID])
	}
}

// A result that asks has what there is to ask, and the state.
func TestInputRequired(t *testing.T) {
	list := []Question{{Key: "a b", Method: mcp.MethodElicit, Params: json.RawMessage(`{"message":"?"}`)}, {Key: "r", Method: mcp.MethodListRoots, Params: json.RawMessage("null")}}
	inputs := `{"a b":{"method":"elicitation/create","params":{"message":"?"}},"r":{"method":"roots/list"}}`
	for _, c := range []struct {
		list        []Question
		state, want string
	}{
		{list, `a"b`, `{"resultType":"input_required","inputRequests":` + inputs + `,"requestState":"a\"b"}`},
		{list, "", `{"resultType":"input_required","inputRequests":` + inputs + `}`},
		{nil, "s", `{"resultType":"input_required","requestState":"s"}`},
		{nil, "", `{"resultType":"input_required"}`},
	} {
		if got := InputRequired(c.list, c.state); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
