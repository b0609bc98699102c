package web

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/export"
	"elicitation-inspector/bridge/lint"
	"elicitation-inspector/bridge/rawjson"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
	"elicitation-inspector/bridge/wire/redact"
	"elicitation-inspector/bridge/wording"
	"elicitation-inspector/views"
	"elicitation-inspector/views/markup"
	"elicitation-inspector/views/wirelog"
)

const rowsMost = 500

// rows answers with a window of the log: count rows from the 0-based position from on,
// of the frames that the filter selects and that come after since. Frames not judged
// yet are missing: the page asks again until X-Judged is X-Frames. X-View changes when
// rows may have moved. X-Near is the position of the frame near, or of the next one if
// it is not in the view. X-New is the number of rows after the frame after.
func (s *Server) rows(c echo.Context) error {
	from, err1 := queryNumber(c, "from", 0)
	count, err2 := queryNumber(c, "count", rowsMost)
	near, err3 := queryNumber(c, "near", 0)
	after, err4 := queryNumber(c, "after", 0)
	since, err5 := queryNumber(c, "since", 0)
	if err := cmp.Or(err1, err2, err3, err4, err5); err != nil {
		return err
	}
	line := c.QueryParam("filter")
	view, err := s.filtered(c.Request().Context(), line)
	if err != nil {
		return misfiltered(c, line, err)
	}
	judged, hidden, total := view.Extent(since)
	set := func(name string, n int64) { c.Response().Header().Set(name, strconv.FormatInt(n, 10)) }
	set("X-Total", total)
	set("X-Judged", judged)
	set("X-Frames", s.in.Log().Len())
	set("X-View", view.number)
	if after > 0 {
		_, _, fresh := view.Extent(max(after, since))
		set("X-New", fresh)
	}
	if near > 0 {
		place, in := view.Index(near)
		set("X-Near", max(0, place-hidden))
		c.Response().Header().Set("X-Near-Found", strconv.FormatBool(in && near > since))
	}
	rows, err := s.rowViews(view.Seqs(hidden+from, int(min(count, rowsMost, max(0, total-from)))))
	if err != nil {
		return err
	}
	start := s.in.Log().Head(1).Time
	var before time.Time
	if from > 0 {
		for _, seq := range view.Seqs(hidden+from-1, 1) {
			before = s.in.Log().Head(seq).Time
		}
	}
	for i := range rows {
		rows[i].Index = from + int64(i) + 1
		rows[i].Clock = wirelog.Clock(c.QueryParam("time"), rows[i].Time, start, before)
		before = rows[i].Time
	}
	return html(c, wirelog.Rows(rows))
}

func misfiltered(c echo.Context, line string, err error) error {
	if wrong := mistakeIn(line, err); wrong != nil {
		return c.JSON(http.StatusUnprocessableEntity, struct {
			Error *query.Error `json:"error"`
		}{wrong})
	}
	return err
}

// subscription is the method of a request that stays open as long as the connection
// (specification 2026-07-28, Subscriptions), and so waits for no response.
const subscription = "subscriptions/listen"

func (s *Server) rowViews(seqs []int64) ([]wirelog.Row, error) {
	log := s.in.Log()
	window, err := log.Rows(seqs)
	if err != nil {
		return nil, err
	}
	servers := s.serverViews()
	_, total := log.Reading()
	asking := map[int64]bool{}
	for _, q := range s.in.OnShow(0) {
		asking[q.AskedSeq] = true
	}
	rows := make([]wirelog.Row, 0, len(window))
	for _, r := range window {
		row := wirelog.Row{Row: r, Index: r.Seq, Clock: wirelog.Clock("", r.Time, time.Time{}, time.Time{}), Findings: lint.TallyOf(s.foundIn(r.Seq)), Mark: s.marks().MarkOf(r.Seq), Polls: log.Polls(r.Seq)}
		row.ServerIndex = max(0, slices.IndexFunc(servers, func(s views.Server) bool { return s.Label == markup.Brief(r.Server) }))
		row.Pending = r.Kind == wire.Request && r.Pair == 0 && r.Method != subscription && s.in.Waits(r.Seq, r.Session) && total == 0 // a request in a transcript waits for nothing
		if r.Kind == wire.Request && r.Pair != 0 {
			row.Ended = wirelog.EndedBy(log.Head(r.Pair))
		}
		row.Asks = asking[r.Seq] && !row.Pending && total == 0
		rows = append(rows, row)
	}
	return rows, nil
}

