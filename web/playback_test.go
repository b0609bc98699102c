package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/wire"
)

const recordedSession = `{"session_id":"a","server_label":"files","ts":"2026-07-28T10:00:00Z","direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}}
{"session_id":"a","server_label":"files","ts":"2026-07-28T10:00:01Z","direction":"s2c","raw":{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Who signs?","requestedSchema":{"type":"object","properties":{"n":{"type":"string","title":"Signer"}}}}}}
this line is damaged
{"session_id":"a","server_label":"files","ts":"2026-07-28T10:00:04Z","direction":"c2s","raw":{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"n":"Ada"}}}}
{"session_id":"a","server_label":"files","ts":"2026-07-28T10:00:05Z","direction":"s2c","raw":{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"signed"}]}}}
`

type played struct {
	*testing.T
	base     string
	player   *playback.Player
	playback *Playback
}

func playingBack(t *testing.T, text string) played {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flow.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := wire.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	player, err := playback.NewPlayer(source, playback.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	st := NewPlayback(PlaybackConfig{Config: Config{Token: "secret"}, Player: player, Files: []string{path}})
	go player.Run(ctx)
	served := make(chan error, 1)
	go func() { served <- st.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		player.Close()
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	s := played{t, "http://" + l.Addr().String(), player, st}
	s.ask("GET", "/", nil) // returns as soon as the page is served
	return s
}

func (s played) ask(method, path string, form url.Values) (int, string) {
	s.Helper()
	r, err := http.NewRequest(method, s.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer secret")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// page waits until the page contains all of want.
func (s played) page(want ...string) string {
	s.Helper()
	deadline := time.After(patienceOfTests)
	for {
		replay := s.playback.shown.Load().replay
		refreshed, grown := replay.Refreshed(), replay.Inspection().Log().Grown()
		status, page := s.ask("GET", "/", nil)
		missing := ""
		for _, w := range want {
			if status != http.StatusOK || !strings.Contains(page, w) {
				missing = w
			}
		}
		if missing == "" {
			return page
		}
		select {
		case <-refreshed:
		case <-grown:
		case <-deadline:
			s.Fatalf("%d: the page does not say %q:\n%s", status, missing, page)
		}
	}
}

func TestPlaybackShowsWhatWasAnswered(t *testing.T) {
	t.Parallel()
	s := playingBack(t, recordedSession)
	page := s.page("Who signs?", `data-state="answered"`, "read-only", `value="Ada"`, "signed", "line 3", "1 line could not be read", `aria-label="Playback"`)
	if strings.Contains(page, `data-question="1"`) {
		t.Error("the question can be answered")
	}
	for _, path := range []string{
		"/calls", "/calls/1/stop", "/calls/1/retry", "/questions/1/answer", "/questions/1/draft", "/servers/s1/reconnect",
		"/servers/s1/settings", "/servers/s1/policy", "/recording/start", "/recording/stop",
	} {
		if status, text := s.ask("POST", path, url.Values{"action": {"decline"}}); status != http.StatusConflict || !strings.Contains(text, "transcript") {
			t.Errorf("POST %s: %d %s, want 409 with words", path, status, text)
		}
	}
}

func TestPlaybackPlaysBack(t *testing.T) {
	t.Parallel()
	s := playingBack(t, recordedSession)
	s.page(`data-state="answered"`)
	if status, text := s.ask("POST", "/playback/seek", url.Values{"position": {"2"}}); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, text)
	}
	if page := s.page(`data-state="pending"`, "Who signs?"); strings.Contains(page, `value="Ada"`) {
		t.Error("the answer is shown before it was given")
	}
	if status, _ := s.ask("POST", "/playback/step", nil); status != http.StatusNoContent {
		t.Fatal(status)
	}
	s.page(`data-state="answered"`, `value="Ada"`)
	for path, form := range map[string]url.Values{
		"/playback/seek": {"position": {"-1"}}, "/playback/speed": {"speed": {"99"}}, "/playback/pauses": {"pauses": {"none"}},
	} {
		if status, _ := s.ask("POST", path, form); status != http.StatusBadRequest {
			t.Errorf("%s %v: %d, want 400", path, form, status)
		}
	}
}

// A filter by findings searches the whole transcript, though the page shows only the
// latest calls.
func TestPlaybackFindsInAllOfIt(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	const calls = 400
	for i := range calls {
		schema := `{"type":"object","properties":{}}`
		if i == 0 || i == calls-1 {
			schema = `{"type":"array"}`
		}
		fmt.Fprintf(&text, `{"session_id":"a","server_label":"s","transport":"stdio","direction":"c2s","raw":{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask"}}}
{"session_id":"a","server_label":"s","transport":"stdio","direction":"s2c","raw":{"jsonrpc":"2.0","id":%[1]d,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":%s}}}
`, i, schema)
	}
	s := playingBack(t, text.String())
	s.page("Who?")
	found := func(want ...int64) {
		t.Helper()
		for deadline := time.Now().Add(patienceOfTests); ; {
			status, rows := s.ask("GET", "/wire/rows?filter=finding:root-not-object", nil)
			var got []int64
			for seq := int64(1); seq <= 2*calls; seq++ {
				if strings.Contains(rows, fmt.Sprintf(`data-seq="%d"`, seq)) {
					got = append(got, seq)
				}
			}
			if status == http.StatusOK && slices.Equal(got, want) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%d: %v are found, want %v", status, got, want)
			}
		}
	}
	found(2, 2*calls)
	if _, detail := s.ask("GET", "/wire/frames/2", nil); !strings.Contains(detail, "root-not-object") {
		t.Errorf("the frame does not say what was found: %s", detail)
	}
	// The same holds during playback.
	if status, _ := s.ask("POST", "/playback/seek", url.Values{"position": {"10"}}); status != http.StatusNoContent {
		t.Fatal(status)
	}
	found(2)
}

const patienceOfTests = 90 * time.Second
