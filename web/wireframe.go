package web

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/keep/export"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
	"elicitation-inspector/views/markup"
	"elicitation-inspector/views/wirelog"
)

const (
	bigFrame  = markup.LargeFrame // frames of this size in bytes are read one at a time
	hugeFrame = 16 << 20          // after frames of this size in bytes, memory is returned to the system at once
	diffMost  = 500               // differences
)

// frames answers with the frames of the log, one at a time.
type frames struct {
	sharing
	rows *wireLog
	big  chan struct{} // a lock, held while a frame of many MiB is read, but not while it is sent
}

func (s *frames) routes(e *echo.Echo) {
	find := frameIn(s.in)
	e.GET("/wire/frames/:n", of(find, s.frame))             // details of a frame; query against compares it with another
	e.GET("/wire/frames/:n/raw", of(find, s.raw))           // its exact bytes
	e.GET("/wire/frames/:n/:of", of(find, s.more))          // a further piece of it: more (bytes), nodes (of its JSON) or string (in its JSON); query from, level, at
	e.GET("/wire/frames/:n/copy/:form", of(find, s.copied)) // the frame as text: raw, pretty, line, curl
}

// readFrame reads a frame. Large frames are read one at a time. done must be called
// before anything is sent: a client that does not read must not block others.
func (s *frames) readFrame(c echo.Context, seq int64) (f wire.Frame, done func(), err error) {
	size := s.in.Log().Head(seq).Size
	done = func() {}
	if size >= bigFrame {
		select {
		case s.big <- struct{}{}:
			done = func() {
				if size >= hugeFrame {
					debug.FreeOSMemory() // so that there is never memory for two such frames
				}
				<-s.big
			}
		case <-c.Request().Context().Done():
			return wire.Frame{}, nil, c.Request().Context().Err()
		}
	}
	if f, err = s.in.Log().Frame(seq); err != nil {
		done()
	}
	return f, done, err
}

// frame answers with the details of a frame. If the query against names another frame,
// it compares the two, and shows the details of the later one.
func (s *frames) frame(c echo.Context, n int64) error {
	against, err := queryNumber(c, "against", 0)
	if err != nil {
		return err
	}
	compared := against > 0 && against <= s.in.Log().Len() && against != n
	if compared {
		against, n = min(against, n), max(against, n)
	}
	f, done, err := s.readFrame(c, n)
	if err != nil {
		return err
	}
	d, err := s.detail(c, f)
	done()
	if err != nil {
		return err
	}
	if compared {
		if d.Diff, err = s.diff(c, against, n); err != nil {
			return err
		}
	}
	// Drop the largest parts that are least needed: a click shows the other frame, and
	// the bytes come piece by piece.
	for _, drop := range []func(){func() { d.PairTree = nil }, func() { d.Tree = nil }} {
		if _, err := markup.Rendered(c.Request().Context(), wirelog.FrameDetail(d), markup.PageMost); err == nil {
			break
		}
		drop()
	}
	return html(c, wirelog.FrameDetail(d))
}

func (s *frames) detail(c echo.Context, f wire.Frame) (wirelog.Detail, error) {
	rows, err := s.rows.of(f.Seq, f.Pair, s.earlier(f))
	if err != nil || rows[0] == nil {
		return wirelog.Detail{}, cmp.Or[error](err, echo.ErrNotFound)
	}
	d := wirelog.Detail{
		Row: *rows[0], PairRow: rows[1], Earlier: rows[2], Raw: markup.RawPiece(f.Raw, 0), Found: foundIn(s.in, f.Seq), Follow: query.ExchangeOf(f), Curl: export.Curlable(&f),
	}
	switch {
	case f.Lost:
		d.RawNote = "The bytes are gone: the log could not be kept."
	case f.Unread():
		d.RawNote = wording.Sentence(f.Bound())
	}
	if rawjson.Valid(f.Raw) {
		d.Tree = markup.Tree("JSON of the frame", f.Raw, d.Found)
	}
	switch {
	case f.Note == nil:
	case f.Note.SignIn != nil:
		d.Exchange = wirelog.ExchangeView(s.redaction.Frame(&f))
	case f.Kind == wire.SpanFrame:
		d.Exchange = wirelog.SpanView(s.redaction.Frame(&f).Note.Span)
	}
	if len(f.Header) > 0 || f.URL != "" { // redacted, because other people may see the screen
		redaction, err := s.redacted(c.Request().Context())
		if err != nil {
			return d, err
		}
		shown := redaction.Frame(&f)
		d.Masked = shown.URL != f.URL || !maps.EqualFunc(shown.Header, f.Header, slices.Equal)
		if shown.URL != "" {
			d.Header = []wirelog.Fact{{Name: f.HTTPMethod, Value: shown.URL}}
		}
		d.Header = append(d.Header, wirelog.FactsOf(shown.Header)...)
	}
	// The JSON of two large frames would be too much. A click shows the other frame.
	if d.PairRow != nil && (d.Size < bigFrame || d.PairRow.Size < bigFrame) {
		pair, done, err := s.readFrame(c, f.Pair)
		if err != nil {
			return d, err
		}
		defer done()
		if rawjson.Valid(pair.Raw) {
			d.PairTree = markup.Tree("JSON of the frame that it pairs with", pair.Raw, nil)
		}
	}
	return d, nil
}

