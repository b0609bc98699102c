// Package diff compares two conversations by what they mean: the same calls, the questions in
// them, and how they ended. What changes from run to run is no difference.
package diff

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Matter says how much a difference matters.
type Matter int

// What a difference touches, the gravest first.
const (
	Consent  Matter = iota // what a person is asked before it happens
	Contract               // what clients and people rely on
	Content                // what the server says this time
)

func (m Matter) String() string { return [...]string{"consent", "contract", "content"}[m] }

// MarshalText writes the matter as String does.
func (m Matter) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// ID names a kind of difference.
type ID string

// Kind is a kind of difference.
type Kind struct {
	ID     ID
	Matter Matter
	Says   string // what such a difference is, in a sentence
}

// The kinds of difference, in the order in which reports have them.
var (
	questionGone  = &Kind{"question-gone", Consent, "A question is gone although the call still succeeds."}
	afterDecline  = &Kind{"done-after-decline", Consent, "After the same decline or cancel, the call has another outcome than before."}
	actsFirst     = &Kind{"acts-before-asking", Consent, "What the server reported after it had asked, it reports before it asks."}
	urlHost       = &Kind{"url-host", Consent, "The address that a person is sent to has another host or scheme."}
	outcome       = &Kind{"outcome", Contract, "A call ends in another way: with a result, a result with isError, an error, or with none of them."}
	errorCode     = &Kind{"error-code", Contract, "An error has another code."}
	questionNew   = &Kind{"question-new", Contract, "There is a question that was not asked before."}
	questionLost  = &Kind{"question-missing", Contract, "A question is missing in a call that does not succeed any more, or it is not one for a person."}
	withdrawn     = &Kind{"question-withdrawn", Contract, "The server withdraws a question that it left open before."}
	questionOrder = &Kind{"question-order", Contract, "Two questions are asked in the other order."}
	questionMode  = &Kind{"mode", Contract, "A question has another mode."}
	message       = &Kind{"message", Contract, "A question has another message."}
	urlRest       = &Kind{"url", Contract, "The address that a person is sent to is another one on the same host."}
	params        = &Kind{"params", Contract, "Other members of a request for input differ."}
	rounds        = &Kind{"rounds", Contract, "A call takes another number of rounds."}
	answerRefused = &Kind{"answer-refused", Contract, "The schema no longer allows the answer that was given before."}
	fieldGone     = &Kind{"field-gone", Contract, "A field is gone."}
	fieldNew      = &Kind{"field-new", Contract, "There is a new field."}
	fieldRenamed  = &Kind{"field-renamed", Contract, "A field has another name."}
	fieldRequired = &Kind{"field-required", Contract, "A field became required, or is not required any more."}
	fieldType     = &Kind{"field-type", Contract, "A field has another type."}
	choices       = &Kind{"choices", Contract, "A field has other choices."}
	defaultValue  = &Kind{"default", Contract, "A field has another default."}
	constraint    = &Kind{"constraint", Contract, "A field has another constraint."}
	fieldWords    = &Kind{"field-words", Contract, "A field has another title or description."}
	schema        = &Kind{"schema", Contract, "Other parts of a schema differ."}
	revision      = &Kind{"revision", Contract, "Client and server agree on another revision of the protocol."}
	capability    = &Kind{"capability", Contract, "The server declares other capabilities."}
	instructions  = &Kind{"instructions", Contract, "The server's instructions differ."}
	itemGone      = &Kind{"item-gone", Contract, "A tool, prompt, resource or template is gone."}
	itemNew       = &Kind{"item-new", Contract, "There is a new tool, prompt, resource or template."}
	itemChanged   = &Kind{"item-changed", Contract, "A tool, prompt, resource or template is described in another way."}
	result        = &Kind{"result", Content, "A result differs."}
	errorText     = &Kind{"error", Content, "An error has another message or other data."}
	notification  = &Kind{"notification", Content, "Log messages, texts of progress, or changes of lists differ."}
	answer        = &Kind{"answer", Content, "A question was answered in another way, so that what follows is not compared."}
	arguments     = &Kind{"arguments", Content, "The tool was called with other arguments, so that its result is not compared."}
	callMissing   = &Kind{"call-missing", Content, "A call was not made again."}
	callNew       = &Kind{"call-new", Content, "There is a call that was not made before."}
	slower        = &Kind{"slower", Content, "The server takes longer, by the factor of --slower or more."}

	// Kinds holds all of them.
	Kinds = []*Kind{
		questionGone, afterDecline, actsFirst, urlHost,
		outcome, errorCode, questionNew, questionLost, withdrawn, questionOrder, questionMode, message, urlRest, params, rounds, answerRefused,
		fieldGone, fieldNew, fieldRenamed, fieldRequired, fieldType, choices, defaultValue, constraint, fieldWords, schema,
		revision, capability, instructions, itemGone, itemNew, itemChanged,
		result, errorText, notification, answer, arguments, callMissing, callNew, slower,
	}
)

