package diff

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// outline has the little of a call that pairs it with one of the other conversation: its server, its tool and
// a hash of its arguments. The whole call is read only when both are compared.
type outline struct {
	place int
	*called
	what uint64 // hash of the arguments, or of a question outside of any call, without what varies

	twin *outline // the same call of the other conversation; nil for none
	next *outline // while pairs are sought: the next outline with the same key
}

// called says which server was called, for which tool, and by whom. Calls that are equal in all three share one.
type called struct {
	server string // label
	name   string // as "tool deploy"
	made   bool   // a client made the call
}

var seed = maphash.MakeSeed()

// outline lists the calls of a conversation, in order.
func (s *side) outline(ctx context.Context) error {
	seen := make([]bool, s.conversation.Len()+1)
	same := map[called]*called{}
	for seq := int64(1); seq <= s.Log.Len(); seq++ {
		if seq%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		head := s.Log.Head(seq)
		if isHandshake(head.Method) && head.Kind == wire.Result && head.Dir == wire.ServerToClient {
			s.handshakes[serverOf(&head)] = seq
		}
		if head.Kind != wire.Request {
			continue
		}
		place := s.conversation.PlaceOf(seq)
		if place == 0 || seen[place] {
			continue
		}
		seen[place] = true
		f, err := s.frame(seq)
		if err != nil {
			return err
		}
		o := called{serverOf(f), f.Method, f.Dir == wire.ClientToServer}
		asked := f.Message.Params
		if o.made {
			name, given := parts(f.Method, asked)
			o.name, asked = name, given
		}
		if same[o] == nil {
			same[o] = &o
		}
		s.outlines = append(s.outlines, outline{place: place, called: same[o], what: maphash.String(seed, masked(string(rawjson.AppendCompact(nil, asked))))})
	}
	return nil
}

func serverOf(f *wire.Frame) string { return cmp.Or(f.Server, conversation.Unnamed) }

// pair is a call that both conversations have; nil stands for one that only one of them has.
type pair struct{ old, now *outline }

// aligned pairs the calls: those with the same arguments first, then the others of the same name,
// each in their order.
func (c *comparison) aligned(servers map[string]string) (pairs []pair) {
	type key struct {
		server, name string
		what         uint64
	}
	match := func(what func(o *outline) uint64) {
		free := map[key]*outline{} // the first of each, in order
		for i := range slices.Backward(c.now.outlines) {
			if o := &c.now.outlines[i]; o.twin == nil {
				k := key{o.server, o.name, what(o)}
				o.next = free[k]
				free[k] = o
			}
		}
		for i := range c.old.outlines {
			o := &c.old.outlines[i]
			k := key{servers[o.server], o.name, what(o)}
			if first := free[k]; o.twin == nil && first != nil {
				o.twin, first.twin = first, o
				free[k] = first.next
			}
		}
	}
	match(func(o *outline) uint64 { return o.what })
	match(func(*outline) uint64 { return 0 })
	for i := range c.old.outlines {
		pairs = append(pairs, pair{&c.old.outlines[i], c.old.outlines[i].twin})
	}
	for i := range c.now.outlines {
		if o := &c.now.outlines[i]; o.twin == nil {
			pairs = append(pairs, pair{nil, o})
		}
	}
	return pairs
}

// likenesses say by ever less of what they ask that two questions are the same, and in words by what.
var likenesses = []struct {
	by    string
	alike func(a, b *asked) bool
}{
	{"", repeats},
	{"its fields", func(a, b *asked) bool { return a.mode() == b.mode() && a.names != "" && a.names == b.names }},
	{"its message", func(a, b *asked) bool { return a.words != "" && a.words == b.words }},
	{"a part of its fields or words", func(a, b *asked) bool {
		return a.mode() == b.mode() && (a.sharesField(b) || likeWords(a.words, b.words))
	}},
	{"its method", func(a, b *asked) bool { return a.request == nil && b.request == nil }},
}

// twinsMost bounds the pairs of questions that are compared by less than all that they ask.
const twinsMost = 1_000_000

// twins pairs the questions of two calls by ever less of what they ask.
func twins(old, now []*asked) (with map[*asked]*asked, added []*asked) {
	with = map[*asked]*asked{}
	taken := map[*asked]bool{}
	lost, added := old, now
	for i, l := range likenesses {
		if i > 0 && len(lost)*len(added) > twinsMost {
			break
		}
		for _, a := range lost {
			for k, b := range added {
				if !taken[b] && a.Method == b.Method && l.alike(a, b) {
					with[a], taken[b] = b, true
					if k == 0 { // mostly they come in the same order
						added = added[1:]
					}
					break
				}
			}
		}
		lost = slices.DeleteFunc(slices.Clone(lost), func(a *asked) bool { return with[a] != nil })
		added = slices.DeleteFunc(slices.Clone(added), func(b *asked) bool { return taken[b] })
	}
	return with, added
}
