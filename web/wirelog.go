package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/lint"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/query"
	"elicitation-inspector/views"
	"elicitation-inspector/views/wirelog"
)

// wireLog is the panel of the frames, in the order in which they came.
type wireLog struct {
	in        *inspection.Inspection
	marks     *wire.Log // stores the marks
	recording *playback.Recording
	stir      func()
	filters   filters
	marked    int64 // version of the marks when the pins were drawn
}

func (s *wireLog) routes(e *echo.Echo) {
	e.GET("/wire/rows", s.rows)                                  // a window of the log; query filter, since, from, count, near, time
	e.GET("/wire/complete", s.complete)                          // completions and mistake of a filter line; query line, at
	e.POST("/wire/frames/:n/mark", of(frameIn(s.in), s.setMark)) // set its mark: pinned, colour, note
}

func (s *wireLog) fill(p *views.Page) {
	p.Log = s.status()
	var err error
	if p.Log.Pins, err = s.pins(); err != nil && p.Log.Err == "" {
		p.Log.Err = "The log cannot be read: " + err.Error()
	}
}

func (*wireLog) draws() (atOnce, calmly changeKinds) { return 0, everything }

func (s *wireLog) draw(p *painter, c changed) {
	if c.when == atOnce {
		return
	}
	p.replace("log-state", wirelog.State(s.status()))
	_, marked := s.marks.Marked() // read before the pins, so that a later mark is drawn again
	if c.when != atFirst && marked == s.marked {
		return
	}
	s.marked = marked
	rows, err := s.pins()
	if err != nil {
		p.logger.Error("drawing the pinned frames", "error", err)
		return
	}
	putList(p, rows, func(row wirelog.Row) string { return wirelog.PinID(row.Seq) }, wirelog.PinRow, "prepend", "pin-list")
}

// frameIn finds the number of the frame that a path names.
func frameIn(in *inspection.Inspection) func(echo.Context) (int64, error) {
	return numbered(func(n int) (int64, error) {
		if int64(n) > in.Log().Len() {
			return 0, echo.ErrNotFound
		}
		return int64(n), nil
	})
}

const rowsMost = 500

