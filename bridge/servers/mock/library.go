package mock

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/servers/server"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Recording is a transcript that a mock is made from.
type Recording struct {
	Name string // of its file
	Log  *wire.Log
}

// library holds all that is served from the recordings. It is not changed once it is read.
type library struct {
	presented    conversation.Presented
	info         json.RawMessage // of the server
	revision     string          // of the first handshake
	capabilities json.RawMessage
	lists        map[string]string          // members of results, by method
	tasks        map[string]string          // execution.taskSupport of the tools
	completions  map[string]json.RawMessage // by params
	branches     map[string][]*branch       // by method and name
	names        map[string][]string        // of what was called, by method
}

// branch is one recorded call, divided into stages that can be served again.
type branch struct {
	*conversation.Call // without frames
	file               string
	stages             []stage
}

// stage is a part of a recorded call: the notifications that the server sent, and the questions that it then
// waited for. The last stage ends with the call.
type stage struct {
	notices []notice
	after   time.Duration   // since the last notice, without the person's time
	asks    []*question     // that waited at once; none in a round that only had the call made again
	refusal json.RawMessage // error -32042, which wanted the visits of asks first
}

// notice is a notification. One of a task's status, also where the client polled it, has only the message as params.
type notice struct {
	after  time.Duration
	method string
	params json.RawMessage
}

// question is a recorded question, with how it was answered.
type question struct {
	*conversation.Question
	takenBack bool // the server cancelled it
}

// unanswered reports whether the server went on, or would have, without an answer.
func (q *question) unanswered() bool { return q.Answer == nil && q.Error == nil }

// given returns the recorded answer as it stands in notes.
func (q *question) given() json.RawMessage {
	switch {
	case q.Answer != nil:
		return q.Answer
	case q.Error != nil:
		return rawjson.WithMember(json.RawMessage(`{}`), "error", string(q.Error))
	}
	return noAnswer
}

// newer reports whether the form has what 2025-06-18 does not: choices with titles, or several of them.
func (q *question) newer() bool {
	fields, _ := elicit.FieldsIn(rawjson.Member(q.Params, "requestedSchema"))
	return slices.ContainsFunc(fields, func(f elicit.Field) bool {
		return f.Kind.Type() == rawjson.Array || rawjson.Member(f.Schema, "oneOf") != nil
	})
}

// read reads recordings.
func read(ctx context.Context, recordings []Recording) (*library, error) {
	l := &library{lists: map[string]string{}, tasks: map[string]string{}, completions: map[string]json.RawMessage{}, branches: map[string][]*branch{}, names: map[string][]string{}}
	for _, r := range recordings {
		if err := l.add(ctx, r); err != nil {
			return nil, fmt.Errorf("reading %s: %w", r.Name, err)
		}
	}
	if l.greet(json.RawMessage(`{}`)); len(l.branches) == 0 && len(l.lists) == 0 {
		return nil, errors.New("there is no call and no list in the recordings")
	}
	return l, nil
}

func (l *library) add(ctx context.Context, r Recording) error {
	talk := conversation.New(r.Log)
	if err := talk.Update(ctx); err != nil {
		return err
	}
	for seq := int64(1); seq <= r.Log.Len(); seq++ {
		head := r.Log.Head(seq)
		if head.Kind != wire.Result || head.Dir != wire.ServerToClient || head.Method != mcp.MethodInitialize && head.Method != mcp.MethodDiscover && head.Method != mcp.MethodComplete {
			continue
		}
		f, err := r.Log.Frame(seq)
		if err != nil {
			return err
		}
		if head.Method != mcp.MethodComplete {
			l.greet(f.Message.Result)
		} else if asked, err := r.Log.Frame(f.Pair); err == nil && f.Pair != 0 {
			l.completions[string(server.Canonical(rawjson.Without(asked.Message.Params, "_meta")))] = f.Message.Result
		}
	}
	for _, s := range talk.Servers() {
		for _, list := range conversation.Lists {
			if err := l.list(r.Log, list, s.Lists[list.Method]); err != nil {
				return err
			}
		}
	}
	for place := 1; place <= talk.Len(); place++ {
		call, err := talk.Call(ctx, place, conversation.Reading{Redact: redact.Nothing()})
		if err != nil {
			return err
		}
		if !mcp.AsksForInput(call.Method) || call.Number == 0 || call.Unsent != "" {
			continue
		}
		b, err := told(r, call)
		if err != nil {
			return err
		}
		key := b.Method + b.Name
		if l.branches[key] == nil {
			l.names[b.Method] = append(l.names[b.Method], b.Name)
		}
		l.branches[key] = append(l.branches[key], b)
	}
	return nil
}

const metaServer = "io.modelcontextprotocol/serverInfo"

// greet takes what a server says of itself in the handshake. The first recording counts.
func (l *library) greet(result json.RawMessage) {
	v, protocol, err := conversation.ReadPresented(result)
	if err != nil || l.info != nil {
		return
	}
	l.presented, l.revision, l.capabilities = v, cmp.Or(protocol, mcp.Revision20260728), rawjson.Member(result, "capabilities")
	info := rawjson.Member(result, "serverInfo")
	if info == nil {
		info = rawjson.Member(result, "_meta", metaServer)
	}
	if info == nil {
		info = json.RawMessage(`{"version":""}`)
	}
	l.info = rawjson.WithMember(rawjson.Without(info, "name", "title"), "name", string(rawjson.Quoted("mock of "+v.Name)))
	if v.Title != "" {
		l.info = rawjson.WithMember(l.info, "title", string(rawjson.Quoted("mock of "+v.Title)))
	}
}