// Difference is one difference between two conversations.
type Difference struct {
	Kind     ID              `json:"kind"`
	Matter   Matter          `json:"matter"`
	Server   string          `json:"server,omitempty"`
	Call     string          `json:"call,omitempty"`     // as "tool deploy", with a number if there are several like it
	Question string          `json:"question,omitempty"` // its message
	Text     string          `json:"text"`               // a sentence without a full stop
	Pointer  string          `json:"pointer,omitempty"`  // JSON pointer to the value, in what Text names
	Old      json.RawMessage `json:"old,omitempty"`
	New      json.RawMessage `json:"new,omitempty"`
	OldFrame int64           `json:"old_frame,omitempty"` // 0 if there is none
	NewFrame int64           `json:"new_frame,omitempty"`
	OldLine  int64           `json:"old_line,omitempty"` // of the frame in its file; 0 if it is on no line
	NewLine  int64           `json:"new_line,omitempty"`

	part string // what Pointer leads into; see Varying
	tool string
	pair int // place in Report.pairs, from 1; 0 for what belongs to no call
}

// Side is one of two conversations.
type Side struct {
	Name   string // of its file
	Log    *wire.Log
	Redact *redact.Redaction
	// Seqs are the numbers that people know the frames of Log by, if it is a part of another log.
	Seqs []int64
}

// Options say what is no difference.
type Options struct {
	Varies []Varying // what differs from run to run
	Slower float64   // from which factor on a call is slower
	// Carried are values that the new session was sent in place of those of the old one.
	Carried []Carried
}

// SlowerFactor is the default of Options.Slower.
const SlowerFactor = 5

// slowerLeast is how much longer a call must take to be slower: below it, machines and their load differ.
const slowerLeast = 500 * time.Millisecond

// Report is the comparison of two conversations.
type Report struct {
	Old         string       `json:"old"` // name of the file
	New         string       `json:"new"`
	Inspector   string       `json:"inspector"` // version
	Calls       int          `json:"calls"`     // that both have
	Differences []Difference `json:"differences"`

	sides [2]*side
	pairs []pair // the calls that differ
}

// Counts counts the differences by how much they matter.
func (r *Report) Counts() (counts [3]int) {
	for i := range r.Differences {
		counts[r.Differences[i].Matter]++
	}
	return counts
}