func (s *Server) rowOf(seq int64) (wirelog.Row, error) {
	rows, err := s.rowViews([]int64{seq})
	if err != nil || len(rows) == 0 {
		return wirelog.Row{}, errors.Join(err, echo.ErrNotFound)
	}
	return rows[0], nil
}

func queryNumber(c echo.Context, name string, otherwise int64) (int64, error) {
	text := c.QueryParam(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, bad("%s must be a number from 0, not %q.", name, text)
	}
	return n, nil
}

// completion holds the completions of a filter line and its mistake. Positions in the
// line are counted in UTF-16 code units.
type completion struct {
	query.Completion
	Error *query.Error `json:"error,omitempty"`
}

// completeFilter answers with the completions of a filter line at a position, counted
// in UTF-16 code units.
func (s *Server) completeFilter(c echo.Context) error {
	line := c.QueryParam("line")
	at, err := queryNumber(c, "at", int64(len(line)))
	if err != nil {
		return err
	}
	var rules []string
	for _, f := range s.in.Findings("") {
		rules = append(rules, f.Rule)
	}
	out := completion{Completion: query.Complete(s.in.Log(), line, query.ByteOffset(line, int(at)), rules)}
	out.From, out.To = query.UTF16Offset(line, out.From), query.UTF16Offset(line, out.To)
	out.Items = append([]query.Candidate{}, out.Items...) // [] in JSON if it is empty
	_, err = query.Parse(line)
	out.Error = mistakeIn(line, err)
	return c.JSON(http.StatusOK, out)
}

func (s *Server) mark(c echo.Context, n int64) error {
	if err := s.marks().Mark(n, wire.Mark{Pinned: c.FormValue("pinned") != "", Colour: c.FormValue("colour"), Note: c.FormValue("note")}); err != nil {
		return bad("%s", sentence(err))
	}
	s.stir()
	return done(c, nil)
}

// marks returns the log that stores marks. In a playback, this is the log of the whole
// transcript: its frames have the same numbers, and it stays when the playback starts
// over.
func (s *Server) marks() *wire.Log {
	if s.playback != nil {
		return s.playback.config.Player.Source()
	}
	return s.in.Log()
}

const pinsShown = 200

func (s *Server) pins() ([]wirelog.Row, error) {
	var pinned []int64
	marked, _ := s.marks().Marked()
	for _, seq := range marked {
		if s.marks().MarkOf(seq).Pinned && len(pinned) < pinsShown {
			pinned = append(pinned, seq)
		}
	}
	return s.rowViews(pinned)
}

// logStatus returns the number of frames, their size and place, and a state by which a
// page can tell that findings or marks have changed and rows must be drawn again.
func (s *Server) logStatus() wirelog.Status {
	log := s.in.Log()
	_, marks := s.marks().Marked()
	v := wirelog.Status{
		Frames: log.Len(), Kept: s.keptWords(),
		State: fmt.Sprintf("%d.%d", s.in.FindingsKnown(), marks), Repeats: log.HasRepeats(),
	}
	if err := s.config.Recording.State().Err; err != nil {
		v.Err = "The recording has stopped. " + sentence(err)
	}
	if err := log.Err(); err != nil {
		v.Err = "The log cannot be kept on disk: " + err.Error()
	}
	return v
}