// offers returns the members of the recorded capabilities. Tasks are offered in their own revision only.
func (l *library) offers(revision string) string {
	offered := l.capabilities
	if revision != l.revision {
		offered = rawjson.Without(offered, "tasks", "extensions")
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(rawjson.Trim(offered)), "{"), "}")
}

func (l *library) list(log *wire.Log, list conversation.List, frames []int64) error {
	if len(frames) == 0 || l.lists[list.Method] != "" {
		return nil
	}
	var entries rawjson.ArrayWriter
	for _, seq := range frames {
		f, err := log.Frame(seq)
		if err != nil {
			return err
		}
		for _, entry := range rawjson.Elements(rawjson.Member(f.Message.Result, list.Member)) {
			entries.Add(entry)
			if support := rawjson.Member(entry, "execution", "taskSupport"); support != nil {
				l.tasks[rawjson.Text(rawjson.Member(entry, "name"))] = rawjson.Text(support)
			}
		}
	}
	l.lists[list.Method] = fmt.Sprintf("%q:%s", list.Member, entries.JSON())
	return nil
}

// told makes a story of a recorded call.
func told(r Recording, call *conversation.Call) (*branch, error) {
	b := &branch{file: r.Name, Call: call}
	asked, numbered := map[int64][]*question{}, map[int]*question{}
	for _, q := range call.Questions {
		one := &question{Question: q}
		asked[q.AskedSeq], numbered[q.Number] = append(asked[q.AskedSeq], one), one
	}
	var now stage
	last, answered, status := call.Start, int64(0), ""
	since := func(at time.Time) (d time.Duration) {
		if !at.IsZero() && !last.IsZero() {
			d = max(0, at.Sub(last))
		}
		last = at
		return d
	}
	put := func(at time.Time, s stage) {
		s.notices, s.after = now.notices, since(at)
		b.stages, now = append(b.stages, s), stage{}
	}
	for i := range call.Frames {
		row := &call.Frames[i]
		if row.Dir == wire.ClientToServer {
			last, answered = row.Time, row.Seq // the person's time is not the server's
		}
		if row.Dir != wire.ServerToClient {
			continue
		}
		f, err := r.Log.Frame(row.Seq)
		if err != nil {
			return nil, err
		}
		questions, says := asked[row.Seq], rawjson.Text(rawjson.Member(conversation.ToldTask(&f), "statusMessage"))
		waits := len(b.stages) > 0 && b.stages[len(b.stages)-1].asks != nil && answered < b.stages[len(b.stages)-1].asks[0].AskedSeq
		switch {
		case f.Method == mcp.NotificationCancelled:
			if q := numbered[row.Question]; q != nil {
				q.takenBack = true
			}
		case questions != nil && f.Kind == wire.Request && waits: // it waits beside the one before
			asks := &b.stages[len(b.stages)-1].asks
			*asks = append(*asks, questions...)
		case questions != nil && f.Kind == wire.Error: // -32042
			put(row.Time, stage{asks: questions, refusal: f.Message.Error})
		case questions != nil, f.Kind == wire.Result && rawjson.Text(rawjson.Member(f.Message.Result, "resultType")) == "input_required":
			put(row.Time, stage{asks: questions})
		case says != status && !conversation.TaskStatus(rawjson.Text(rawjson.Member(conversation.ToldTask(&f), "status"))).Terminal():
			status = says
			now.notices = append(now.notices, notice{since(row.Time), mcp.NotificationTaskStatus, rawjson.Quoted(says)})
		case f.Kind == wire.Notification && f.Method != mcp.NotificationElicitComplete && !mcp.TellsTask(f.Method):
			now.notices = append(now.notices, notice{since(row.Time), f.Method, f.Message.Params})
		}
	}
	put(call.Ended, stage{})
	call.Frames, call.Steps, call.Questions = nil, nil, nil
	return b, nil
}

// find returns the recorded calls that are like this one. If there is none, it describes the nearest one, and what
// differs.
func (l *library) find(method, name string, arguments json.RawMessage) (found []*branch, nearest string) {
	given, best := server.Canonical(arguments), 1<<30
	for _, b := range l.branches[method+name] {
		list, err := differ(server.Canonical(b.Arguments), given)
		if err == nil && len(list) == 0 {
			found = append(found, b)
		} else if err == nil && len(list) < best {
			var parts []string
			for _, d := range list[:min(len(list), 3)] {
				parts = append(parts, fmt.Sprintf("%s was %s, and is %s", cmp.Or(d.Pointer, "it"), orAbsent(d.Before), orAbsent(d.After)))
			}
			best, nearest = len(list), fmt.Sprintf("the nearest recorded call is call %d of %s, in whose arguments %s", b.Number, b.file, strings.Join(parts, "; "))
		}
	}
	if nearest == "" && len(l.names[method]) > 0 {
		nearest = strings.TrimPrefix(conversation.Instead(name, l.names[method]), "; ")
	}
	return found, nearest
}

// differ lists how a value differs from a recorded one, in which what the recording leaves out stands for any value.
func differ(recorded, given json.RawMessage) ([]rawjson.Difference, error) {
	list, _, err := rawjson.Diff(recorded, given, 1000)
	return slices.DeleteFunc(list, func(d rawjson.Difference) bool {
		return d.Op == rawjson.Rewritten || bytes.Contains(d.Before, []byte(redact.Placeholder))
	}), err
}

func orAbsent(raw []byte) string {
	if raw == nil {
		return "absent"
	}
	return wording.Shorten(string(rawjson.AppendCompact(nil, raw)), 200)
}
