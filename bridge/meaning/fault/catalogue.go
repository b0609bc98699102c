package fault

import (
	"encoding/json"
	"fmt"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
)

const (
	june     = mcp.Revision20250618
	november = mcp.Revision20251125
	july     = mcp.Revision20260728
)

// The sections of the specification that say how a good server behaves, by revision.
var (
	formSecurity  = map[string]string{june: "Elicitation, Security Considerations", november: "Elicitation, Form Mode Security", july: "Elicitation, Form Mode Security"}
	actions       = map[string]string{june: "Elicitation, Response Actions", november: "Elicitation, Response Actions", july: "Elicitation, Response Actions"}
	errorAnswers  = map[string]string{june: "Overview, Responses", november: "Overview, Error Responses"}
	resultAnswers = map[string]string{june: "Overview, Responses", november: "Overview, Result Responses"}
	timeouts      = map[string]string{june: "Lifecycle, Timeouts", november: "Lifecycle, Timeouts"}
	lateAnswers   = map[string]string{june: "Cancellation, Timing Considerations", november: "Cancellation, Timing Considerations"}
	shutdown      = map[string]string{june: "Lifecycle, Shutdown", november: "Lifecycle, Shutdown", july: "stdio, Shutdown"}
	stdioMessages = map[string]string{june: "Transports, stdio", november: "Transports, stdio", july: "stdio, Sending Messages"}
	disconnection = map[string]string{june: "Transports, Sending Messages to the Server", november: "Transports, Sending Messages to the Server"}
	sessions      = map[string]string{june: "Transports, Session Management", november: "Transports, Session Management", july: "Overview, Statelessness"}
	roundErrors   = map[string]string{july: "Multi Round-Trip Requests, Error Handling"}
	roundServer   = map[string]string{july: "Multi Round-Trip Requests, Server Requirements (Basic Workflow)"}
	roundClient   = map[string]string{july: "Multi Round-Trip Requests, Client Requirements (Basic Workflow)"}
	urlMode       = map[string]string{november: "Elicitation, URL Mode Elicitation Requests", july: "Elicitation, URL Mode Elicitation Requests"}
	taskStatus    = map[string]string{november: "Tasks, Task Status Lifecycle"}
	taskResult    = map[string]string{november: "Tasks, Result Retrieval", july: "Tasks Extension, Task Polling"}
	taskUpdate    = map[string]string{july: "Tasks Extension, Task Update Requests"}
	fileChecks    = map[string]string{june: "SEP-2356, a draft, Server-side validation", november: "SEP-2356, a draft, Server-side validation", july: "SEP-2356, a draft, Server-side validation"}
	urlRequired   = map[string]string{november: "Elicitation, URL Elicitation Required Error", july: "Elicitation, URL Mode Flow"}
)

// Conditions on the question or connection that faults require.
func (f *Facts) elicits() bool   { return f.Request != nil && f.Via != elicit.InError }
func (f *Facts) answers() bool   { return f.Via != elicit.InError }
func (f *Facts) formed() bool    { return f.form() && f.answers() }
func (f *Facts) always() bool    { return true }
func (f *Facts) process() bool   { return f.Transport == "stdio" }
func (f *Facts) cancels() bool   { return f.responds() && f.InCall }
func (f *Facts) streams() bool   { return f.responds() && f.Transport == "http" && f.Streamed }
func (f *Facts) stateful() bool  { return f.inRound() && f.State != nil }
func (f *Facts) readable() bool  { return f.stateful() && len(StateValues(f.State)) > 0 }
func (f *Facts) repeats() bool   { return f.stateful() && f.Earlier != nil }
func (f *Facts) elsewhere() bool { return f.inRound() && len(f.Others) > 0 }
func (f *Facts) visits() bool    { return f.url() && f.answers() }
func (f *Facts) retries() bool   { return f.url() && (f.inRound() || f.Via == elicit.InError) }
func (f *Facts) messages() bool  { return f.responds() || f.inRound() }
func (f *Facts) renews() bool    { return f.Via != elicit.InTask && !f.OwnTask }
func (f *Facts) fails() bool     { return f.Via == elicit.ByRequest }
func (f *Facts) inTask() bool    { return f.Via == elicit.InTask }
func (f *Facts) ofTask() bool    { return f.Task != "" && (f.inTask() || f.Via == elicit.ByRequest) }
func (f *Facts) isTask() bool    { return f.OwnTask }