// keptWords says how many bytes of the log are kept where; "" if none are.
func (s *Server) keptWords() string {
	stats := s.in.Log().Stats()
	if stats.Bytes == 0 || stats.Where == "" {
		return ""
	}
	return wording.Size(stats.Bytes) + " in " + stats.Where
}

// copyMost is the largest frame in bytes that can be copied. Larger ones can be saved.
const copyMost = 8 << 20

// copied answers with a frame as plain text in the form that the path names: raw,
// pretty, line (of a transcript) or curl. The last two are redacted, unless the query
// secrets is set.
func (s *Server) copied(c echo.Context, seq int64) error {
	f, done, err := s.readFrame(c, seq)
	if err != nil {
		return err
	}
	if done(); len(f.Raw) > copyMost {
		return echo.NewHTTPError(http.StatusRequestEntityTooLarge, fmt.Sprintf("A frame of more than %d MiB cannot be copied. Save it instead.", copyMost>>20))
	}
	redaction, err := s.redaction(c)
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

// copiedQuestion answers with an elicitation as plain text in the form that the path
// names: markdown (a report of its frames), call (the command line that makes its call),
// or code for an SDK. What is left out of transcripts is left out.
func (s *Server) copiedQuestion(c echo.Context, q answerable) error {
	if q.Request == nil {
		return bad("Question %d is not an elicitation that can be read.", q.Number)
	}
	redaction, err := s.redaction(c)
	if err != nil {
		return err
	}
	var text string
	switch form := c.Param("form"); form {
	case "markdown":
		var b strings.Builder
		call, callErr := s.in.Call(q.Call)
		seqs := []int64{q.AskedSeq, q.AnswerSeq, s.in.Next(q.Question).Seq, call.ResultSeq}
		slices.Sort(seqs) // 0 is no frame
		d := export.Document{Log: s.marks(), Seqs: slices.Values(slices.Compact(seqs)), Redact: redaction, Title: q.Request.Message, Version: s.config.Version}
		err = d.Write(c.Request().Context(), &b, export.Markdown)
		b.WriteString("\n## The request\n\n" + export.Fenced("json", wording.Escape(redaction.Text(rawjson.Pretty(q.Params)))))
		if server, unknown := s.in.Server(q.Server); unknown == nil {
			fmt.Fprintf(&b, "\n## The server\n\n%s\n", export.Span(wording.Join(", ", wording.Join(" ", server.Info.Name, server.Info.Version), "revision "+server.Info.Protocol, server.How)))
		}
		if target, unknown := s.in.Target(q.Server); callErr == nil && unknown == nil {
			fmt.Fprintf(&b, "\n## To reproduce it\n\n```sh\n%s\n```\n", redaction.Text(call.Request.CommandLine(target.CommandLine())))
		}
		text = b.String()
	case "call":
		call, callErr := s.in.Call(q.Call)
		server, serverErr := s.in.Target(q.Server)
		err = errors.Join(callErr, serverErr)
		text = redaction.Text(call.Request.CommandLine(server.CommandLine()))
	default:
		text, err = export.CodeThatAsks(export.SDK(form), q.Request)
		text = redaction.Text(text)
	}
	if err != nil {
		return err
	}
	return c.String(http.StatusOK, text)
}

// redaction returns the redaction for copies, which has learned all frames. The query
// secrets turns it off.
func (s *Server) redaction(c echo.Context) (*redact.Redaction, error) {
	if c.QueryParam("secrets") != "" {
		return redact.Nothing(), nil
	}
	return s.config.Redaction, s.config.Redaction.Learn(c.Request().Context(), s.in.Log())
}

// selection is the frames that the query filter of a request picks.
type selection struct {
	*Server
	line string      // the filter
	view *query.View // up to date
}

// selected makes a handler that first finds the frames.
func (s *Server) selected(save func(echo.Context, selection) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		line := c.QueryParam("filter")
		filter, err := query.Parse(line)
		if err != nil {
			return misfiltered(c, line, err)
		}
		view := s.newView(filter)
		if err := view.Update(c.Request().Context()); err != nil {
			return err
		}
		return save(c, selection{s, line, view})
	}
}

