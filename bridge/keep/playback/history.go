package playback

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/wire"
)

// entry is an element of the JSON array that the Inspector's web client exports from
// its Protocol screen (version 2.12: MessageEntry in core/mcp/types). A response is
// part of the entry of its request.
//
// The client has parsed and reformatted the messages, so their exact bytes are lost;
// HTTP headers, standard error and noise are missing. Older versions have no origin,
// and the first versions have no export.
type entry struct {
	Timestamp   time.Time       `json:"timestamp"` // with millisecond precision
	Direction   string          `json:"direction"` // request, response or notification
	Origin      string          `json:"origin"`    // client or server
	Message     json.RawMessage `json:"message"`
	Response    json.RawMessage `json:"response"`
	Duration    float64         `json:"duration"` // milliseconds
	ClientError string          `json:"clientError"`
}

// sizeMost is the size in bytes of the largest history that Read accepts. The Inspector
// keeps a thousand messages.
const sizeMost = 256 << 20

// Read reads a history. The server's name is taken from name, the name of the file.
// problems describes entries that could not be read; the frames of the other entries
// are sorted by time.
func Read(in io.Reader, name string) (frames []wire.Frame, problems []string, err error) {
	data, err := io.ReadAll(io.LimitReader(in, sizeMost+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading the history: %w", err)
	}
	if len(data) > sizeMost {
		return nil, nil, fmt.Errorf("a history of more than %d MiB is not read", sizeMost>>20)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &list); err != nil {
		return nil, nil, fmt.Errorf("this is not a history: %w", err)
	}
	base := wire.Frame{Server: serverOf(name), Session: filepath.Base(name)}
	messages := 0
	for i, raw := range list {
		var e entry
		var got []wire.Frame
		err := json.Unmarshal(raw, &e)
		if err == nil {
			got, err = e.frames(base)
		}
		if err != nil {
			problems = append(problems, fmt.Sprintf("entry %d: %v", i+1, err))
			continue
		}
		messages++
		frames = append(frames, got...)
	}
	if messages == 0 && len(list) > 0 {
		return nil, nil, errors.New("this is not a protocol history: none of its entries has a message. " +
			"The Inspector's exports of its network and logging screens do not carry enough to be shown")
	}
	slices.SortStableFunc(frames, func(a, b wire.Frame) int { return a.Time.Compare(b.Time) })
	return frames, problems, nil
}

func (e *entry) frames(base wire.Frame) ([]wire.Frame, error) {
	if e.Message == nil {
		return nil, errors.New("it has no message")
	}
	f := base
	f.Raw = rawjson.AppendCompact(nil, e.Message)
	m, err := wire.ParseMessage(f.Raw)
	if err != nil {
		return nil, fmt.Errorf("its message is not a JSON-RPC message: %w", err)
	}
	f.Time, f.Dir = e.Timestamp, e.from(m)
	out := []wire.Frame{f}
	if e.Response != nil {
		answer := base
		answer.Time, answer.Raw = e.Timestamp.Add(time.Duration(e.Duration*float64(time.Millisecond))), rawjson.AppendCompact(nil, e.Response)
		if answer.Dir = wire.ClientToServer; f.Dir == wire.ClientToServer {
			answer.Dir = wire.ServerToClient
		}
		out = append(out, answer)
	}
	if e.ClientError != "" {
		note := base
		note.Time, note.Dir, note.Note = out[len(out)-1].Time, wire.Meta, &wire.Note{Kind: wire.NoteClientSaid, Why: e.ClientError}
		out = append(out, note)
	}
	return out, nil
}

// from returns the direction of the message: by the entry's origin, or else by the
// method, because most methods are only used in one direction.
func (e *entry) from(m wire.Message) wire.Direction {
	switch {
	case e.Origin == "client":
		return wire.ClientToServer
	case e.Origin == "server":
		return wire.ServerToClient
	}
	isClients := m.Kind == wire.Request && !mcp.IsInput(m.Method)
	if isClients || m.Method == mcp.NotificationInitialized || m.Method == mcp.NotificationRootsChanged {
		return wire.ClientToServer
	}
	return wire.ServerToClient
}

// exported matches the names of the Inspector's exports:
// inspector-KIND-SERVER-TIME.json, with the server's name in URL encoding.
var exported = lazy.Regexp(`^inspector-(?:protocol|history)(?:-pinned|-unpinned)?-(.+)-\d{4}-\d\d-\d\dT[^/]*\.json$`)

func serverOf(name string) string {
	if m := exported().FindStringSubmatch(filepath.Base(name)); m != nil {
		if server, err := url.PathUnescape(m[1]); err == nil {
			return server
		}
	}
	return "server"
}
