package web

import (
	"strconv"

	"github.com/labstack/echo/v4"
)

// route registers the endpoints. Each is behind the guard.
func (s *Server) route(e *echo.Echo) {
	e.GET("/", s.page)                      // query tool=NAME (prompt, resource, template) with args and server, question=N or call=N choose what it shows; or server, kind, key, which are valid in this run
	e.GET("/live", s.live)                  // websocket that pushes changes; query since=N resumes
	e.GET("/static/:name", s.static)        // style sheet, scripts, icons
	e.GET("/texts/:digest", s.text)         // a text that the page has cut, or with from a piece of it; query as of the page
	e.GET("/findings.json", s.findingsJSON) // findings of all servers, or of one (query server=ID), for other programs

	e.GET("/middle", s.showMiddle) // the middle of the page; query as of the page

	// The form of one item; query server, kind, key. The form is posted to most endpoints.
	e.GET("/form/choices", of(s.named, s.formChoices))   // choices of a field; query as above, field, search, from, count, near
	e.POST("/form/preview", of(s.posted, s.formPreview)) // the JSON of the form's values
	e.POST("/form/tab", of(s.posted, s.formTab))
	e.POST("/form/reset", of(s.posted, s.formReset)) // reset a field to its default
	e.POST("/form/link", of(s.posted, s.formLink))   // the query of the address that leads to it
	e.POST("/calls", of(s.posted, s.beginCall))
	e.POST("/calls/begin", of(s.named, s.beginCall)) // with the arguments that its form starts with

	e.GET("/calls/:n", s.showCall)
	e.GET("/calls/:n/steps", of(s.call, s.callSteps))   // the whole timeline
	e.GET("/calls/:n/parts/:i", of(s.call, s.part))     // the bytes of an image or audio block in its result
	e.GET("/calls/:n/ladder", of(s.call, s.callLadder)) // as a sequence diagram; query as=svg or mermaid saves it
	e.POST("/calls/:n/stop", act(number, s.in.Stop))
	e.POST("/calls/:n/retry", of(number, s.retryCall)) // make a waiting call again now, or at an interval; every
	e.POST("/calls/:n/repeat", of(number, s.repeatCall))
	e.POST("/calls/:n/again", of(number, s.callAgain))

	e.GET("/questions", s.moreQuestions)                              // questions that a page lacks; query have, the numbers of those that it has
	e.GET("/questions/:n/past", of(s.question, s.past))               // all details of a settled question
	e.GET("/questions/:n/choices", of(s.question, s.questionChoices)) // choices of a field; query field, search, from, count, near
	e.POST("/questions/:n/draft", of(s.typed, s.draft))               // keep the draft; answers with its JSON
	e.POST("/questions/:n/tab", of(s.typed, s.questionTab))
	e.POST("/questions/:n/reset", of(s.typed, s.resetField))
	e.POST("/questions/:n/answer", of(s.question, s.answer))                                                         // accept, decline or cancel
	e.GET("/questions/:n/faults", of(s.question, s.faults))                                                          // the faults that apply to it
	e.POST("/questions/:n/misbehave", of(s.question, s.misbehave))                                                   // answer with a fault: fault, field and its parameters
	e.POST("/questions/:n/again", of(number, s.again))                                                               // repeat an answer
	e.GET("/questions/:n/copy/:form", of(s.question, s.copiedQuestion))                                              // an elicitation as text: markdown, call, or code for go-sdk, mcp-go, typescript, python
	e.GET("/palette", s.palette)                                                                                     // what the command palette leads to; query search
	e.GET("/ledger", s.ledger)                                                                                       // all questions of the run; query sort, filter
	e.POST("/questions/:n/app", of(s.question, s.readApp))                                                           // read the resource of the app that would draw it
	e.POST("/questions/:n/complete", act(number, func(n int) error { _, err := s.in.MarkCompleted(n); return err })) // mark a URL as done

	e.POST("/servers", s.putServer)                          // connect to another server: address, name, headers, env, dir; only with --allow-add
	e.GET("/servers/:id/edit", s.editServer)                 // the same fields of a server that was added
	e.POST("/servers/:id/edit", s.putServer)                 // change them, and reconnect
	e.POST("/servers/:id/remove", s.removeServer)            // remove a server that was added
	e.GET("/servers/:id/findings", of(s.server, s.findings)) // all findings of a server
	e.GET("/servers/:id/items", of(s.server, s.items))       // a window of its catalog; query shelf, search, from, count
	e.POST("/servers/:id/reconnect", act(serverID, s.in.Reconnect))
	e.POST("/servers/:id/disconnect", s.disconnect)
	e.POST("/servers/:id/settings", of(s.server, s.settings)) // how the client presents itself; reconnects
	e.POST("/servers/:id/remembered", s.remembered)           // the revision that the browser remembers for it; empty to forget it
	e.POST("/servers/:id/policy", s.policy)                   // the policy for its questions
	e.POST("/servers/:id/held", s.held)                       // show or decline questions held back
	e.POST("/servers/:id/compare", of(s.server, s.compare))   // its catalog with and without elicitation

	e.POST("/recording/start", s.startRecording) // start a recording: name, fresh
	e.POST("/recording/stop", s.stopRecording)

	e.GET("/answers.yaml", s.answersFile) // the answers so far, as a script
	e.POST("/script/load", s.loadScript)  // load a script that answers further questions: text
	e.POST("/script/unload", func(c echo.Context) error { s.in.AnswerBy(nil); return done(c, nil) })

	routeSignIns(e, s.in)
	e.GET("/servers/:id/signin/ladder", of(s.server, s.latestSignIn)) // like that of a call

	// Checks of one item. The form of the item is posted to see its check.
	e.GET("/check", of(s.named, s.openCheck))
	e.POST("/check", of(s.posted, s.openCheck)) // what the latest has found; anew: what another would do
	e.POST("/check/start", of(s.named, s.startCheck))
	e.POST("/checks/:n/stop", act(number, func(n int) error { return checkError(s.lab.Stop(n)) }))
	e.GET("/checks/:n/behaviours/:name", of(s.checkOf, s.checkTrials))
	e.GET("/checks/:n/trials/:trial", of(s.checkOf, s.checkExchange)) // the frames of a trial
	e.GET("/checks/:n/report.html", of(s.checkOf, saveReport("html", "text/html; charset=utf-8")))
	e.GET("/checks/:n/report.json", of(s.checkOf, saveReport("json", "application/json")))

	e.GET("/wire/rows", s.rows)                                 // a window of the log; query filter, since, from, count, near, time
	e.GET("/wire/complete", s.completeFilter)                   // completions and mistake of a filter line; query line, at
	e.GET("/wire/frames/:n", of(s.seqOf, s.frame))              // details of a frame; query against compares it with another
	e.GET("/wire/frames/:n/raw", of(s.seqOf, s.raw))            // its exact bytes
	e.GET("/wire/frames/:n/:of", of(s.seqOf, s.more))           // of it drawn: more, of its bytes; nodes, of its JSON; string, of a string in it
	e.GET("/wire/frames/:n/copy/:form", of(s.seqOf, s.copied))  // the frame as text: raw, pretty, line, curl
	e.POST("/wire/frames/:n/mark", of(s.seqOf, s.mark))         // set its mark: pinned, colour, note
	e.GET("/wire/frames/:n/ladder", of(s.seqOf, s.frameLadder)) // the sequence diagram of its call, like that of a call
	e.GET("/wire.jsonl", s.selected(s.transcript))              // the transcript so far; query filter
	e.GET("/export/:format", s.selected(s.exported))            // the log as a document: html, markdown, mermaid, har, json; query filter
}

// of makes a handler that first finds the object of a request, such as a question.
func of[T any](find func(echo.Context) (T, error), handle func(echo.Context, T) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		one, err := find(c)
		if err != nil {
			return err
		}
		return handle(c, one)
	}
}

// act makes a handler that does something with the object of a request. Pushes draw the
// outcome.
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
