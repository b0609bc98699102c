package probe

import (
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/wire/redact"
)

// TestSeen expects the report on tapped traffic to name a client's fault under the probe for
// that fault only, and to name no fault of a right client.
func TestSeen(t *testing.T) {
	type verdicts map[string]Verdict
	for name, c := range map[string]struct {
		revision string
		client   func(b *bare)
		probes   []string
		want     verdicts // all others are not seen
	}{
		"right": {mcp.Revision20251125, func(*bare) {}, []string{"accept", "decline", "cancel", "url-decline"},
			verdicts{"accept": Works, "decline": Works, "cancel": Works, "url-decline": Works}},
		"right, in rounds": {mcp.Revision20260728, func(*bare) {}, []string{"accept", "round-keys"},
			verdicts{"accept": Works, "round-state": Works, "round-id": Works, "round-arguments": Works, "round-keys": Works}},
		"no content": {mcp.Revision20251125, func(b *bare) { b.answer = at("accept", `{"action":"accept"}`) }, []string{"accept"},
			verdicts{"accept": Fails}},
		"content with decline": {mcp.Revision20251125, func(b *bare) { b.answer = at("decline", `{"action":"decline","content":{}}`) }, []string{"decline", "cancel"},
			verdicts{"decline": Partly, "cancel": Works}},
		"another state": {mcp.Revision20260728, func(b *bare) {
			b.retry = func(_ *bare, params string) string {
				return strings.Replace(params, `"requestState":"`, `"requestState":"x`, 1)
			}
		}, []string{"round-state"}, verdicts{"round-state": Fails}},
		"ids twice": {mcp.Revision20251125, func(b *bare) {
			b.answer = at("accept", `raw {"jsonrpc":"2.0","id":$ID,"result":{"action":"cancel"}}`+"\n"+`{"jsonrpc":"2.0","id":$ID,"result":{"action":"cancel"}}`)
		}, []string{"accept"}, verdicts{"accept": Fails, "cancel": Works}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, Options{Pause: 10 * time.Millisecond})
			b := newBare(t, s, c.revision)
			c.client(b)
			b.greet()
			for _, probe := range c.probes {
				b.call(Find(probe))
				b.result(probe)
			}
			b.request(mcp.MethodListTools, "{}") // whatever the client wrote before is read by now
			r, err := Seen(t.Context(), s.options.Log, "test", redact.Nothing())
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Clients) != 1 || r.Clients[0].Name != "bare 1" || r.Clients[0].Revision != c.revision {
				t.Fatalf("the clients are %+v", r.Clients)
			}
			for _, one := range r.Clients[0].Results {
				want := c.want[one.Probe]
				if want == "" {
					want = NotSeen
				}
				if one.Verdict != want || want != NotSeen && len(one.Frames) == 0 {
					t.Errorf("%s: %s, want %s: %s %v", one.Probe, one.Verdict, want, one.How, one.Frames)
				}
			}
		})
	}
}
