package web

import (
	"context"

	"elicitation-inspector/bridge"
	"elicitation-inspector/views"
)

// wholeFindings are what the linter says of all of a transcript, while a replay
// knows it of the exchanges that it shows. Looking for them takes seconds where
// the transcript is long, and is begun when somebody asks.
type wholeFindings struct {
	begun bool
	all   []bridge.Found           // nil until they are known
	at    map[int64][]bridge.Found // by frame
}

// allFindings are what filters go by: of a transcript that of all of it, as soon
// as it is known.
func (s *Server) allFindings() []bridge.Found {
	if s.stage != nil {
		if all := s.stage.findings(); all != nil {
			return all
		}
	}
	return s.in.Findings("")
}

// findingsKnown counts them. It is another number when there are others.
func (s *Server) findingsKnown() int {
	n := len(s.in.Findings(""))
	if s.stage != nil {
		s.stage.mu.Lock()
		defer s.stage.mu.Unlock()
		n += len(s.stage.whole.all)
	}
	return n
}

// found is what the linter says of one frame.
func (s *Server) found(seq int64) []bridge.Found {
	found := s.in.Found(seq)
	if len(found) > 0 || s.stage == nil {
		return found
	}
	s.stage.mu.Lock()
	defer s.stage.mu.Unlock()
	return s.stage.whole.at[seq]
}

// findings are those of the whole transcript, nil if they are not known yet.
func (st *Stage) findings() []bridge.Found {
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.whole.begun && st.ctx != nil {
		st.whole.begun = true
		st.running.Go(func() { st.lint(st.ctx) })
	}
	return st.whole.all
}

// lint finds them, and tells the pages.
func (st *Stage) lint(ctx context.Context) {
	source := st.config.Player.Source()
	if err := source.Wait(ctx); err != nil {
		return // the page says what is wrong with the files
	}
	list, _, err := bridge.LintLog(ctx, source)
	if err != nil {
		if ctx.Err() == nil {
			st.config.Logger.Error("looking for findings in a transcript", "error", err)
		}
		return
	}
	all, at := make([]bridge.Found, 0, len(list)), make(map[int64][]bridge.Found)
	for _, f := range list {
		// The numbers are not those of the replays, which leave out what is not shown.
		f.Call, f.Question = 0, 0
		all, at[f.Seq] = append(all, f), append(at[f.Seq], f)
	}
	st.mu.Lock()
	st.whole.all, st.whole.at = all, at
	s := st.server
	st.mu.Unlock()
	ch, err := replace(ctx, "log-status", views.LogStatusView(s.logStatus()))
	if err != nil {
		st.config.Logger.Error("drawing the log's state", "error", err)
		return
	}
	s.hub.publish([]change{ch})
}