func (s *Server) transcript(c echo.Context, frames selection) error {
	if c.QueryParam("download") != "" {
		title, err := frames.title(c.Request().Context())
		if err != nil {
			return err
		}
		attach(c, export.FileName(title, ".jsonl"))
	}
	return frames.stream(c, "application/x-ndjson; charset=utf-8", func(w io.Writer) error {
		if err := wire.WriteFrames(w, s.in.Log(), frames.seqs(), s.config.Redaction); err != nil {
			return err
		}
		return s.marks().WriteMarks(w, func(seq int64) bool { _, in := frames.view.Index(seq); return in })
	})
}

var exportKinds = map[export.Format]string{
	export.JSON: echo.MIMEApplicationJSON, export.HAR: echo.MIMEApplicationJSON, export.HTML: echo.MIMETextHTMLCharsetUTF8,
}

func (s *Server) exported(c echo.Context, frames selection) error {
	format, err := export.ParseFormat(c.Param("format"))
	if err != nil {
		return bad("%s", sentence(err))
	}
	title, err := frames.title(c.Request().Context())
	if err != nil {
		return err
	}
	attach(c, export.FileName(title, format.Extension()))
	d := export.Document{Log: s.marks(), Seqs: frames.seqs(), Redact: s.config.Redaction, Title: title, Version: s.config.Version}
	return frames.stream(c, cmp.Or(exportKinds[format], echo.MIMETextPlainCharsetUTF8), func(w io.Writer) error {
		if err := d.Write(c.Request().Context(), w, format); err != nil {
			return echo.NewHTTPError(http.StatusUnprocessableEntity, fmt.Sprintf("The export failed: %v.", err))
		}
		return nil
	})
}

// stream answers with what write writes, while it is written. After an error it cuts the
// connection, so that no part of a file can be taken for the whole; before the first bytes
// it answers with the error.
func (s selection) stream(c echo.Context, kind string, write func(io.Writer) error) error {
	res := c.Response()
	res.Header().Set(echo.HeaderContentType, kind)
	ctx := c.Request().Context()
	err := write(res)
	if err == nil {
		for _, doubt := range s.config.Redaction.Doubts(0) {
			s.logger.Warn("a saved transcript may have values that should be left out: " + doubt)
		}
	}
	switch {
	case err != nil && res.Committed:
		if ctx.Err() == nil {
			s.logger.Error("saving frames as a file", "error", err)
		}
		panic(http.ErrAbortHandler)
	case err != nil:
		res.Header().Del(echo.HeaderContentDisposition)
	}
	return err
}

func attach(c echo.Context, name string) {
	c.Response().Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
}

// title says what the frames are.
func (s selection) title(ctx context.Context) (string, error) {
	first := int64(0)
	for first = range s.view.All() {
		break
	}
	return s.titleOf(ctx, first, func(seq int64) bool { _, in := s.view.Index(seq); return in })
}

// titleOf returns the title of a download of frames of the log; see [export.Title].
func (s *Server) titleOf(ctx context.Context, first int64, only func(seq int64) bool) (string, error) {
	log, conversation := s.in.Log(), s.in.Conversation()
	err := errors.Join(conversation.Update(ctx), s.config.Redaction.Learn(ctx, log))
	if err != nil {
		return "", err
	}
	return export.Title(ctx, conversation, log, s.config.Redaction, first, only)
}

// seqs lists the frames, and those that store their marks, in order.
func (s selection) seqs() iter.Seq[int64] {
	seqs := slices.Collect(s.view.All())
	marked, _ := s.marks().Marked()
	for _, seq := range marked {
		if _, in := s.view.Index(seq); in {
			if by := s.marks().Marking(seq); by != 0 {
				seqs = append(seqs, by)
			}
		}
	}
	slices.Sort(seqs) // 0 is no frame
	return slices.Values(slices.Compact(seqs))
}
