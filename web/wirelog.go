package web

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/views"
)

// rowsMost is how many rows of the log one request gets.
const rowsMost = 500

// rows answers with a window of the log: count rows from the 0-based place
// from, in the view that leaves out frames up to since.
func (s *Server) rows(c echo.Context) error {
	from, err1 := queryNumber(c, "from", 0)
	count, err2 := queryNumber(c, "count", rowsMost)
	since, err3 := queryNumber(c, "since", 0)
	if err := firstOf(err1, err2, err3); err != nil {
		return err
	}
	log := s.in.Log()
	total := max(0, log.Len()-since)
	first, last := since+from+1, min(since+from+min(count, rowsMost), log.Len())
	var seqs []int64
	for seq := first; seq <= last; seq++ {
		seqs = append(seqs, seq)
	}
	window, err := log.Rows(seqs)
	if err != nil {
		return err
	}
	servers, _ := s.serverViews()
	var rows []views.Row
	for _, r := range window {
		row := rowView(r, servers)
		row.Index = r.Seq - since
		row.Findings, row.Worst = s.gravest(r.Seq)
		rows = append(rows, row)
	}
	c.Response().Header().Set("X-Total", strconv.FormatInt(total, 10))
	return html(c, views.WireRows(rows))
}

func (s *Server) rowOf(seq int64, servers []views.Server) (views.Row, error) {
	rows, err := s.in.Log().Rows([]int64{seq})
	if err != nil || len(rows) == 0 {
		return views.Row{}, errors.Join(echo.ErrNotFound, err)
	}
	return rowView(rows[0], servers), nil
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

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func rowView(row wire.Row, servers []views.Server) views.Row {
	f := row.Frame
	r := views.Row{
		Seq: f.Seq, Index: f.Seq, Time: f.Time.Local().Format("15:04:05.000"), Dir: f.Dir.String(), Server: f.Server,
		Kind: f.Kind.String(), Method: f.Method, ID: string(f.Message.ID), Action: row.Action,
		Summary: strings.TrimSpace(strings.TrimPrefix(row.Summary, row.Action)), Size: f.Size, Latency: f.Latency, Pair: f.Pair,
		HasLatency: f.Kind.IsResponse() && f.Pair != 0,
		Pending:    f.Kind == wire.Request && f.Pair == 0 && f.Method != subscription, AskedAt: f.Time,
	}
	r.Several = len(servers) > 1
	r.ServerIndex = max(0, slices.IndexFunc(servers, func(s views.Server) bool { return s.Label == f.Server }))
	if r.Pending && servers != nil && !connected(servers, f.Server) {
		r.Pending = false // nobody will answer any more
	}
	return r
}

// gravest counts what the linter says of a frame, and names the worst of it.
func (s *Server) gravest(seq int64) (count int, worst string) {
	found := s.in.Found(seq)
	if len(found) == 0 {
		return 0, ""
	}
	gravest := found[0].Severity
	for _, f := range found {
		gravest = min(gravest, f.Severity)
	}
	return len(found), gravest.String()
}

// subscription is a request that stays open for as long as the connection does
// (specification 2026-07-28, Subscriptions), so it does not wait for anything.
const subscription = "subscriptions/listen"

func connected(servers []views.Server, label string) bool {
	return slices.ContainsFunc(servers, func(s views.Server) bool {
		return s.Label == label && (s.State == views.ServerReady || s.State == views.ServerConnecting)
	})
}

// frame answers with one frame looked at closely.
func (s *Server) frame(c echo.Context) error {
	n, err := number(c, "n")
	if err != nil {
		return err
	}
	log := s.in.Log()
	if int64(n) > log.Len() {
		return echo.ErrNotFound
	}
	f, err := log.Frame(int64(n))
	if err != nil {
		return err
	}
	servers, _ := s.serverViews()
	row, err := s.rowOf(f.Seq, servers)
	if err != nil {
		return err
	}
	d := views.Detail{
		Row: row, Transport: f.Transport, Stream: streamWords[f.Stream], Session: f.Session,
		Status: f.Status, Raw: shown(string(f.Raw)),
	}
	switch {
	case f.Lost:
		d.RawNote = "The bytes are gone: the log could not be kept."
	case f.Truncated:
		d.RawNote = fmt.Sprintf("Only the first %d of %d bytes were kept.", len(f.Raw), f.Size)
	case len(f.Raw) > shownMost:
		d.RawNote = fmt.Sprintf("The first %d of %d bytes are shown.", shownMost, f.Size)
	}
	if f.Kind.IsMessage() {
		d.Pretty = pretty(f.Raw)
	}
	header, _ := s.config.Redaction.Header(f.Header)
	for name, values := range header {
		for _, v := range values {
			d.Header = append(d.Header, views.HeaderLine{Name: name, Value: v})
		}
	}
	slices.SortFunc(d.Header, func(a, b views.HeaderLine) int { return strings.Compare(a.Name, b.Name) })
	if f.Pair != 0 {
		pair, err := log.Frame(f.Pair)
		if err != nil {
			return err
		}
		other, err := s.rowOf(f.Pair, servers)
		if err != nil {
			return err
		}
		d.PairRow, d.PairText = &other, pretty(pair.Raw)
	}
	for _, found := range s.in.Found(f.Seq) {
		d.Found = append(d.Found, findingView(found.Finding, found.Seq, found.Question, found.Call))
	}
	return html(c, views.FrameDetail(d))
}

var streamWords = map[wire.Stream]string{
	wire.StreamNone:    "",
	wire.StreamPost:    "POST",
	wire.StreamPostSSE: "POST event stream",
	wire.StreamGetSSE:  "GET event stream",
}

// transcript streams the frames so far, one a line.
func (s *Server) transcript(c echo.Context) error {
	h := c.Response().Header()
	h.Set("Content-Type", "application/x-ndjson; charset=utf-8")
	if c.QueryParam("download") != "" {
		h.Set("Content-Disposition", `attachment; filename="transcript.jsonl"`)
	}
	c.Response().WriteHeader(http.StatusOK)
	log := s.in.Log()
	return wire.WriteTranscript(c.Response(), log, 1, log.Len(), s.config.Redaction)
}
