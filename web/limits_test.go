package web

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"elicitation-inspector/bridge/client/live"

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/web/guard"
)

// TestLargeBodies checks that POSTs are accepted up to a maximum size, with and without
// a Content-Length.
func TestLargeBodies(t *testing.T) {
	addr := startServer(t)
	for _, c := range []struct {
		name      string
		size      int
		announced bool
		want      int
	}{
		{"as much as is taken", bodyMost, true, http.StatusNotFound}, // accepted; there is no such server
		{"a byte too much", bodyMost + 1, true, http.StatusRequestEntityTooLarge},
		{"a byte too much, of unknown length", bodyMost + 1, false, http.StatusRequestEntityTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			const start = "choice=show&x="
			var body io.Reader = strings.NewReader(start + strings.Repeat("x", c.size-len(start)))
			if !c.announced {
				body = io.MultiReader(body) // hides the length from net/http
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+addr+"/servers/s1/held", body)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+testToken)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil || res.StatusCode != c.want {
				t.Errorf("%d %s, %v; want %d", res.StatusCode, text, err, c.want)
			}
			if c.want == http.StatusRequestEntityTooLarge && !strings.Contains(string(text), "This is too much at once: the limit is 16 MiB.") {
				t.Errorf("it says %q", text)
			}
		})
	}
}

// TestFormInParts checks that a form that is posted in parts, as one with a file is, is read like
// one of pairs, and that its files come with it.
func TestFormInParts(t *testing.T) {
	d := inspectDemo(t, conversation.ClientSettings{})
	form := url.Values{"server": {"s1"}, "kind": {"tool"}, "key": {"deploy"}, "tab": {"json"}, "content": {"{\"a\":\n1}"}}
	status, want := d.post("/form/preview", form)
	if status != http.StatusOK || !strings.Contains(want, "&#34;a&#34;") {
		t.Fatalf("%d %s", status, want)
	}
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	for name, values := range form {
		_ = parts.WriteField(name, values[0])
	}
	file, _ := parts.CreateFormFile("f0", "a.txt")
	_, _ = file.Write([]byte("abc"))
	_ = parts.Close()
	r, w := httptest.NewRequest(http.MethodPost, "/form/preview", &body), httptest.NewRecorder()
	r.Header.Set("Content-Type", parts.FormDataContentType())
	d.s.echo.ServeHTTP(w, r)
	if w.Code != http.StatusOK || w.Body.String() != want {
		t.Errorf("in parts: %d %s\nwant %s", w.Code, w.Body, want)
	}
	files := posted(d.s.echo.NewContext(r, w)).File["f0"]
	if len(files) != 1 || files[0].Filename != "a.txt" || files[0].Size != 3 {
		t.Errorf("its files are %+v", files)
	}
}

// TestParts checks that the bytes of a block are served only as an image or a sound,
// with headers that make them harmless if a browser opens them directly.
func TestParts(t *testing.T) {
	const script = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	blob := base64.StdEncoding.EncodeToString([]byte(script))
	parts := []struct {
		block string
		kind  string // "" if the block is not served
	}{
		{`{"type":"image","mimeType":"image/png","data":%q}`, "image/png"},
		{`{"type":"image","mimeType":"image/svg+xml","data":%q}`, "image/svg+xml"},
		{`{"type":"audio","mimeType":"audio/wav","data":%q}`, "audio/wav"},
		{`{"type":"image","mimeType":"text/html","data":%q}`, ""},
		{`{"type":"audio","mimeType":"application/javascript","data":%q}`, ""},
		{`{"type":"image","data":%q}`, ""},
		{`{"type":"resource","resource":{"uri":"x:y","mimeType":"text/html","blob":%q}}`, ""},
		{`{"type":"resource","resource":{"uri":"x:y","mimeType":"image/svg+xml","blob":%q}}`, "image/svg+xml"},
	}
	var blocks []string
	for _, p := range parts {
		blocks = append(blocks, fmt.Sprintf(p.block, blob))
	}
	d := asking{result: `{"content":[` + strings.Join(blocks, ",") + `]}`}.inspect(t)
	if _, err := d.in.Begin(live.Request{Server: "s1", Kind: conversation.Tool, Name: "ask", Key: "ask"}); err != nil {
		t.Fatal(err)
	}
	d.until("the call has ended", func() bool {
		c, err := d.in.Call(1)
		return err == nil && c.State == conversation.Done
	})
	for i, p := range parts {
		w := httptest.NewRecorder()
		d.s.echo.ServeHTTP(w, httptest.NewRequest(http.MethodGet, fmt.Sprintf("/calls/1/parts/%d", i), nil))
		switch {
		case p.kind == "" && (w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "script")):
			t.Errorf("%s is given out: %d %s", p.block, w.Code, w.Body)
		case p.kind != "" && (w.Code != http.StatusOK || w.Body.String() != script):
			t.Errorf("%s is answered with %d %s", p.block, w.Code, w.Body)
		}
		if p.kind == "" {
			continue
		}
		if got := w.Header().Get("Content-Type"); got != p.kind {
			t.Errorf("%s is called %s", p.block, got)
		}
		if got := w.Header().Get("Content-Security-Policy"); got != "default-src 'none'; sandbox" {
			t.Errorf("%s may do %q", p.block, got)
		}
	}
}

// TestSecurityHeaders checks that each response has the security headers, also a
// refusal.
func TestSecurityHeaders(t *testing.T) {
	addr := startServer(t)
	const in = "Authorization: Bearer " + testToken + "\r\n"
	want := map[string]string{
		"Content-Security-Policy":      guard.Policy(),
		"X-Content-Type-Options":       "nosniff",
		"Referrer-Policy":              "same-origin",
		"X-Dns-Prefetch-Control":       "off",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
	}
	for name, request := range map[string]string{
		"the page":        "GET / HTTP/1.1\r\nHost: " + addr + "\r\n" + in,
		"a script":        "GET /static/bundle.js HTTP/1.1\r\nHost: " + addr + "\r\n" + in,
		"the transcript":  "GET /wire.jsonl HTTP/1.1\r\nHost: " + addr + "\r\n" + in,
		"nothing":         "GET /nowhere HTTP/1.1\r\nHost: " + addr + "\r\n" + in,
		"no token":        "GET / HTTP/1.1\r\nHost: " + addr + "\r\n",
		"another host":    "GET / HTTP/1.1\r\nHost: evil.example\r\n" + in,
		"another origin":  "GET /static/icon.svg HTTP/1.1\r\nHost: " + addr + "\r\nOrigin: https://evil.example\r\n" + in,
		"an unclean path": "GET //x HTTP/1.1\r\nHost: " + addr + "\r\n" + in,
	} {
		res := send(t, addr, request+"\r\n")
		for header, value := range want {
			if got := res.Header.Get(header); got != value {
				t.Errorf("%s: %s is %q, want %q", name, header, got, value)
			}
		}
	}
}
