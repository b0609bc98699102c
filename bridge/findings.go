package bridge

import (
	"encoding/json"
	"slices"
	"strings"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wire"
)

// Found is a finding of the linter's with the place that it was found in.
type Found struct {
	elicit.Finding
	Server   string // id
	Seq      int64  // frame that the pointer leads into
	Question int    // 0 where it is about a response as a whole
	Call     int    // 0 if it cannot be told
}

// foundMost bounds how many findings are kept: a server that breaks a rule with
// every request would fill the memory with the same few words.
const foundMost = 5000

// Findings returns what the linter has to say of a server so far, in order;
// of all servers for the id "".
func (in *Inspection) Findings(id string) []Found {
	in.mu.Lock()
	defer in.mu.Unlock()
	var out []Found
	for _, f := range in.found {
		if id == "" || f.Server == id {
			out = append(out, f)
		}
	}
	return out
}

// Found returns what the linter has to say of one frame.
func (in *Inspection) Found(seq int64) []Found {
	in.mu.Lock()
	defer in.mu.Unlock()
	var out []Found
	for _, i := range in.foundAt[seq] {
		out = append(out, in.found[i])
	}
	return out
}

// keep adds findings, for a question or, where it is nil, for a response. The
// caller holds in.mu.
func (in *Inspection) keep(s *server, seq int64, c *call, q *question, findings []elicit.Finding) {
	for _, f := range findings {
		if len(in.found) == foundMost {
			return
		}
		found := Found{Finding: f, Server: s.id, Seq: seq}
		if c != nil {
			found.Call = c.number
		}
		if q != nil {
			found.Question = q.number
			q.findings = append(q.findings, f)
		}
		s.findings[f.Severity]++
		in.foundAt[seq] = append(in.foundAt[seq], len(in.found))
		in.found = append(in.found, found)
	}
	if len(findings) == 0 {
		return
	}
	in.changed(Change{Kind: FindingsChanged, Server: s.id})
	if q != nil {
		in.changed(Change{Kind: QuestionChanged, Number: q.number})
	}
}

// How many questions can wait to be judged, and how many are at a time: a flood
// of hard ones must not take the processor from everything else.
const (
	lintingMost = foundMost
	lintersMost = 2
)

// lint judges a question, beside the way that takes it to the page: a hard
// pattern can keep the linter busy for half a second. The caller holds in.mu.
func (in *Inspection) lint(q *question) {
	if capability := q.session.settings.undeclares(q.method); capability != "" && q.session.revision() != "" {
		at := strings.TrimSuffix(q.pointer, "/params") + "/method"
		in.keep(q.server, q.seq, q.call, q, elicit.LintUndeclared(q.method, capability, at, q.session.revision()))
	}
	if q.method != MethodElicit || in.closed || len(in.found) == foundMost || in.linting >= lintingMost {
		return
	}
	input := elicit.LintInput{
		Params: q.params, Revision: q.session.revision(), Via: vias[q.origin],
		Declared: elicit.DeclaredModes(json.RawMessage(q.session.settings.Declared()), q.session.revision()),
		Offered:  slices.Clone(q.session.offeredURLs),
	}
	if q.request != nil && q.request.ElicitationID != "" && len(q.session.offeredURLs) < foundMost {
		q.session.offeredURLs = append(q.session.offeredURLs, elicit.Offered{ID: q.request.ElicitationID, URL: q.request.URL})
	}
	if q.call != nil && q.sure {
		input.Answered = slices.Clone(q.call.given)
	}
	seq, ptr := q.seq, q.pointer
	in.linting++
	in.running.Go(func() {
		in.linters <- struct{}{}
		findings := elicit.Lint(input)
		<-in.linters
		for i := range findings {
			findings[i].Pointer = ptr + findings[i].Pointer
		}
		in.mu.Lock()
		defer in.mu.Unlock()
		in.linting--
		in.keep(q.server, seq, q.call, q, findings)
	})
}

var vias = map[Origin]elicit.Via{
	OriginRequest: elicit.ByRequest,
	OriginRound:   elicit.InRound,
	OriginError:   elicit.InError,
}

// lintResponse judges what a response says of elicitation beside its questions.
func (s *session) lintResponse(method string, m wire.Message, seq int64, c *call) {
	var findings []elicit.Finding
	at := "/result"
	if m.Kind == wire.Error {
		findings, at = elicit.LintError(m.Error, s.revision()), "/error"
	} else {
		findings = elicit.LintResult(m.Result, method, s.revision())
	}
	for i := range findings {
		findings[i].Pointer = at + findings[i].Pointer
	}
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	s.in.keep(s.server, seq, c, nil, findings)
}

// noiseMost bounds how many lines of noise on standard output are judged in one
// session: whoever logs there writes many.
const noiseMost = 100

// lintNoise judges what a process has written to its standard output and is no
// message.
func (s *session) lintNoise(f wire.Frame) {
	if f.Transport != "stdio" {
		return
	}
	why := ""
	if _, err := wire.ParseMessage(f.Raw); err != nil {
		why = err.Error()
	}
	revision := s.revision()
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	if s.noise++; s.noise <= noiseMost {
		s.in.keep(s.server, f.Seq, nil, nil, elicit.LintOutput(f.Raw, why, revision))
	}
}

// found keeps what the linter says of a frame.
func (s *session) found(f wire.Frame, findings []elicit.Finding) {
	s.in.mu.Lock()
	defer s.in.mu.Unlock()
	s.in.keep(s.server, f.Seq, nil, nil, findings)
}

// revision is the negotiated protocol revision, "" before it is.
func (s *session) revision() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sdk == nil {
		return s.recorded
	}
	return s.sdk.InitializeResult().ProtocolVersion
}

// gave notes that a form was answered, so that the same question can be told when
// it is asked again.
func (c *call) gave(q *question) {
	if q.request == nil || q.answer.Action != "accept" || len(c.given) >= stepsKept {
		return
	}
	if key := elicit.QuestionKey(q.params); key != "" {
		c.given = append(c.given, key)
	}
}
