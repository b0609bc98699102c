package live

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/client/session"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// Transcript holds the servers of a transcript. All methods are safe for concurrent use.
type Transcript struct {
	log       *wire.Log
	connected func(label string) bool // nil unless taps send the log
	list      atomic.Pointer[[]*recorded]
}

// recorded is a server of a transcript with its catalog. It is immutable.
type recorded struct {
	Server
	catalog *conversation.Catalog
	lists   map[string][]int64 // the frames that the catalog was read from
}

// InTranscript returns the servers of a transcript. The list is empty before Update.
func InTranscript(log *wire.Log) *Transcript {
	t := &Transcript{log: log}
	t.list.Store(new([]*recorded))
	return t
}

// OfTaps returns the servers of a log to which taps append. connected reports whether the tap
// that stands before a server is connected.
func OfTaps(log *wire.Log, connected func(label string) bool) *Transcript {
	t := InTranscript(log)
	t.connected = connected
	return t
}

// Update replaces the servers with those that are known from the log, and returns the
// changes.
func (t *Transcript) Update(known []conversation.Server) (changed []Change) {
	before := *t.list.Load()
	after := make([]*recorded, len(known))
	for i, s := range known {
		one := &recorded{Server: serverOf(i, s), lists: s.Lists}
		if t.connected != nil {
			if one.State = conversation.ServerTapped; !t.connected(one.Label) {
				one.State, one.Reason = conversation.ServerEnded, "the tap has ended"
			}
		}
		if i < len(before) && maps.EqualFunc(before[i].lists, s.Lists, slices.Equal) {
			one.catalog = before[i].catalog
		} else {
			one.catalog = t.read(one.ID, s.Lists)
		}
		after[i] = one
		if i >= len(before) || !reflect.DeepEqual(before[i].Server, one.Server) {
			changed = append(changed, Change{Kind: ServerChanged, Server: one.ID})
		}
		if i >= len(before) || before[i].catalog != one.catalog {
			changed = append(changed, Change{Kind: CatalogChanged, Server: one.ID})
		}
	}
	t.list.Store(&after)
	return changed
}

func serverOf(index int, s conversation.Server) Server {
	spec := target.Spec{Name: s.Label, URL: s.URL}
	if s.Started != nil {
		spec.Command, spec.Dir = s.Started.Command, s.Started.Dir
	}
	out := Server{
		ID: fmt.Sprintf("s%d", index+1), Index: index, Label: s.Label, Address: spec.Address(), How: target.Ways[s.Transport],
		State: conversation.ServerRecorded, Since: s.Since,
		Info: conversation.ServerInfo{Presented: s.Presented, Protocol: s.Protocol, Negotiated: session.Negotiated(s.Methods, ""), How: target.Ways[s.Transport], Client: s.Client},
	}
	if s.Declared != nil {
		out.Settings = conversation.ClientSettingsOf(s.Declared)
	}
	return out
}

// All returns the servers, in the order of their first frames.
func (t *Transcript) All() []Server {
	list := *t.list.Load()
	out := make([]Server, len(list))
	for i, s := range list {
		out[i] = s.Server
	}
	return out
}

func (t *Transcript) find(id string) (*recorded, error) {
	for _, s := range *t.list.Load() {
		if s.ID == id {
			return s, nil
		}
	}
	return nil, ErrUnknownServer // the id is internal: nobody wants to read it
}

// Server returns one server by its id.
func (t *Transcript) Server(id string) (Server, error) {
	s, err := t.find(id)
	if err != nil {
		return Server{}, err
	}
	return s.Server, nil
}

// Catalog returns the parts of a server's catalog that are in the transcript.
func (t *Transcript) Catalog(id string) (conversation.Catalog, error) {
	s, err := t.find(id)
	if err != nil {
		return conversation.Catalog{}, err
	}
	return *s.catalog, nil
}

// IDOf returns the id of the server with this name in frames, or else the id of the last
// server, which stands for all servers beyond the limit; "" if there are no servers.
func (t *Transcript) IDOf(label string) (id string) {
	for _, s := range *t.list.Load() {
		if id = s.ID; s.Label == cmp.Or(label, conversation.Unnamed) {
			break
		}
	}
	return id
}

// itemsMost is the maximum number of items in a list of a recorded server.
const itemsMost = 10_000

// read reads a server's catalog from the frames of its lists.
func (t *Transcript) read(id string, from map[string][]int64) *conversation.Catalog {
	parts := map[string]conversation.Part{}
	for _, l := range conversation.Lists {
		read := conversation.Reader{List: l}
		var problem error
		for _, seq := range from[l.Method] {
			f, err := t.log.Frame(seq)
			if err != nil {
				problem = err
				continue
			}
			// A page that was not requested with a cursor begins the list anew.
			request, err := t.log.Frame(f.Pair)
			if f.Pair == 0 || err != nil || rawjson.KindOf(rawjson.Member(request.Message.Params, "cursor")) != rawjson.String {
				read, problem = conversation.Reader{List: l, Room: conversation.Room{Bytes: conversation.CatalogMost.Bytes / len(conversation.Lists), Items: itemsMost}}, nil
			}
			if _, err := read.Page(f.Message.Result); err != nil {
				problem = err
			}
		}
		parts[l.Method] = read.Part(problem)
	}
	return new(conversation.Join(id, parts))
}
