package diff

import (
	"encoding/json"
	"slices"
	"strings"

	"elicitation-inspector/bridge/base/alike"
	"elicitation-inspector/bridge/base/lazy"
	"elicitation-inspector/bridge/base/rawjson"
)

// Carrier maps values that a server makes anew in each session, such as the number of a ticket, from
// those of the old conversation to those of the new one. It is not safe for concurrent use.
type Carrier struct {
	values map[string]string
	masks  bool // its texts are compared masked, so that it need not know what masked hides
	used   []Carried
}

// Carried is a value that was carried.
type Carried struct {
	Old   string `json:"old"`
	New   string `json:"new"`
	Times int    `json:"times"`
}

// NewCarrier returns a carrier that knows no value.
func NewCarrier() *Carrier { return &Carrier{values: map[string]string{}} }

// carriedMost bounds the values that are known. A value has at least carriedLeast characters, and a
// digit: another one occurs by chance.
const (
	carriedMost  = 100_000
	carriedLeast = 3
)

// words matches the words of a text, in which ids have hyphens and dots.
var words = lazy.Regexp(`[\pL\pN_]+(?:[-.:][\pL\pN_]+)*`)

func (c *Carrier) value(old, now string) {
	if old != now && len(old) >= carriedLeast && strings.ContainsAny(old, "0123456789") && len(c.values) < carriedMost && !(c.masks && masked(old) == masked(now)) {
		c.values[strings.Clone(old)] = strings.Clone(now) // of texts that may be long
	}
}

// words learns the words in which two texts differ, if the texts have as many.
func (c *Carrier) words(old, now string) {
	c.value(old, now)
	if len(old)+len(now) > textMost {
		return
	}
	a, b := words().FindAllString(old, -1), words().FindAllString(now, -1)
	if len(a) != len(b) {
		return
	}
	for i := range a {
		c.value(a[i], b[i])
	}
}

// Learn takes two values that correspond to each other, such as the results of the same call, and adds
// each text or number in which they differ to the map. A number needs four digits.
func (c *Carrier) Learn(old, now json.RawMessage) {
	list, _, err := rawjson.Diff(old, now, 100*differencesMost)
	if err != nil {
		return // it is learned from no value that is no JSON
	}
	for _, d := range list {
		kind := rawjson.KindOf(d.Before)
		switch {
		case d.Op != rawjson.Changed || kind != rawjson.KindOf(d.After):
		case kind == rawjson.Number && len(d.Before) > carriedLeast:
			c.value(string(d.Before), string(d.After))
		case kind == rawjson.String:
			if a, b := rawjson.Text(d.Before), rawjson.Text(d.After); alike.IsContainer(a) && alike.IsContainer(b) {
				c.Learn(json.RawMessage(a), json.RawMessage(b))
			} else if c.words(a, b); strings.ContainsAny(a, " \n") {
				delete(c.values, a) // a sentence is no value
			}
		}
	}
}

// live returns a text of the old conversation with the values that the new one has.
func (c *Carrier) live(text string) string {
	if now, ok := c.values[text]; ok {
		return now
	}
	if len(c.values) == 0 || len(text) > textMost {
		return text
	}
	return words().ReplaceAllStringFunc(text, func(word string) string {
		if now, ok := c.values[word]; ok {
			return now
		}
		return word
	})
}

// Live returns a value of the old conversation with the values that the new one has, and remembers
// them for Used.
func (c *Carrier) Live(raw json.RawMessage) json.RawMessage {
	switch rawjson.KindOf(raw) {
	case rawjson.Object:
		var o rawjson.ObjectWriter
		for name, value := range rawjson.Members(raw) {
			o.Add(name, c.Live(value))
		}
		return o.JSON()
	case rawjson.Array:
		var a rawjson.ArrayWriter
		for _, value := range rawjson.Elements(raw) {
			a.Add(c.Live(value))
		}
		return a.JSON()
	case rawjson.String:
		if text := rawjson.Text(raw); c.live(text) != text {
			c.use(text, c.live(text))
			return rawjson.Quoted(c.live(text))
		}
	case rawjson.Number:
		if now, ok := c.values[string(raw)]; ok && rawjson.KindOf([]byte(now)) == rawjson.Number {
			c.use(string(raw), now)
			return json.RawMessage(now)
		}
	}
	return raw
}

func (c *Carrier) use(old, now string) {
	if i := slices.IndexFunc(c.used, func(one Carried) bool { return one.Old == old && one.New == now }); i >= 0 {
		c.used[i].Times++
		return
	}
	c.used = append(c.used, Carried{old, now, 1})
}

// Used lists the values that Live has carried.
func (c *Carrier) Used() []Carried { return c.used }
