package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wire"
)

// Bounds on the questions of one server that wait. They are each server's own, so
// that one that floods takes nothing from the others.
const (
	// ShownMost is how many of them are on show. Further ones are held back, also
	// where the rate has no limit.
	ShownMost = 50
	// HeldMost is how many are held back. Further ones are refused.
	HeldMost = 10_000
)

// visibility says whether a question that waits is on show. Of one that is held
// back no more is kept than leads to its frame: it is read again from the log.
type visibility uint8

const (
	unseen visibility = iota // not announced yet, or settled
	onShow
	heldBack
)

// see counts a question of its server's as what it is now. The caller holds in.mu.
func (q *question) see(v visibility) {
	for _, change := range []struct {
		is visibility
		by int
	}{{q.seen, -1}, {v, +1}} {
		switch change.is {
		case onShow:
			q.server.shownNow += change.by
		case heldBack:
			q.server.heldNow += change.by
		case unseen:
		}
	}
	q.seen = v
}

// holdBack holds a question back, or refuses it, where its server has too many
// that wait or asks too often. It reports whether it did. The caller holds in.mu.
func (in *Inspection) holdBack(q *question) bool {
	s := q.server
	// What keeps a question off the page must not count for the rate.
	if s.shownNow < ShownMost && !in.overRate(s, q.asked) {
		return false
	}
	if s.heldNow >= HeldMost {
		q.refusal = &rpcError{codeBlocked, tooMany}
		q.turnedAway = true
		s.turnedAway++
		in.settle(q, Refused, ByPolicy, tooMany)
		q.fade()
	} else {
		q.forgetParams()
		q.see(heldBack)
	}
	in.changed(Change{Kind: ServerChanged, Server: s.id})
	return true
}

const tooMany = "too many questions are pending"

// forgetParams leaves what was asked to the log. The caller holds in.mu.
func (q *question) forgetParams() { q.params, q.request = nil, nil }

// held lists the first of the questions of a server that are held back. The
// caller holds in.mu.
func (in *Inspection) held(s *server, most int) []*question {
	var out []*question
	for _, q := range in.pending {
		if len(out) == most {
			break
		}
		if q.seen == heldBack && q.server == s {
			out = append(out, q)
		}
	}
	return out
}

// Release does with the questions that are held back what the person chose:
// "show" puts as many of them on show as there is room for, the oldest first, and
// "decline" declines all of them.
func (in *Inspection) Release(id, choice string) error {
	s, err := in.server(id)
	if err != nil {
		return err
	}
	switch choice {
	case "show":
		in.showHeld(s)
	case "decline":
		in.mu.Lock()
		defer in.mu.Unlock()
		for _, q := range in.held(s, HeldMost) {
			q.answer = Answer{Action: "decline", Actor: ByPerson}
			in.settle(q, Answered, ByPerson, "declined together with all that were held back")
		}
		in.changed(Change{Kind: ServerChanged, Server: s.id})
	default:
		return fmt.Errorf("unknown choice %q: want show or decline", choice)
	}
	return nil
}

func (in *Inspection) showHeld(s *server) {
	in.mu.Lock()
	list := in.held(s, max(ShownMost-s.shownNow, 0))
	in.mu.Unlock()
	in.recall(list, func(q *question) {
		if q.server.shownNow >= ShownMost { // somebody else has shown some
			q.forgetParams()
			return
		}
		q.see(onShow)
		in.changed(Change{Kind: QuestionChanged, Number: q.number})
	})
	in.mu.Lock()
	defer in.mu.Unlock()
	in.changed(Change{Kind: ServerChanged, Server: s.id})
}

// settleHeld does with the questions that are held back what their server's
// policy says.
func (in *Inspection) settleHeld(s *server) {
	in.mu.Lock()
	list := in.held(s, HeldMost)
	if s.policy != PolicyDefaults { // which alone has to know what is asked
		for _, q := range list {
			in.settleByPolicy(q)
		}
		list = nil
	}
	in.mu.Unlock()
	in.recall(list, in.settleByPolicy)
}

// settleByPolicy settles a question that is held back, unless its server's policy
// leaves it to the person. The caller holds in.mu.
func (in *Inspection) settleByPolicy(q *question) {
	if !in.applyPolicy(q) {
		q.forgetParams()
	}
}

// recall reads questions that are held back again from the log, and does with each
// what is wanted, with in.mu held. Those that cannot be read are refused.
func (in *Inspection) recall(list []*question, act func(*question)) {
	memory := recaller{log: in.log}
	for _, q := range list {
		params, err := memory.params(q)
		var request *elicit.Request
		if err == nil && q.method == MethodElicit {
			request, err = elicit.Parse(params)
		}
		in.mu.Lock()
		switch {
		case q.seen != heldBack: // it was settled meanwhile
		case err != nil:
			why := "it was held back, and cannot be read again: " + err.Error()
			q.refusal = &rpcError{codeInternalError, why}
			in.settle(q, Refused, ByFault, why)
		default:
			q.params = params
			in.understood(q, request)
			act(q)
		}
		in.mu.Unlock()
	}
}

// codeInternalError is JSON-RPC 2.0's error for what is the receiver's own fault.
const codeInternalError = -32603

// recaller reads the params of questions from a log. Of many in one frame it
// reads that once.
type recaller struct {
	log    *wire.Log
	frame  wire.Frame
	rounds map[string]json.RawMessage // params of the input requests in frame, by key
	urls   []json.RawMessage          // params of the elicitations in frame
}

// params are what a question asked with, nil if that has none.
func (r *recaller) params(q *question) (json.RawMessage, error) {
	if r.frame.Seq != q.seq {
		f, err := r.log.Frame(q.seq)
		if err != nil {
			return nil, err
		}
		if f.Lost {
			return nil, errors.New("its frame is lost, since storage failed")
		}
		*r = recaller{log: r.log, frame: f}
	}
	switch q.origin {
	case OriginRound:
		return r.inRound(q.key)
	case OriginError:
		return r.inError(q.pointer)
	default:
		return r.frame.Message.Params, nil
	}
}

func (r *recaller) inRound(key string) (json.RawMessage, error) {
	if r.rounds == nil {
		required, err := readInputRequired(r.frame.Message.Result)
		if err != nil {
			return nil, err
		}
		r.rounds = map[string]json.RawMessage{}
		if required != nil {
			for _, request := range required.Requests { // of those that share a key the last counts
				r.rounds[request.key] = request.params
			}
		}
	}
	return r.rounds[key], nil
}

func (r *recaller) inError(pointer string) (json.RawMessage, error) {
	if r.urls == nil {
		_, _, data, err := rpcErrorOf(r.frame.Message.Error)
		if err != nil {
			return nil, err
		}
		if r.urls, err = requiredURLs(data); err != nil {
			return nil, err
		}
	}
	i, err := strconv.Atoi(pointer[strings.LastIndexByte(pointer, '/')+1:])
	if err != nil || i >= len(r.urls) {
		return nil, fmt.Errorf("there is nothing at %s", pointer)
	}
	return r.urls[i], nil
}
