package diff

import (
	"encoding/json"
	"fmt"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/meaning/conversation"
)

func isHandshake(method string) bool {
	return method == mcp.MethodInitialize || method == mcp.MethodDiscover
}

// pairedServers returns the label of the new conversation for each label of the old one, by their
// labels, else in their order; and the pairs.
func (c *comparison) pairedServers() (labels map[string]string, pairs [][2]*conversation.Server) {
	labels = map[string]string{}
	taken := map[string]bool{}
	for _, anyLabel := range []bool{false, true} {
		for i := range c.old.servers {
			for k := range c.now.servers {
				if a, b := &c.old.servers[i], &c.now.servers[k]; labels[a.Label] == "" && !taken[b.Label] && (anyLabel || a.Label == b.Label) {
					labels[a.Label], taken[b.Label] = b.Label, true
					pairs = append(pairs, [2]*conversation.Server{a, b})
				}
			}
		}
	}
	return labels, pairs
}

// servers compares what the servers say of themselves, and what they list.
func (c *comparison) servers() error {
	_, pairs := c.pairedServers()
	for _, p := range pairs {
		a, b := p[0], p[1]
		c.at = Difference{Server: c.old.conversation.NameOf(a.Label), OldFrame: c.old.handshakes[a.Label], NewFrame: c.now.handshakes[b.Label]}
		old, err := c.old.frame(c.at.OldFrame)
		if err != nil {
			return err
		}
		now, err := c.now.frame(c.at.NewFrame)
		if err != nil {
			return err
		}
		if old != nil && now != nil {
			if a.Protocol != b.Protocol {
				c.found(revision, rawjson.Quoted(a.Protocol), rawjson.Quoted(b.Protocol), "the revision is %s, not %s", b.Protocol, a.Protocol)
			}
			member := func(name string) (json.RawMessage, json.RawMessage) {
				return rawjson.Member(old.Message.Result, name), rawjson.Member(now.Message.Result, name)
			}
			before, after := member("capabilities")
			c.values(capability, "capabilities", orEmpty(before), orEmpty(after), "the capability")
			before, after = member("instructions")
			c.part(instructions, "instructions", "", before, after, "the instructions %s", Became(before, after))
		}
		for _, list := range conversation.Lists {
			if err := c.listed(list, a.Lists[list.Method], b.Lists[list.Method]); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry is an entry of a list, and the frame that has it.
type entry struct {
	key string
	raw json.RawMessage
	seq int64
}

// entriesMost bounds the entries of one list that are compared.
const entriesMost = 10_000

// entries reads the entries of a server's list. known is false if no list can be read.
func (s *side) entries(list conversation.List, frames []int64) (out []entry, known bool, err error) {
	for _, seq := range frames {
		f, err := s.frame(seq)
		if err != nil {
			return nil, false, err
		}
		page := rawjson.Member(f.Message.Result, list.Member)
		known = known || rawjson.KindOf(page) == rawjson.Array
		for _, raw := range rawjson.Elements(page) {
			if len(out) == entriesMost {
				return out, known, nil
			}
			out = append(out, entry{rawjson.Text(rawjson.Member(raw, list.Key())), raw, seq})
		}
	}
	return out, known, nil
}

// listed compares one list of a server, in any order.
func (c *comparison) listed(list conversation.List, old, now []int64) error {
	before, known, err := c.old.entries(list, old)
	if err != nil || !known {
		return err
	}
	after, known, err := c.now.entries(list, now)
	if err != nil || !known {
		return err
	}
	at := c.at
	defer func() { c.at = at }()
	with := map[string]*entry{}
	for i := range after {
		with[after[i].key] = &after[i]
	}
	seen := map[string]bool{}
	for _, a := range before {
		if seen[a.key] {
			continue
		}
		seen[a.key] = true
		c.at = at
		c.at.Call, c.at.OldFrame, c.at.tool = wording.EscapeLine(fmt.Sprintf("%s %s", list.Kind, a.key)), a.seq, a.key
		b := with[a.key]
		if b == nil {
			c.at.NewFrame = now[0]
			c.found(itemGone, a.raw, nil, "the server does not list the %s any more", list.Kind)
			continue
		}
		c.at.NewFrame = b.seq
		c.item(list, a.raw, b.raw)
	}
	for _, b := range after {
		if !seen[b.key] {
			seen[b.key] = true
			c.at = at
			c.at.Call, c.at.OldFrame, c.at.NewFrame = wording.EscapeLine(fmt.Sprintf("%s %s", list.Kind, b.key)), old[0], b.seq
			c.found(itemNew, nil, b.raw, "the server lists this %s, which is new", list.Kind)
		}
	}
	return nil
}

// item compares the same entry of a list: the arguments of a tool as fields, all else as JSON.
func (c *comparison) item(list conversation.List, a, b json.RawMessage) {
	if rawjson.Same(a, b) {
		return
	}
	if list.Kind == conversation.Tool {
		c.schemas(list.Method, rawjson.Member(a, "inputSchema"), rawjson.Member(b, "inputSchema"), "the inputSchema")
		a, b = rawjson.Without(a, "inputSchema"), rawjson.Without(b, "inputSchema")
	}
	for _, d := range c.differ(list.Method, "", a, b) {
		c.part(itemChanged, list.Method, d.Pointer, d.Before, d.After, "%s %s", d.Pointer[min(1, len(d.Pointer)):], Became(d.Before, d.After))
	}
}
