package web

import (
	"strconv"

	"github.com/labstack/echo/v4"
)

// route registers the endpoints. Each is behind the guard.
func (s *Server) route(e *echo.Echo) {
	e.GET("/", s.page)                      // query call=N or server, kind, key choose what it shows
	e.GET("/live", s.live)                  // websocket that pushes what changes; query since=N resumes
	e.GET("/static/:name", s.static)        // style sheet, scripts, icons
	e.GET("/texts/:digest", s.text)         // a text that the page has cut, or with from the piece there; query as of the page
	e.GET("/findings.json", s.findingsJSON) // what the linter says of every server, or of one (query server=ID), for other programs

	// One item ready to be called; query server, kind, key. Its form is posted to the others.
	e.GET("/form", of(s.named, s.showForm))
	e.GET("/form/choices", of(s.named, s.formChoices))   // of one of its fields; query as above, field, search, from, count, near
	e.POST("/form/preview", of(s.posted, s.formPreview)) // the JSON that it amounts to
	e.POST("/form/tab", of(s.posted, s.formTab))
	e.POST("/form/reset", of(s.posted, s.formReset)) // a field back to its default
	e.POST("/calls", of(s.posted, s.beginCall))

	e.GET("/calls/:n", s.showCall)
	e.GET("/calls/:n/steps", of(s.call, s.callSteps))   // all of its timeline
	e.GET("/calls/:n/parts/:i", of(s.call, s.part))     // the bytes of an image or audio block in its result
	e.GET("/calls/:n/ladder", of(s.call, s.callLadder)) // as a sequence diagram; query as=svg or mermaid saves it
	e.POST("/calls/:n/stop", act(number, s.in.Stop))
	e.POST("/calls/:n/retry", of(number, s.retryCall)) // go on with what there is, or by the clock
	e.POST("/calls/:n/repeat", of(number, s.repeatCall))
	e.POST("/calls/:n/again", of(number, s.callAgain))

	e.GET("/questions", s.moreQuestions)                              // those that a page lacks; query have, the numbers of those that it has
	e.GET("/questions/:n/past", of(s.question, s.past))               // all that is known of one that is settled
	e.GET("/questions/:n/choices", of(s.question, s.questionChoices)) // of one field; query field, search, from, count, near
	e.POST("/questions/:n/draft", of(s.typed, s.draft))               // keep what is typed; says what it amounts to
	e.POST("/questions/:n/tab", of(s.typed, s.questionTab))
	e.POST("/questions/:n/reset", of(s.typed, s.resetField))
	e.POST("/questions/:n/answer", of(s.question, s.answer))       // accept, decline or cancel
	e.GET("/questions/:n/faults", of(s.question, s.faults))        // the ways in which it can be answered wrongly on purpose
	e.POST("/questions/:n/misbehave", of(s.question, s.misbehave)) // fault, field and its parameters
	e.POST("/questions/:n/again", of(number, s.again))             // give an answer once more
	e.GET("/ledger", s.ledger)                                     // all questions of the run; query sort, filter
	e.POST("/questions/:n/complete", act(number, s.complete))      // the person's word that a URL is done

	e.GET("/servers/:id/findings", of(s.server, s.findings)) // all that the linter says of it
	e.GET("/servers/:id/items", of(s.server, s.items))       // a window of what it offers; query shelf, search, from, count
	e.POST("/servers/:id/reconnect", act(serverID, s.in.Reconnect))
	e.POST("/servers/:id/disconnect", s.disconnect)
	e.POST("/servers/:id/settings", of(s.server, s.settings)) // how the client presents itself; connects anew
	e.POST("/servers/:id/remembered", s.remembered)           // the revision that the browser remembers of it; none to forget it
	e.POST("/servers/:id/policy", s.policy)                   // what becomes of its questions
	e.POST("/servers/:id/held", s.held)                       // show or decline what is held back
	e.POST("/servers/:id/compare", of(s.server, s.compare))   // what it offers with and without a capability

	e.POST("/recording/start", s.startRecording) // write frames to a transcript from now on: name, fresh
	e.POST("/recording/stop", s.stopRecording)

	e.GET("/answers.yaml", s.answersFile) // the answers so far, as a script
	e.POST("/script/load", s.loadScript)  // have a script answer further questions: text
	e.POST("/script/unload", s.unloadScript)

	e.GET("/wire/rows", s.rows)                                 // the window of the log; query filter, since, from, count, near, time
	e.GET("/wire/complete", s.completeFilter)                   // how a filter line can go on, and what is wrong in it; query line, at
	e.GET("/wire/frames/:n", of(s.seqOf, s.frame))              // query against compares it with another
	e.GET("/wire/frames/:n/raw", of(s.seqOf, s.raw))            // its exact bytes
	e.GET("/wire/frames/:n/more", of(s.seqOf, s.rawMore))       // more of its bytes, to be drawn
	e.GET("/wire/frames/:n/nodes", of(s.seqOf, s.nodes))        // more of its JSON
	e.GET("/wire/frames/:n/string", of(s.seqOf, s.stringMore))  // more of a string in it
	e.GET("/wire/frames/:n/copy/:form", of(s.seqOf, s.copied))  // it as text: raw, pretty, line, curl
	e.POST("/wire/frames/:n/mark", of(s.seqOf, s.mark))         // pin, colour and note it
	e.GET("/wire/frames/:n/ladder", of(s.seqOf, s.frameLadder)) // its exchange as a sequence diagram, as of a call
	e.GET("/wire.jsonl", s.transcript)                          // the transcript so far; query filter
}

// of finds what a request is about before it is handled.
func of[T any](find func(echo.Context) (T, error), handle func(echo.Context, T) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		one, err := find(c)
		if err != nil {
			return err
		}
		return handle(c, one)
	}
}

// act does something with what a request is about. What comes of it is pushed.
func act[T any](find func(echo.Context) (T, error), do func(T) error) echo.HandlerFunc {
	return of(find, func(c echo.Context, one T) error { return done(c, do(one)) })
}

// number reads the path parameter n, which counts from 1.
func number(c echo.Context) (int, error) {
	n, err := strconv.Atoi(c.Param("n"))
	if err != nil || n < 1 {
		return 0, echo.ErrNotFound
	}
	return n, nil
}