func foundIn(in *inspection.Inspection, seq int64) []lint.Finding {
	var out []lint.Finding
	for _, f := range in.Found(seq) {
		out = append(out, f.Finding)
	}
	return out
}

// earlier returns the request that this one may repeat: the previous one of the same
// call, method and direction; 0 if there is none.
func (s *frames) earlier(f wire.Frame) int64 {
	for seq := f.Seq - 1; seq > 0 && f.Kind == wire.Request && f.Call != 0; seq-- {
		if h := s.in.Log().Head(seq); h.Call == f.Call && h.Kind == f.Kind && h.Dir == f.Dir && h.Method == f.Method {
			return seq
		}
	}
	return 0
}

func (s *frames) diff(c echo.Context, before, after int64) (*wirelog.Diff, error) {
	rows, err := s.rows.of(before, after)
	if err != nil || rows[0] == nil || rows[1] == nil {
		return nil, cmp.Or[error](err, echo.ErrNotFound)
	}
	out := wirelog.Diff{Before: *rows[0], After: *rows[1]}
	if out.Before.Size >= bigFrame && out.After.Size >= bigFrame && out.Before.Size+out.After.Size > diffBytes {
		out.Problem = "These two are too large to be compared here. Save both."
		return &out, nil
	}
	// Not by readFrame: a holder of one large frame must not wait for another.
	log := s.in.Log()
	a, err := log.Frame(before)
	if err != nil {
		return nil, err
	}
	b, err := log.Frame(after)
	if err != nil {
		return nil, err
	}
	out.List, out.Total, err = rawjson.Diff(a.Raw, b.Raw, diffMost)
	if err != nil {
		out.Problem = "They cannot be compared: " + err.Error() + "."
		out.Equal = bytes.Equal(a.Raw, b.Raw)
		return &out, nil
	}
	out.Equal = out.Total == 0
	return &out, nil
}

const diffBytes = 32 << 20

// more answers with a further piece of a frame, from a byte, a member or an element on: of its
// bytes, or of the string or the nodes at a pointer into its JSON.
func (s *frames) more(c echo.Context, seq int64) error {
	from, err1 := queryNumber(c, "from", 0)
	level, err2 := queryNumber(c, "level", 1)
	if err := cmp.Or(err1, err2); err != nil {
		return err
	}
	f, done, err := s.readFrame(c, seq)
	if err != nil {
		return err
	}
	at := c.QueryParam("at")
	var piece templ.Component
	switch c.Param("of") {
	case "more":
		piece = markup.RawPiece(f.Raw, from)
	case "string":
		if value := rawjson.At(f.Raw, at); value != nil {
			piece = markup.StringPiece(value, from)
		}
	case "nodes":
		if value := rawjson.At(f.Raw, at); value != nil {
			piece = markup.TreeNodes(at, int(level), value, int(from), foundIn(s.in, f.Seq))
		}
	}
	done()
	if piece == nil {
		return echo.ErrNotFound
	}
	return html(c, piece)
}

func (s *frames) raw(c echo.Context, seq int64) error {
	f, done, err := s.readFrame(c, seq)
	if err != nil {
		return err
	}
	kind, name := "application/octet-stream", ".bin"
	switch {
	case rawjson.Valid(f.Raw):
		kind, name = "application/json", ".json"
	case utf8.Valid(f.Raw):
		kind, name = "text/plain; charset=utf-8", ".txt"
	}
	done()
	attach(c, export.FileName(export.Heading(strings.TrimSpace(fmt.Sprintf("frame %d %s", f.Seq, f.Method)), []string{f.Server}, 0, f.Time), name))
	return c.Blob(http.StatusOK, kind, f.Raw)
}

// copyMost is the largest frame in bytes that can be copied. Larger ones can be saved.
const copyMost = 8 << 20

// copied answers with a frame as plain text in the form that the path names: raw,
// pretty, line (of a transcript) or curl. The last two are redacted, unless the query
// secrets is set.
func (s *frames) copied(c echo.Context, seq int64) error {
	f, done, err := s.readFrame(c, seq)
	if err != nil {
		return err
	}
	if done(); len(f.Raw) > copyMost {
		return echo.NewHTTPError(http.StatusRequestEntityTooLarge, fmt.Sprintf("A frame of more than %d MiB cannot be copied. Save it instead.", copyMost>>20))
	}
	redaction, err := s.chosen(c)
	if err != nil {
		return err
	}
	switch c.Param("form") {
	case "raw":
		return c.Blob(http.StatusOK, echo.MIMETextPlainCharsetUTF8, f.Raw)
	case "pretty":
		return c.String(http.StatusOK, rawjson.Pretty(f.Raw))
	case "line":
		var line bytes.Buffer
		if err := wire.WriteFrames(&line, s.in.Log(), slices.Values([]int64{f.Seq}), redaction); err != nil {
			return err
		}
		return c.String(http.StatusOK, line.String())
	case "curl":
		if !export.Curlable(&f) {
			return bad("Frame %d was not sent over HTTP.", f.Seq)
		}
		return c.String(http.StatusOK, export.Curl(redaction.Frame(&f)))
	}
	return echo.ErrNotFound
}