// Compare compares an old conversation with a new one.
func Compare(ctx context.Context, old, now Side, o Options) (*Report, error) {
	c := &comparison{Options: o, ctx: ctx, Carrier: NewCarrier(), list: []Difference{}}
	var oldErr, err error
	var reading sync.WaitGroup
	reading.Go(func() { c.old, oldErr = read(ctx, old) })
	c.now, err = read(ctx, now)
	reading.Wait()
	if err = cmp.Or(oldErr, err); err != nil {
		return nil, err
	}
	c.masks = true
	if o.Slower == 0 {
		c.Slower = SlowerFactor
	}
	for _, one := range o.Carried {
		c.value(one.Old, one.New)
		c.words(one.Old, one.New)
	}
	r := &Report{Old: old.Name, New: now.Name, sides: [2]*side{c.old, c.now}}
	if err := c.servers(); err != nil {
		return nil, err
	}
	if r.Calls, err = c.calls(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(c.list, func(a, b Difference) int { return cmp.Compare(a.Matter, b.Matter) })
	r.Differences, r.pairs = c.list, c.pairs
	return r, c.lines(r)
}

// comparison is a comparison that goes on.
type comparison struct {
	Options
	*Carrier
	ctx      context.Context
	old, now *side
	list     []Difference
	pairs    []pair // see Report

	at Difference // what the differences found next are about
}

// side is a conversation that is being compared.
type side struct {
	Side
	conversation *conversation.Conversation
	servers      []conversation.Server
	handshakes   map[string]int64 // frame of the latest handshake result, by the server's label
	outlines     []outline
}

func read(ctx context.Context, of Side) (s *side, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("reading %s: %w", of.Name, err)
		}
	}()
	s = &side{Side: of, conversation: conversation.New(of.Log), handshakes: map[string]int64{}}
	if err := of.Redact.Learn(ctx, of.Log); err != nil {
		return nil, err
	}
	if err := s.conversation.Update(ctx); err != nil {
		return nil, err
	}
	s.servers = s.conversation.Servers()
	return s, s.outline(ctx)
}

// reading is a call with what is compared of it.
type reading struct {
	*conversation.Call
	reports []told
	err     error
}

// ahead reads the calls of one side of the pairs, nil for none, some pairs ahead of those who receive
// them. Once ctx has ended, it closes the channel.
func (s *side) ahead(ctx context.Context, pairs []pair, of func(pair) *outline) <-chan *reading {
	out := make(chan *reading, 64)
	go func() {
		defer close(out)
		for _, p := range pairs {
			var r *reading
			if o := of(p); o != nil {
				r = new(reading)
				if r.Call, r.err = s.conversation.Call(ctx, o.place, conversation.Reading{Redact: s.Redact, Bare: true}); r.err == nil {
					r.reports = reportsOf(r.Call)
				}
			}
			select {
			case out <- r:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// frame returns a frame with its bytes; nil for the frame 0.
func (s *side) frame(seq int64) (*wire.Frame, error) {
	if seq == 0 {
		return nil, nil
	}
	f, err := s.Log.Frame(seq)
	return s.Redact.Frame(&f), err
}

// found adds a difference to the list. Old and new values may be nil.
func (c *comparison) found(k *Kind, old, now json.RawMessage, format string, args ...any) {
	d := c.at
	d.Kind, d.Matter, d.Text, d.Old, d.New = k.ID, k.Matter, fmt.Sprintf(format, args...), rawjson.Trim(old), rawjson.Trim(now)
	c.list = append(c.list, d)
}

// part is found for values that may vary from run to run.
func (c *comparison) part(k *Kind, part, pointer string, old, now json.RawMessage, format string, args ...any) {
	if !c.same(part, pointer, old, now) {
		at := c.at
		c.at.Pointer, c.at.part = pointer, part
		c.found(k, old, now, format, args...)
		c.at = at
	}
}

// lines finds on which lines of their files the frames are.
func (c *comparison) lines(r *Report) error {
	for _, side := range []struct {
		log       *wire.Log
		seq, line func(*Difference) *int64
	}{
		{c.old.Log, func(d *Difference) *int64 { return &d.OldFrame }, func(d *Difference) *int64 { return &d.OldLine }},
		{c.now.Log, func(d *Difference) *int64 { return &d.NewFrame }, func(d *Difference) *int64 { return &d.NewLine }},
	} {
		var seqs []int64
		for i := range r.Differences {
			if seq := *side.seq(&r.Differences[i]); seq != 0 {
				seqs = append(seqs, seq)
			}
		}
		slices.Sort(seqs)
		lines, err := side.log.LineNumbers(slices.Compact(seqs))
		if err != nil {
			return err
		}
		for i := range r.Differences {
			d := &r.Differences[i]
			*side.line(d) = lines[*side.seq(d)]
		}
	}
	return nil
}