// catalogue lists every fault in the order in which it is offered.
var catalogue = []entry{
	{fields: func(f elicit.Field) bool { return f.Required }, fits: (*Facts).hasFields, build: missing, Fault: Fault{
		Name: "missing-field", Group: Content, Title: "Leave a field out", Does: "Accepts without a field that the schema requires.",
		Good: "It checks the content against its schema, and says what is missing or asks again.", Section: formSecurity, Params: []string{"field", "answer"},
	}},
	breaks(elicit.WrongType, "Give a field another type", "Accepts with a value of a type that the schema does not allow for the field."),
	breaks(elicit.BelowMinimum, "Go below the minimum of a field", "Accepts with a number just below the field's minimum."),
	breaks(elicit.AboveMaximum, "Go above the maximum of a field", "Accepts with a number just above the field's maximum."),
	breaks(elicit.Fraction, "Give a field a fraction", "Accepts with 1.5 where the schema asks for a whole number."),
	breaks(elicit.NumberAsText, "Give the number of a field as a text", "Accepts with a text of digits where the schema asks for a number."),
	breaks(elicit.NotMultiple, "Give a field no multiple of its step", "Accepts with half of what the number has to be a multiple of."),
	breaks(elicit.TooShort, "Make a field too short", "Accepts with a text that is one character shorter than minLength."),
	breaks(elicit.TooLong, "Make a field too long", "Accepts with a text that is one character longer than maxLength."),
	breaks(elicit.WrongFormat, "Break the format of a field", "Accepts with a text that does not have the field's format."),
	breaks(elicit.PatternMismatch, "Break the pattern of a field", "Accepts with a text that the field's pattern does not match."),
	breaks(elicit.NotInEnum, "Choose for a field what is not offered", "Accepts with a value that is not among the field's choices."),
	breaks(elicit.TooFewItems, "Choose too few for a field", "Accepts with one choice fewer than minItems."),
	breaks(elicit.TooManyItems, "Choose too many for a field", "Accepts with one choice more than maxItems."),
	misbehaves(Content, "extra-field", "Add a field", "Accepts with a field that the schema does not have.",
		"It ignores or refuses the field, and never stores it unseen.", formSecurity, (*Facts).formed, extra, "answer"),
	misbehaves(Content, "no-content", "Leave content out", "Accepts a form without content.",
		"It notices that there is no content before it reads any of it.", actions, (*Facts).formed, instead(`{"action":"accept"}`)),
	misbehaves(Content, "null-content", "Send null as content", "Accepts a form with content that is null.",
		"It notices that there is no content before it reads any of it.", actions, (*Facts).formed, instead(`{"action":"accept","content":null}`)),
	misbehaves(Content, "array-content", "Send an array as content", "Accepts a form with content that is a list and no object.",
		"It refuses content that is not an object, and says so.", actions, (*Facts).formed, instead(`{"action":"accept","content":["not","an","object"]}`)),
	misbehaves(Content, "given-content", "Send the content that stands in the JSON tab", "Accepts with exactly the content that you have written, unchecked.",
		"It checks the content against its schema, and uses none of it where it does not fit.", formSecurity, (*Facts).elicits, given(accept), "json"),

	spoilsFile(elicit.OtherScheme, "Give another address than data: for a file", "Accepts with an https address where x-mcp-file asks for a data: URI.", "It refuses every scheme but data:, and fetches nothing."),
	spoilsFile(elicit.FileTooLarge, "Give too large a file", "Accepts with a file that is larger than its maxSize.", "It refuses the file before it does anything with it, and says how large it may be."),
	spoilsFile(elicit.TypeNotAccepted, "Give a file of another type", "Accepts with a file of the type application/x-made-up, which its accept does not list.", "It compares the type with its own list, and refuses the file."),
	spoilsFile(elicit.LyingType, "Give a file under a false type", "Accepts with a file whose bytes are not what its type says: text as image/png, or a PNG as anything else.", "It looks at the bytes before it does anything by the type."),

	misbehaves(Result, "unknown-action", "Send an unknown action", "Answers with the action “perhaps”, and with valid content.",
		"It treats everything but accept as a refusal, and does nothing that needs consent.", actions, (*Facts).elicits, acting(`"action":"perhaps"`, nil), "answer"),
	misbehaves(Result, "no-action", "Send no action", "Answers with valid content, and no action.",
		"It treats everything but accept as a refusal, and does nothing that needs consent.", actions, (*Facts).elicits, acting("", nil), "answer"),
	misbehaves(Result, "decline-with-content", "Decline with content", "Declines, and sends valid content along.",
		"It goes by the action alone, and does not look at the content.", actions, (*Facts).elicits, withContent("decline"), "answer"),
	misbehaves(Result, "cancel-with-content", "Cancel with content", "Cancels, and sends valid content along.",
		"It goes by the action alone, and does not look at the content.", actions, (*Facts).elicits, withContent("cancel"), "answer"),
	misbehaves(Result, "null-result", "Send null as the result", "Answers with a result that is null.",
		"It treats the answer as an error, and stays alive.", resultAnswers, (*Facts).answers, instead(`null`)),
	misbehaves(Result, "string-result", "Send a string as the result", "Answers with a result that is the string “accept”.",
		"It treats the answer as an error, and stays alive.", resultAnswers, (*Facts).answers, instead(`"accept"`)),
	misbehaves(Result, "given-result", "Send the JSON tab as the whole result", "Answers with exactly the result that you have written, unchecked.",
		"It checks the result before it uses any of it.", actions, (*Facts).answers, given(func(result json.RawMessage) json.RawMessage { return result }), "json"),

	fails("method-not-found", "Say that the method is not found", "Method not found", mcp.CodeMethodNotFound),
	fails("invalid-params", "Say that the params are invalid", "Invalid params", mcp.CodeInvalidParams),
	fails("internal-error", "Say that the client failed", "Internal error", mcp.CodeInternalError),
	fails("request-cancelled", "Say that the request is cancelled", "Request cancelled", codeRequestCancelled),
	fails("any-error", "Send any error", "Deliberate error", mcp.CodeServerError, "code", "message", "data"),

	misbehaves(Bytes, "invalid-json", "Send invalid JSON", "Sends the answer without its last brace.",
		"It answers with a parse error (-32700) and a null id, or ignores the bytes, and goes on serving.", map[string]string{june: "Transports, stdio", november: "Transports, stdio", july: "Multi Round-Trip Requests, Error Handling"}, (*Facts).messages, cut, "answer"),
	misbehaves(Bytes, "wrong-id", "Send a wrong id", "Answers under an id that the server has not used.",
		"It ignores a response that it did not ask for, and goes on waiting, though not for ever.", resultAnswers, (*Facts).responds, underID(otherID), "answer"),
	misbehaves(Bytes, "retyped-id", "Send the id as another type", "Answers under the same id, as a string in place of a number or the other way round.",
		"It ignores a response with an id that is not its own, and goes on waiting, though not for ever.", resultAnswers, (*Facts).responds, underID(retypedID), "answer"),
	misbehaves(Bytes, "response-twice", "Send the same answer twice", "Sends the answer, and the same bytes again at once.",
		"It takes the first and ignores the second.", resultAnswers, (*Facts).messages, twice, "answer"),
	misbehaves(Bytes, "cancel-then-accept", "Cancel, then accept", "Answers with cancel, and then accepts under the same id.",
		"It takes the first answer and ignores the second.", resultAnswers, (*Facts).responds, changeOfMind, "answer"),
	late(misbehaves(Bytes, "response-after-cancel", "Cancel the call, then answer", "Cancels the call that asks, and answers its question after that.",
		"It stops the call when it is cancelled, and ignores the answer.", map[string]string{june: "Cancellation, Behavior Requirements", november: "Cancellation, Behavior Requirements"}, (*Facts).cancels, after(Step{Do: CancelCall}, Step{Do: Wait, Time: untilCancelled}), "answer")),
	misbehaves(Bytes, "half-then-rest", "Send half a message, then the rest", "Writes the first half of the answer, waits 2 seconds (or as many as you say), and writes the rest.",
		"It waits for the whole message, and serves others meanwhile.", stdioMessages, (*Facts).messages, slowly(2), "seconds", "answer"),
	late(misbehaves(Bytes, "answer-withdrawn", "Answer once the question is withdrawn", "Waits until the server takes the question back or its call is over, and answers then.",
		"It ignores an answer that it has given up waiting for.", lateAnswers, (*Facts).responds, after(Step{Do: AwaitWithdrawal}), "answer")),

	misbehaves(Time, "late", "Answer late", "Answers after 30 seconds, or as many as you say.",
		"It waits as long as a person may take, or gives up after a limit of its own, cancels the request and says so.", timeouts, (*Facts).answers, delayed, "seconds", "answer"),
	misbehaves(Time, "never", "Never answer", "Sends nothing at all.",
		"It gives up after a limit of its own, cancels the request, and ends the call with an error.", timeouts, (*Facts).answers, never),
	misbehaves(Time, "byte-by-byte", "Send one byte at a time", "Writes the answer one byte at a time, over 2 seconds or as many as you say.",
		"It waits for the whole message, and serves others meanwhile.", stdioMessages, (*Facts).messages, slowly(EachByte), "seconds", "answer"),

	misbehaves(Connection, "close-connection", "Close the connection", "Closes the process's input, or all HTTP connections without ending the session, and sends no answer.",
		"A process exits soon. An HTTP server takes it for no cancellation, and lets go of what nobody comes back for.", shutdown, (*Facts).always, does(CloseConnection)),
	misbehaves(Connection, "kill-process", "Kill the process", "Kills the server's process while the question waits.",
		"It leaves nothing behind that is half done, and starts again without repair.", map[string]string{july: "stdio, Unexpected Termination"}, (*Facts).process, does(Kill)),
	misbehaves(Connection, "drop-stream", "Drop the stream, then answer", "Closes the HTTP stream that carried the question, and posts the answer after that.",
		"It does not take that for a cancellation: it uses the answer, and keeps the result for a client that comes back for it.", disconnection, (*Facts).streams, after(Step{Do: DropStream}), "answer"),
	misbehaves(Connection, "new-session", "Start a new session", "Ends the session without an answer and starts another one. A round is answered in the new session.",
		"It lets go of the question. It takes the answer of a round in any session, or refuses its state and says so.", sessions, (*Facts).renews, newSession, "answer"),

	misbehaves(Round, "missing-key", "Leave the key out", "Makes the call again without this answer in inputResponses.",
		"It asks again for what is missing, in a new input-required result.", roundErrors, (*Facts).inRound, func(b *builder) error {
			if r := b.retry(); b.JSON != nil {
				r.ChangeState, r.State = true, b.JSON
			}
			return nil
		}, "json"),
	misbehaves(Round, "extra-key", "Add a key", "Makes the call again with an answer that nothing asked for in inputResponses.",
		"It ignores what it did not ask for.", roundErrors, (*Facts).inRound, retrying(func(r *Retry) { r.Extra = extraMember }), "answer"),
	tampers("changed-state", "Change requestState", "Makes the call again with one character of requestState changed.",
		"It notices that the state is not its own, and refuses it with an error.", (*Facts).stateful, changedState(func(length int) int { return length / 2 })),
	tampers("changed-state-start", "Change the start of requestState", "Makes the call again with the first character of requestState changed.",
		"It notices that the state is not its own, and refuses it with an error.", (*Facts).stateful, changedState(func(int) int { return 0 })),
	tampers("changed-state-end", "Change the end of requestState", "Makes the call again with the last character of requestState changed.",
		"It notices that the state is not its own, and refuses it with an error.", (*Facts).stateful, changedState(func(length int) int { return length - 1 })),
	tampers("changed-state-inside", "Change a value inside requestState", "Makes the call again with another value in the JSON of requestState, also where that is in base64.",
		"It notices that the state is not its own, and refuses it with an error.", (*Facts).readable, forgedState, "field", "json"),
	tampers("invented-state", "Invent requestState", "Makes the call again with a requestState that the server never made.",
		"It notices that the state is not its own, and refuses it with an error.", (*Facts).inRound, func(b *builder) (json.RawMessage, error) {
			if b.JSON == nil {
				return rawjson.Quoted("invented-by-the-client"), nil
			}
			return b.given()
		}, "json"),
	tampers("no-state", "Leave requestState out", "Makes the call again without the requestState that came with the question.",
		"It begins again, or refuses the call: it never takes the answer for one to another question.", (*Facts).stateful, func(*builder) (json.RawMessage, error) { return nil, nil }),
	tampers("earlier-state", "Send the state of an earlier round", "Makes the call again with the requestState of an earlier round.",
		"It refuses a state that was used, or answers as it did then: nothing is done twice.", (*Facts).repeats, func(b *builder) (json.RawMessage, error) { return b.Earlier, nil }),
	misbehaves(Round, "other-tool", "Send the answer to another tool", "Calls another tool with this answer and this requestState.",
		"It refuses a state that belongs to another request.", roundServer, (*Facts).elsewhere, otherTool, "tool", "answer"),
	misbehaves(Round, "same-id", "Use the same id again", "Makes the call again under the JSON-RPC id of the request before.",
		"It refuses the request, or serves it like any other: the one before is over.", roundClient, (*Facts).inRound, retrying(func(r *Retry) { r.SameID = true }), "answer"),

	misbehaves(URL, "accept-unopened", "Accept without opening", "Accepts, though nobody opens the URL.",
		"It takes the answer for consent only, and waits for what happens at the URL, though not for ever.", urlMode, (*Facts).visits, instead(`{"action":"accept"}`)),
	misbehaves(URL, "accept-with-content", "Accept with content", "Accepts a URL with content, which only a form has.",
		"It ignores the content.", actions, (*Facts).visits, withContent("accept")),
	misbehaves(URL, "retry-before-completion", "Retry before completion", "Accepts, and makes the call again at once, before anything can have happened at the URL.",
		"It asks for the same URL again, and does not go on.", urlRequired, (*Facts).retries, retrying(func(r *Retry) { r.AtOnce = true })),
	misbehaves(URL, "never-retry", "Never retry", "Accepts, and never makes the call again.",
		"It keeps nothing that only a retry would free.", map[string]string{november: "Elicitation, URL Elicitation Required Error", july: "Multi Round-Trip Requests, Server Requirements (Basic Workflow)"}, (*Facts).retries, never),

	misbehaves(Task, "update-twice", "Update the task twice", "Sends the answer with tasks/update, and the same answer again with another one.",
		"It takes the first and ignores the second.", taskUpdate, (*Facts).inTask, twice, "answer"),
	{fits: (*Facts).inTask, build: func(b *builder) error {
		b.honest()
		b.last().Raw = withMember(b.last().Raw, extraMember[0].Name, extraMember[0].Value)
		return nil
	}, Fault: Fault{
		Name: "unknown-update-key", Group: Task, Title: "Update the task with an unknown key", Does: "Sends the answer with tasks/update, and with it an answer that nothing asked for.",
		Good: "It ignores what it did not ask for, and uses the answer.", Section: taskUpdate, Params: []string{"answer"},
	}},
	misbehaves(Task, "result-never-fetched", "Never fetch the result", "Answers, and asks neither for the task nor for its result again.",
		"It ends the task all the same, and forgets it when its ttl has passed.", taskResult, (*Facts).ofTask, before(Step{Do: LeaveTask}), "answer"),
	misbehaves(Task, "cancel-after-answer", "Answer, then cancel the task", "Sends the answer, and tasks/cancel at once after it.",
		"It cancels the task, or lets it end and says so: never both.", map[string]string{november: "Tasks, Task Cancellation", july: "Tasks Extension, Task Cancellation"}, (*Facts).ofTask, before(Step{Do: CancelTask}), "answer"),
	misbehaves(Task, "poll-storm", "Ask for the task without a pause", "Sends tasks/get a hundred times at once, whatever pollInterval is, and then answers.",
		"It tells the same of the task each time or refuses with an error, and goes on serving.", map[string]string{november: "Tasks, Getting Tasks", july: "Tasks Extension, Task Polling"}, (*Facts).ofTask, after(Step{Do: PollTask, Times: stormOf}), "answer"),
	misbehaves(Task, "status-backwards", "Let the status go backwards", "Says that the task is completed, then that it is working, and gives the answer after 3 seconds, or as many as you say.",
		"It takes no status after the end of a task, and ends the call in either case.", taskStatus, (*Facts).isTask, wavering(Step{Do: TellStatus, Status: "completed"}, Step{Do: TellStatus, Status: "working"}), "seconds", "answer"),
	misbehaves(Task, "result-before-completed", "Give the result before the end", "Answers tasks/result while the task still requires input, and says that it is completed 3 seconds later, or as many as you say.",
		"It uses the result, or waits for the status, and asks for neither without end.", taskResult, (*Facts).isTask, wavering(Step{Do: GiveResult}), "seconds", "answer"),
	misbehaves(Task, "task-forgotten", "Forget the task", "Answers every request about the task with the error -32602, as if its id were unknown.",
		"It takes the question for unanswered, and ends the call with an error.", map[string]string{november: "Tasks, Protocol Errors"}, (*Facts).isTask, does(ForgetTask)),
}