// rows answers with a window of the log: count rows from the 0-based position from on,
// of the frames that the filter selects and that come after since; with sort (took, or -took)
// those up to upto, once judged, by how long their exchanges took. Frames not judged yet are
// missing: the page asks again until X-Judged is X-Frames. X-View changes when rows may have
// moved. X-Near is the position of the frame near, or of the next one if it is not in the
// view. X-New is the number of rows after the frame after.
func (s *wireLog) rows(c echo.Context) error {
	from, err1 := queryNumber(c, "from", 0)
	count, err2 := queryNumber(c, "count", rowsMost)
	near, err3 := queryNumber(c, "near", 0)
	after, err4 := queryNumber(c, "after", 0)
	since, err5 := queryNumber(c, "since", 0)
	upTo, err6 := queryNumber(c, "upto", s.in.Log().Len())
	if err := cmp.Or(err1, err2, err3, err4, err5, err6); err != nil {
		return err
	}
	line := c.QueryParam("filter")
	view, err := s.filtered(c.Request().Context(), line)
	if err != nil {
		return misfiltered(c, line, err)
	}
	judged, hidden, total := view.Extent(since)
	_, _, fresh := view.Extent(max(after, since))
	list := view.View
	if sort := c.QueryParam("sort"); sort != "" {
		if list = new(query.View); judged >= upTo {
			list = view.Sorted(since, upTo, sort != "took")
		}
		hidden, total = 0, list.Len()
	}
	set := func(name string, n int64) { c.Response().Header().Set(name, strconv.FormatInt(n, 10)) }
	set("X-Total", total)
	set("X-Judged", judged)
	set("X-Frames", s.in.Log().Len())
	set("X-View", view.number)
	if after > 0 {
		set("X-New", fresh)
	}
	if near > 0 {
		place, in := list.Index(near)
		set("X-Near", max(0, place-hidden))
		c.Response().Header().Set("X-Near-Found", strconv.FormatBool(in && near > since))
	}
	rows, err := s.rowViews(list.Seqs(hidden+from, int(min(count, rowsMost, max(0, total-from)))))
	if err != nil {
		return err
	}
	for i := range rows {
		rows[i].Index = from + int64(i) + 1
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

func (s *wireLog) rowViews(seqs []int64) ([]wirelog.Row, error) {
	log := s.in.Log()
	window, err := log.Rows(seqs)
	if err != nil {
		return nil, err
	}
	places := map[string]int{} // of the servers
	for _, server := range s.in.Servers() {
		places[server.Label] = server.Index
	}
	_, total := log.Reading()
	asking := map[int64]bool{}
	for _, q := range s.in.OnShow(0) {
		asking[q.AskedSeq] = true
	}
	rows, start := make([]wirelog.Row, 0, len(window)), log.Head(1).Time
	for _, r := range window {
		row := wirelog.Row{Row: r, Index: r.Seq, Start: start, Since: s.since(&r), Findings: lint.TallyOf(foundIn(s.in, r.Seq)), Mark: s.marks.MarkOf(r.Seq), Polls: log.Polls(r.Seq)}
		row.ServerIndex = places[r.Server]
		row.Refused = log.Entry(r.Seq).RefusesProbe()
		row.Pending = r.Kind == wire.Request && r.Pair == 0 && r.Method != subscription && s.in.Waits(r.Seq, r.Session) && total == 0 // a request in a transcript waits for nothing
		if r.Kind == wire.Request && r.Pair != 0 {
			row.Ended, row.Refused = wirelog.EndedBy(log.Head(r.Pair)), log.Entry(r.Pair).RefusesProbe()
		}
		row.Asks = asking[r.Seq] && !row.Pending && total == 0
		rows = append(rows, row)
	}
	return rows, nil
}

// since returns when what a row ends began: the exchange, or for the next round of a call the
// wait for a person, if that is at most 5000 frames long.
func (s *wireLog) since(r *wire.Row) time.Time {
	for seq := r.Seq - 1; r.Kind == wire.Request && r.Actor == conversation.ByPerson && seq > max(0, r.Seq-5000); seq-- {
		if e := s.in.Log().Entry(seq); e.AsksInput && e.Rare().Call == uint32(r.Call) {
			return e.Time()
		}
	}
	return r.Time.Add(-r.Latency)
}

// of returns the rows of frames, nil for a number that no frame has.
func (s *wireLog) of(seqs ...int64) ([]*wirelog.Row, error) {
	out := make([]*wirelog.Row, len(seqs))
	rows, err := s.rowViews(seqs)
	for i := range rows {
		out[slices.Index(seqs, rows[i].Seq)] = &rows[i]
	}
	return out, err
}

// completion holds the completions of a filter line and its mistake. Positions in the
// line are counted in UTF-16 code units.
type completion struct {
	query.Completion
	Error *query.Error `json:"error,omitempty"`
	Meant string       `json:"meant,omitempty"` // see [query.Meant]
}

// complete answers with the completions of a filter line at a position, counted
// in UTF-16 code units.
func (s *wireLog) complete(c echo.Context) error {
	line := c.QueryParam("line")
	at, err := queryNumber(c, "at", int64(len(line)))
	if err != nil {
		return err
	}
	var rules []string
	for _, f := range s.in.Findings("") {
		rules = append(rules, f.Rule)
	}
	out := completion{Completion: query.Complete(s.in.Log(), line, query.ByteOffset(line, int(at)), rules), Meant: query.Meant(s.in.Log(), line, rules)}
	out.From, out.To = query.UTF16Offset(line, out.From), query.UTF16Offset(line, out.To)
	out.Items = append([]query.Candidate{}, out.Items...) // [] in JSON if it is empty
	_, err = query.Parse(line)
	out.Error = mistakeIn(line, err)
	return c.JSON(http.StatusOK, out)
}

func (s *wireLog) setMark(c echo.Context, n int64) error {
	if err := s.marks.Mark(n, wire.Mark{Pinned: c.FormValue("pinned") != "", Colour: c.FormValue("colour"), Note: c.FormValue("note")}); err != nil {
		return refused(http.StatusBadRequest, err)
	}
	s.stir()
	return nil
}

const pinsShown = 200

func (s *wireLog) pins() ([]wirelog.Row, error) {
	var pinned []int64
	marked, _ := s.marks.Marked()
	for _, seq := range marked {
		if s.marks.MarkOf(seq).Pinned && len(pinned) < pinsShown {
			pinned = append(pinned, seq)
		}
	}
	return s.rowViews(pinned)
}

// status returns the number of frames, their size and place, and a state by which a
// page can tell that findings or marks have changed and rows must be drawn again.
func (s *wireLog) status() wirelog.Status {
	log := s.in.Log()
	_, marks := s.marks.Marked()
	v := wirelog.Status{
		Frames: log.Len(), Kept: keptWords(log),
		State: fmt.Sprintf("%d.%d", s.in.FindingsKnown(), marks), Repeats: log.HasRepeats(),
	}
	if recording := s.recording.State(); recording.Err != nil {
		v.Err = "The recording has stopped. " + sentence(recording.Err)
	} else if recording.File != "" {
		v.File = filepath.Base(recording.File)
	}
	if err := log.Err(); err != nil {
		v.Err = "The log cannot be kept on disk: " + err.Error()
	}
	return v
}

// keptWords says how many bytes of the log are kept where; "" if none are.
func keptWords(log *wire.Log) string {
	stats := log.Stats()
	if stats.Bytes == 0 || stats.Where == "" {
		return ""
	}
	return wording.Size(stats.Bytes) + " in " + stats.Where
}

const (
	viewsKept = 8                     // each holds the numbers of its frames
	patience  = 80 * time.Millisecond // how long one request judges frames; then it answers with the rows found so far
)

// filters keeps the views of the filter lines that pages used last, so that returning
// to a filter takes no time.
type filters struct {
	mu   sync.Mutex
	kept []*filterView // the most recently used first
	made int64
}

type filterView struct {
	*query.View
	line   string
	number int64 // a new number for each view of the same line, because rows can move from one view to the next
	state  filterState
}

// filterState counts the findings and marks that a view was judged with. A view is made
// anew when they change.
type filterState struct {
	findings int
	marks    int64
}

// filtered returns the view of a filter line after at most patience. If that was too
// short to judge all frames, the next call continues. The error is a *query.Error if
// the line has a mistake.
func (s *wireLog) filtered(ctx context.Context, line string) (*filterView, error) {
	one, err := s.findView(line)
	if err != nil {
		return nil, err
	}
	short, stop := context.WithTimeout(ctx, patience)
	defer stop()
	err = one.Update(short)
	if short.Err() != nil {
		return one, ctx.Err()
	}
	return one, err
}

// findView returns the kept view of a filter line, or a new one.
func (s *wireLog) findView(line string) (*filterView, error) {
	filter, err := query.Parse(line)
	if err != nil {
		return nil, err
	}
	line = strings.TrimSpace(line)
	var state filterState
	if filter.UsesFindings() {
		state.findings = s.in.FindingsKnown()
	}
	if filter.UsesMarks() {
		_, state.marks = s.marks.Marked()
	}
	fresh := viewOf(s.in, filter)
	v := &s.filters
	v.mu.Lock()
	defer v.mu.Unlock()
	var one *filterView
	if i := slices.IndexFunc(v.kept, func(f *filterView) bool { return f.line == line }); i >= 0 {
		one = v.kept[i]
		v.kept = slices.Delete(v.kept, i, i+1)
	}
	if one == nil || one.state != state {
		v.made++
		one = &filterView{fresh, line, v.made, state}
	}
	v.kept = slices.Insert(v.kept, 0, one)
	v.kept = v.kept[:min(len(v.kept), viewsKept)]
	return one, nil
}

func viewOf(in *inspection.Inspection, f *query.Filter) *query.View {
	var rules func(seq int64) []string
	if f.UsesFindings() {
		rules = in.Rules()
	}
	return query.NewView(in.Log(), f, rules)
}

// mistakeIn returns the mistake in a filter line with offsets in UTF-16 code units, as
// JavaScript counts them. It returns nil for other errors.
func mistakeIn(line string, err error) *query.Error {
	var wrong *query.Error
	if !errors.As(err, &wrong) {
		return nil
	}
	return &query.Error{Pos: query.UTF16Offset(line, wrong.Pos), End: query.UTF16Offset(line, wrong.End), Text: wording.Sentence(wrong.Text)}
}
