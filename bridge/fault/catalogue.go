package fault

import (
	"encoding/json"
	"fmt"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/rawjson"
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
	late          = map[string]string{june: "Cancellation, Timing Considerations", november: "Cancellation, Timing Considerations"}
	shutdown      = map[string]string{june: "Lifecycle, Shutdown", november: "Lifecycle, Shutdown", july: "stdio, Shutdown"}
	disconnection = map[string]string{june: "Transports, Sending Messages to the Server", november: "Transports, Sending Messages to the Server"}
	sessions      = map[string]string{june: "Transports, Session Management", november: "Transports, Session Management", july: "Overview, Statelessness"}
	roundErrors   = map[string]string{july: "Multi Round-Trip Requests, Error Handling"}
	roundServer   = map[string]string{july: "Multi Round-Trip Requests, Server Requirements (Basic Workflow)"}
	roundClient   = map[string]string{july: "Multi Round-Trip Requests, Client Requirements (Basic Workflow)"}
	urlMode       = map[string]string{november: "Elicitation, URL Mode Elicitation Requests", july: "Elicitation, URL Mode Elicitation Requests"}
	taskStatus    = map[string]string{november: "Tasks, Task Status Lifecycle"}
	taskResult    = map[string]string{november: "Tasks, Result Retrieval", july: "Tasks Extension, Task Polling"}
	taskUpdate    = map[string]string{july: "Tasks Extension, Task Update Requests"}
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
	breaks("wrong-type", "Give a field another type", "Accepts with a value of a type that the schema does not allow for the field.", ofAnotherType),
	breaks("below-minimum", "Go below the minimum of a field", "Accepts with a number just below the field's minimum.", beyond("minimum", "exclusiveMinimum", -1)),
	breaks("above-maximum", "Go above the maximum of a field", "Accepts with a number just above the field's maximum.", beyond("maximum", "exclusiveMaximum", 1)),
	breaks("fraction", "Give a field a fraction", "Accepts with 1.5 where the schema asks for a whole number.", fraction),
	breaks("not-multiple", "Give a field no multiple of its step", "Accepts with half of what the number has to be a multiple of.", noMultiple),
	breaks("too-short", "Make a field too short", "Accepts with a text that is one character shorter than minLength.", tooShort),
	breaks("too-long", "Make a field too long", "Accepts with a text that is one character longer than maxLength.", tooLong),
	breaks("wrong-format", "Break the format of a field", "Accepts with a text that does not have the field's format.", misformatted),
	breaks("pattern-mismatch", "Break the pattern of a field", "Accepts with a text that the field's pattern does not match.", unmatched),
	breaks("not-in-enum", "Choose for a field what is not offered", "Accepts with a value that is not among the field's choices.", notInEnum),
	breaks("too-few-items", "Choose too few for a field", "Accepts with one choice fewer than minItems.", tooFew),
	breaks("too-many-items", "Choose too many for a field", "Accepts with one choice more than maxItems.", tooMany),
	{fits: (*Facts).formed, build: extra, Fault: Fault{
		Name: "extra-field", Group: Content, Title: "Add a field", Does: "Accepts with a field that the schema does not have.",
		Good: "It ignores or refuses the field, and never stores it unseen.", Section: formSecurity, Params: []string{"answer"},
	}},
	{fits: (*Facts).formed, build: instead(`{"action":"accept"}`), Fault: Fault{
		Name: "no-content", Group: Content, Title: "Leave content out", Does: "Accepts a form without content.",
		Good: "It notices that there is no content before it reads any of it.", Section: actions,
	}},
	{fits: (*Facts).formed, build: instead(`{"action":"accept","content":null}`), Fault: Fault{
		Name: "null-content", Group: Content, Title: "Send null as content", Does: "Accepts a form with content that is null.",
		Good: "It notices that there is no content before it reads any of it.", Section: actions,
	}},
	{fits: (*Facts).formed, build: instead(`{"action":"accept","content":["not","an","object"]}`), Fault: Fault{
		Name: "array-content", Group: Content, Title: "Send an array as content", Does: "Accepts a form with content that is a list and no object.",
		Good: "It refuses content that is not an object, and says so.", Section: actions,
	}},
	{fits: (*Facts).elicits, build: given(accept), Fault: Fault{
		Name: "given-content", Group: Content, Title: "Send the content that stands in the JSON tab", Does: "Accepts with exactly the content that you have written, unchecked.",
		Good: "It checks the content against its schema, and uses none of it where it does not fit.", Section: formSecurity, Params: []string{"json"},
	}},

	{fits: (*Facts).elicits, build: acting(`"action":"perhaps"`, nil), Fault: Fault{
		Name: "unknown-action", Group: Result, Title: "Send an unknown action", Does: "Answers with the action “perhaps”, and with valid content.",
		Good: "It treats everything but accept as a refusal, and does nothing that needs consent.", Section: actions, Params: []string{"answer"},
	}},
	{fits: (*Facts).elicits, build: acting("", nil), Fault: Fault{
		Name: "no-action", Group: Result, Title: "Send no action", Does: "Answers with valid content, and no action.",
		Good: "It treats everything but accept as a refusal, and does nothing that needs consent.", Section: actions, Params: []string{"answer"},
	}},
	{fits: (*Facts).elicits, build: withContent("decline"), Fault: Fault{
		Name: "decline-with-content", Group: Result, Title: "Decline with content", Does: "Declines, and sends valid content along.",
		Good: "It goes by the action alone, and does not look at the content.", Section: actions, Params: []string{"answer"},
	}},
	{fits: (*Facts).elicits, build: withContent("cancel"), Fault: Fault{
		Name: "cancel-with-content", Group: Result, Title: "Cancel with content", Does: "Cancels, and sends valid content along.",
		Good: "It goes by the action alone, and does not look at the content.", Section: actions, Params: []string{"answer"},
	}},
	{fits: (*Facts).answers, build: instead(`null`), Fault: Fault{
		Name: "null-result", Group: Result, Title: "Send null as the result", Does: "Answers with a result that is null.",
		Good: "It treats the answer as an error, and stays alive.", Section: resultAnswers,
	}},
	{fits: (*Facts).answers, build: instead(`"accept"`), Fault: Fault{
		Name: "string-result", Group: Result, Title: "Send a string as the result", Does: "Answers with a result that is the string “accept”.",
		Good: "It treats the answer as an error, and stays alive.", Section: resultAnswers,
	}},
	{fits: (*Facts).answers, build: given(func(result json.RawMessage) json.RawMessage { return result }), Fault: Fault{
		Name: "given-result", Group: Result, Title: "Send the JSON tab as the whole result", Does: "Answers with exactly the result that you have written, unchecked.",
		Good: "It checks the result before it uses any of it.", Section: actions, Params: []string{"json"},
	}},

	fails("method-not-found", "Say that the method is not found", "Method not found", mcp.CodeMethodNotFound),
	fails("invalid-params", "Say that the params are invalid", "Invalid params", mcp.CodeInvalidParams),
	fails("internal-error", "Say that the client failed", "Internal error", mcp.CodeInternalError),
	fails("request-cancelled", "Say that the request is cancelled", "Request cancelled", codeRequestCancelled),
	fails("any-error", "Send any error", "Deliberate error", mcp.CodeServerError, "code", "message", "data"),

	{fits: (*Facts).messages, build: cut, Fault: Fault{
		Name: "invalid-json", Group: Bytes, Title: "Send invalid JSON", Does: "Sends the answer without its last brace.",
		Good: "It answers with a parse error (-32700) and a null id, or ignores the bytes, and goes on serving.", Section: map[string]string{june: "Transports, stdio", november: "Transports, stdio", july: "Multi Round-Trip Requests, Error Handling"}, Params: []string{"answer"},
	}},
	{fits: (*Facts).responds, build: underID(otherID), Fault: Fault{
		Name: "wrong-id", Group: Bytes, Title: "Send a wrong id", Does: "Answers under an id that the server has not used.",
		Good: "It ignores a response that it did not ask for, and goes on waiting, though not for ever.", Section: resultAnswers, Params: []string{"answer"},
	}},
	{fits: (*Facts).responds, build: underID(retypedID), Fault: Fault{
		Name: "retyped-id", Group: Bytes, Title: "Send the id as another type", Does: "Answers under the same id, as a string in place of a number or the other way round.",
		Good: "It ignores a response with an id that is not its own, and goes on waiting, though not for ever.", Section: resultAnswers, Params: []string{"answer"},
	}},
	{fits: (*Facts).messages, build: twice, Fault: Fault{
		Name: "response-twice", Group: Bytes, Title: "Send the same answer twice", Does: "Sends the answer, and the same bytes again at once.",
		Good: "It takes the first and ignores the second.", Section: resultAnswers, Params: []string{"answer"},
	}},
	{fits: (*Facts).responds, build: changeOfMind, Fault: Fault{
		Name: "cancel-then-accept", Group: Bytes, Title: "Cancel, then accept", Does: "Answers with cancel, and then accepts under the same id.",
		Good: "It takes the first answer and ignores the second.", Section: resultAnswers, Params: []string{"answer"},
	}},
	{fits: (*Facts).cancels, build: after(Step{Do: CancelCall}, Step{Do: Wait, Time: untilCancelled}), late: true, Fault: Fault{
		Name: "response-after-cancel", Group: Bytes, Title: "Cancel the call, then answer", Does: "Cancels the call that asks, and answers its question after that.",
		Good: "It stops the call when it is cancelled, and ignores the answer.", Section: map[string]string{june: "Cancellation, Behavior Requirements", november: "Cancellation, Behavior Requirements"}, Params: []string{"answer"},
	}},
	{fits: (*Facts).messages, build: slowly(2), Fault: Fault{
		Name: "half-then-rest", Group: Bytes, Title: "Send half a message, then the rest", Does: "Writes the first half of the answer, waits 2 seconds (or as many as you say), and writes the rest.",
		Good: "It waits for the whole message, and serves others meanwhile.", Section: map[string]string{june: "Transports, stdio", november: "Transports, stdio", july: "stdio, Sending Messages"}, Params: []string{"seconds", "answer"},
	}},
	{fits: (*Facts).responds, build: after(Step{Do: AwaitWithdrawal}), late: true, Fault: Fault{
		Name: "answer-withdrawn", Group: Bytes, Title: "Answer once the question is withdrawn", Does: "Waits until the server takes the question back or its call is over, and answers then.",
		Good: "It ignores an answer that it has given up waiting for.", Section: late, Params: []string{"answer"},
	}},

	{fits: (*Facts).answers, build: delayed, Fault: Fault{
		Name: "late", Group: Time, Title: "Answer late", Does: "Answers after 30 seconds, or as many as you say.",
		Good: "It waits as long as a person may take, or gives up after a limit of its own, cancels the request and says so.", Section: timeouts, Params: []string{"seconds", "answer"},
	}},
	{fits: (*Facts).answers, build: never, Fault: Fault{
		Name: "never", Group: Time, Title: "Never answer", Does: "Sends nothing at all.",
		Good: "It gives up after a limit of its own, cancels the request, and ends the call with an error.", Section: timeouts,
	}},
	{fits: (*Facts).messages, build: slowly(EachByte), Fault: Fault{
		Name: "byte-by-byte", Group: Time, Title: "Send one byte at a time", Does: "Writes the answer one byte at a time, over 2 seconds or as many as you say.",
		Good: "It waits for the whole message, and serves others meanwhile.", Section: map[string]string{june: "Transports, stdio", november: "Transports, stdio", july: "stdio, Sending Messages"}, Params: []string{"seconds", "answer"},
	}},

	{fits: (*Facts).always, build: does(CloseConnection), Fault: Fault{
		Name: "close-connection", Group: Connection, Title: "Close the connection", Does: "Closes the process's input, or all HTTP connections without ending the session, and sends no answer.",
		Good: "A process exits soon. An HTTP server takes it for no cancellation, and lets go of what nobody comes back for.", Section: shutdown,
	}},
	{fits: (*Facts).process, build: does(Kill), Fault: Fault{
		Name: "kill-process", Group: Connection, Title: "Kill the process", Does: "Kills the server's process while the question waits.",
		Good: "It leaves nothing behind that is half done, and starts again without repair.", Section: map[string]string{july: "stdio, Unexpected Termination"},
	}},
	{fits: (*Facts).streams, build: after(Step{Do: DropStream}), Fault: Fault{
		Name: "drop-stream", Group: Connection, Title: "Drop the stream, then answer", Does: "Closes the HTTP stream that carried the question, and posts the answer after that.",
		Good: "It does not take that for a cancellation: it uses the answer, and keeps the result for a client that comes back for it.", Section: disconnection, Params: []string{"answer"},
	}},
	{fits: (*Facts).renews, build: newSession, Fault: Fault{
		Name: "new-session", Group: Connection, Title: "Start a new session", Does: "Ends the session without an answer and starts another one. A round is answered in the new session.",
		Good: "It lets go of the question. It takes the answer of a round in any session, or refuses its state and says so.", Section: sessions, Params: []string{"answer"},
	}},

	{fits: (*Facts).inRound, build: func(b *builder) error { b.retry(); return nil }, Fault: Fault{
		Name: "missing-key", Group: Round, Title: "Leave the key out", Does: "Makes the call again without this answer in inputResponses.",
		Good: "It asks again for what is missing, in a new input-required result.", Section: roundErrors,
	}},
	{fits: (*Facts).inRound, build: retrying(func(r *Retry) { r.Extra = extraMember }), Fault: Fault{
		Name: "extra-key", Group: Round, Title: "Add a key", Does: "Makes the call again with an answer that nothing asked for in inputResponses.",
		Good: "It ignores what it did not ask for.", Section: roundErrors, Params: []string{"answer"},
	}},
	tampers("changed-state", "Change requestState", "Makes the call again with one character of requestState changed.",
		"It notices that the state is not its own, and refuses it with an error.", (*Facts).stateful, changedState(func(length int) int { return length / 2 })),
	tampers("changed-state-start", "Change the start of requestState", "Makes the call again with the first character of requestState changed.",
		"It notices that the state is not its own, and refuses it with an error.", (*Facts).stateful, changedState(func(int) int { return 0 })),
	tampers("changed-state-end", "Change the end of requestState", "Makes the call again with the last character of requestState changed.",
		"It notices that the state is not its own, and refuses it with an error.", (*Facts).stateful, changedState(func(length int) int { return length - 1 })),
	tampers("changed-state-inside", "Change a value inside requestState", "Makes the call again with another value in the JSON of requestState, also where that is in base64.",
		"It notices that the state is not its own, and refuses it with an error.", (*Facts).readable, forgedState, "field"),
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
	{fits: (*Facts).elsewhere, build: otherTool, Fault: Fault{
		Name: "other-tool", Group: Round, Title: "Send the answer to another tool", Does: "Calls another tool with this answer and this requestState.",
		Good: "It refuses a state that belongs to another request.", Section: roundServer, Params: []string{"tool", "answer"},
	}},
	{fits: (*Facts).inRound, build: retrying(func(r *Retry) { r.SameID = true }), Fault: Fault{
		Name: "same-id", Group: Round, Title: "Use the same id again", Does: "Makes the call again under the JSON-RPC id of the request before.",
		Good: "It refuses the request, or serves it like any other: the one before is over.", Section: roundClient, Params: []string{"answer"},
	}},

	{fits: (*Facts).visits, build: instead(`{"action":"accept"}`), Fault: Fault{
		Name: "accept-unopened", Group: URL, Title: "Accept without opening", Does: "Accepts, though nobody opens the URL.",
		Good: "It takes the answer for consent only, and waits for what happens at the URL, though not for ever.", Section: urlMode,
	}},
	{fits: (*Facts).visits, build: withContent("accept"), Fault: Fault{
		Name: "accept-with-content", Group: URL, Title: "Accept with content", Does: "Accepts a URL with content, which only a form has.",
		Good: "It ignores the content.", Section: actions,
	}},
	{fits: (*Facts).retries, build: retrying(func(r *Retry) { r.AtOnce = true }), Fault: Fault{
		Name: "retry-before-completion", Group: URL, Title: "Retry before completion", Does: "Accepts, and makes the call again at once, before anything can have happened at the URL.",
		Good: "It asks for the same URL again, and does not go on.", Section: urlRequired,
	}},
	{fits: (*Facts).retries, build: never, Fault: Fault{
		Name: "never-retry", Group: URL, Title: "Never retry", Does: "Accepts, and never makes the call again.",
		Good: "It keeps nothing that only a retry would free.", Section: map[string]string{november: "Elicitation, URL Elicitation Required Error", july: "Multi Round-Trip Requests, Server Requirements (Basic Workflow)"},
	}},

	{fits: (*Facts).inTask, build: func(b *builder) error { b.honest(); b.step(*b.last()); return nil }, Fault: Fault{
		Name: "update-twice", Group: Task, Title: "Update the task twice", Does: "Sends the answer with tasks/update, and the same answer again with another one.",
		Good: "It takes the first and ignores the second.", Section: taskUpdate, Params: []string{"answer"},
	}},
	{fits: (*Facts).inTask, build: func(b *builder) error {
		b.honest()
		b.last().Raw = withMember(b.last().Raw, extraMember[0].Name, extraMember[0].Value)
		return nil
	}, Fault: Fault{
		Name: "unknown-update-key", Group: Task, Title: "Update the task with an unknown key", Does: "Sends the answer with tasks/update, and with it an answer that nothing asked for.",
		Good: "It ignores what it did not ask for, and uses the answer.", Section: taskUpdate, Params: []string{"answer"},
	}},
	{fits: (*Facts).ofTask, build: before(Step{Do: LeaveTask}), Fault: Fault{
		Name: "result-never-fetched", Group: Task, Title: "Never fetch the result", Does: "Answers, and asks neither for the task nor for its result again.",
		Good: "It ends the task all the same, and forgets it when its ttl has passed.", Section: taskResult, Params: []string{"answer"},
	}},
	{fits: (*Facts).ofTask, build: before(Step{Do: CancelTask}), Fault: Fault{
		Name: "cancel-after-answer", Group: Task, Title: "Answer, then cancel the task", Does: "Sends the answer, and tasks/cancel at once after it.",
		Good: "It cancels the task, or lets it end and says so: never both.", Section: map[string]string{november: "Tasks, Task Cancellation", july: "Tasks Extension, Task Cancellation"}, Params: []string{"answer"},
	}},
	{fits: (*Facts).ofTask, build: after(Step{Do: PollTask, Times: stormOf}), Fault: Fault{
		Name: "poll-storm", Group: Task, Title: "Ask for the task without a pause", Does: "Sends tasks/get a hundred times at once, whatever pollInterval is, and then answers.",
		Good: "It tells the same of the task each time or refuses with an error, and goes on serving.", Section: map[string]string{november: "Tasks, Getting Tasks", july: "Tasks Extension, Task Polling"}, Params: []string{"answer"},
	}},
	{fits: (*Facts).isTask, build: wavering(Step{Do: TellStatus, Status: "completed"}, Step{Do: TellStatus, Status: "working"}), Fault: Fault{
		Name: "status-backwards", Group: Task, Title: "Let the status go backwards", Does: "Says that the task is completed, then that it is working, and gives the answer after 3 seconds, or as many as you say.",
		Good: "It takes no status after the end of a task, and ends the call in either case.", Section: taskStatus, Params: []string{"seconds", "answer"},
	}},
	{fits: (*Facts).isTask, build: wavering(Step{Do: GiveResult}), Fault: Fault{
		Name: "result-before-completed", Group: Task, Title: "Give the result before the end", Does: "Answers tasks/result while the task still requires input, and says that it is completed 3 seconds later, or as many as you say.",
		Good: "It uses the result, or waits for the status, and asks for neither without end.", Section: taskResult, Params: []string{"seconds", "answer"},
	}},
	{fits: (*Facts).isTask, build: does(ForgetTask), Fault: Fault{
		Name: "task-forgotten", Group: Task, Title: "Forget the task", Does: "Answers every request about the task with the error -32602, as if its id were unknown.",
		Good: "It takes the question for unanswered, and ends the call with an error.", Section: map[string]string{november: "Tasks, Protocol Errors"},
	}},
}

// stormOf is the number of requests in a storm of tasks/get.
const stormOf = 100

var extraMember = []Member{{"unexpected", json.RawMessage(`{"action":"accept","content":{}}`)}}

// codeRequestCancelled is the code for cancelled requests in the Language Server
// Protocol.
const codeRequestCancelled = -32800

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