// stormOf is the number of requests in a storm of tasks/get.
const stormOf = 100

var extraMember = []Member{{"unexpected", json.RawMessage(`{"action":"accept","content":{}}`)}}

// codeRequestCancelled is the code for cancelled requests in the Language Server
// Protocol.
const codeRequestCancelled = -32800

// misbehaves returns the entry of a fault that is not about a field. good says how a good
// server reacts, and section where the specification says so.
func misbehaves(group Group, name, title, does, good string, section map[string]string, fits func(*Facts) bool, build func(*builder) error, params ...string) entry {
	return entry{Fault: Fault{Name: name, Group: group, Title: title, Does: does, Good: good, Section: section, Params: params}, fits: fits, build: build}
}

// late marks an entry whose fault answers after the end of the question's call.
func late(e entry) entry {
	e.late = true
	return e
}

func fails(name, title, message string, code int64, params ...string) entry {
	return entry{
		Fault: Fault{
			Name: name, Group: Error, Title: title, Does: fmt.Sprintf("Answers with the error %d.", code),
			Good: "It ends the call with an error of its own or goes on without the answer, and stays alive.", Section: errorAnswers, Params: params,
		},
		fits: (*Facts).fails,
		build: func(b *builder) error {
			code, message := code, message
			if b.Params.Code != nil {
				code = *b.Params.Code
			}
			if b.Params.Message != nil {
				message = *b.Params.Message
			}
			object := fmt.Appendf(nil, `{"code":%d,"message":%s}`, code, rawjson.Quoted(message))
			if len(b.Data) > 0 {
				if rawjson.Check(b.Data) != nil {
					return errData
				}
				object = withMember(object, "data", b.Data)
			}
			do := Send
			if b.OwnTask {
				b.step(Step{Do: TellStatus, Status: "failed"})
				do = GiveResult
			}
			b.step(Step{Do: do, Raw: response(b.ID, "error", object)})
			return nil
		},
	}
}

func tampers(name, title, does, good string, fits func(*Facts) bool, state func(*builder) (json.RawMessage, error), params ...string) entry {
	return entry{
		Fault: Fault{Name: name, Group: Round, Title: title, Does: does, Good: good, Section: roundServer, Params: append(params, "answer")},
		fits:  fits,
		build: func(b *builder) (err error) {
			b.honest()
			r := b.retry()
			r.ChangeState = true
			r.State, err = state(b)
			return err
		},
	}
}
