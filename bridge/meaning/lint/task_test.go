package lint_test

import (
	"fmt"
	"strings"
)

// The messages of the tests about tasks. Those of 2026-07-28 have names with an X, for
// extension.
const (
	taskHello   = `> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{"form":{}},"tasks":{"requests":{"elicitation":{"create":{}}}}}}}`
	taskWelcome = `< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tasks":{"cancel":{},"requests":{"tools":{"call":{}}}}}}}`
	taskCall    = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","task":{"ttl":60000}}}`
	fetched     = `< {"jsonrpc":"2.0","id":5,"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}}`
	related     = `< {"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}}`
	taskAsked   = `< {"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"task":{"ttl":60000},"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}`

	metaX     = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	discoverX = `> {"jsonrpc":"2.0","id":0,"method":"server/discover","params":{` + metaX + `}}`
	foundX    = `< {"jsonrpc":"2.0","id":0,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}},"ttlMs":0,"cacheScope":"private"}}`
	callX     = `> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask",` + metaX + `}}`
	times     = `"createdAt":"2026-09-01T12:00:00Z","lastUpdatedAt":"2026-09-01T12:00:00Z"`
)

// taskTold is the result of a request about a task of 2025-11-25, or with "task" its creation.
func taskTold(way string, id int, result, status string) string {
	task := fmt.Sprintf(`{"taskId":"t1","status":%q,%s,"ttl":60000,"pollInterval":100}`, status, times)
	if result == "task" {
		task = `{"task":` + task + `}`
	}
	return fmt.Sprintf(`%s {"jsonrpc":"2.0","id":%d,"result":%s}`, way, id, task)
}

// about is a request about a task.
func about(way string, id int, method, more string) string {
	return fmt.Sprintf(`%s {"jsonrpc":"2.0","id":%d,"method":"tasks/%s","params":{"taskId":"t1"%s}}`, way, id, method, more)
}

// toldX is a result with the task of 2026-07-28, with further members.
func toldX(id int, kind, status, more string) string {
	return fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"resultType":%q,"taskId":"t1","status":%q,%s,"ttlMs":60000%s}}`, id, kind, status, times, more)
}

// inputsX are the inputRequests of a task: a question with a message.
func inputsX(message string) string {
	return fmt.Sprintf(`,"inputRequests":{"q":{"method":"elicitation/create","params":{"mode":"form","message":%q,"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}}}`, message)
}

func init() {
	made, made2 := taskTold("<", 1, "task", "working"), taskTold("<", 2, "task", "working")
	get, polled := about(">", 5, "get", ""), func(status string) string { return taskTold("<", 5, "", status) }
	notified := `< {"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t1","status":"working",` + times + `,"ttl":null}}`
	madeX, getX := toldX(1, "task", "working", ""), about(">", 5, "get", ","+metaX)
	updateX := func(id int, key string) string {
		return about(">", id, "update", `,"inputResponses":{"`+key+`":{"action":"decline"}},`+metaX)
	}
	withoutX := strings.Replace(callX, `,"extensions":{"io.modelcontextprotocol/tasks":{}}`, "", 1)
	type sequence = struct {
		steps []string
		want  string
	}
	for name, s := range map[string]sequence{
		"a call as a task": {[]string{taskHello, taskWelcome, taskCall, made, get, polled("working"), about(">", 6, "get", ""), taskTold("<", 6, "", "input_required"),
			about(">", 15, "result", ""), related, answer(`{"action":"accept","content":{"name":"Ann"}}`), notified, strings.Replace(fetched, `"id":5`, `"id":15`, 1)}, ""},
		"a task that is told of first":            {[]string{taskHello, taskWelcome, taskCall, notified, made}, ""},
		"a task that is told of at its end first": {[]string{taskHello, taskWelcome, taskCall, strings.Replace(notified, "working", "completed", 1), made}, ""},
		"a task without times":                    {[]string{taskHello, taskWelcome, taskCall, strings.Replace(made, `"createdAt"`, `"created"`, 1)}, "4 task-malformed"},
		"a task without ttl":                      {[]string{taskHello, taskWelcome, taskCall, strings.Replace(made, `"ttl":60000,`, ``, 1)}, "4 task-malformed"},
		"a task that never lives":                 {[]string{taskHello, taskWelcome, taskCall, strings.Replace(made, `"ttl":60000,`, `"ttl":-1,`, 1)}, "4 task-malformed"},
		"a task kept for a text":                  {[]string{taskHello, taskWelcome, taskCall, strings.Replace(made, `"ttl":60000,`, `"ttl":"1m",`, 1)}, "4 task-malformed"},
		"a task that dances":                      {[]string{taskHello, taskWelcome, taskCall, made, get, polled("dancing")}, "6 task-malformed"},
		"a task with a number as id":              {[]string{taskHello, taskWelcome, taskCall, strings.Replace(made, `"t1"`, `1`, 1)}, "4 task-malformed"},
		"a task that is a text":                   {[]string{taskHello, taskWelcome, taskCall, made, get, `< {"jsonrpc":"2.0","id":5,"result":{"taskId":"t1","status":[]}}`}, "6 task-malformed 6 task-malformed 6 task-malformed 6 task-malformed"},
		"two tasks of one id":                     {[]string{taskHello, taskWelcome, taskCall, made, strings.Replace(taskCall, `"id":1`, `"id":2`, 1), made2}, "6 task-id-again"},
		"a task that begins at its end":           {[]string{taskHello, taskWelcome, taskCall, taskTold("<", 1, "task", "completed")}, "4 task-begins-otherwise"},
		"a task that wakes up":                    {[]string{taskHello, taskWelcome, taskCall, made, get, polled("completed"), notified}, "7 task-goes-back"},
		"a task that was overtaken by its end":    {[]string{taskHello, taskWelcome, taskCall, made, get, strings.Replace(notified, "working", "completed", 1), strings.Replace(polled("working"), `"lastUpdatedAt":"20`, `"lastUpdatedAt":"19`, 1)}, ""},
		"a task that is told of on two streams":   {[]string{taskHello, taskWelcome, taskCall, made, get, polled("completed") + ` "stream":"post"`, notified + ` "stream":"get-sse"`}, ""},
		"another task":                            {[]string{taskHello, taskWelcome, taskCall, made, get, strings.Replace(polled("working"), "t1", "t2", 1)}, "6 task-other"},
		"a task that nobody asked for":            {[]string{taskHello, taskWelcome, call, made}, "4 task-unasked"},
		"a task that is not declared":             {[]string{taskHello, welcome, taskCall, made}, "4 task-undeclared"},
		"a call that is no task":                  {[]string{taskHello, taskWelcome, taskCall, done}, "4 task-not-made"},
		"a task cancelled":                        {[]string{taskHello, taskWelcome, taskCall, made, about(">", 5, "cancel", ""), polled("cancelled")}, ""},
		"a task that goes on":                     {[]string{taskHello, taskWelcome, taskCall, made, about(">", 5, "cancel", ""), polled("working")}, "6 task-not-cancelled"},
		"a result that names no task":             {[]string{taskHello, taskWelcome, taskCall, made, about(">", 5, "result", ""), `< {"jsonrpc":"2.0","id":5,"result":{"content":[]}}`}, "6 related-task-missing"},
		"a question of no task":                   {[]string{taskHello, taskWelcome, call, related}, "4 related-task-unknown"},
		"a question before its task":              {[]string{taskHello, taskWelcome, taskCall, related, made}, ""},
		"a question of an earlier task":           {[]string{taskHello, taskWelcome, about(">", 5, "result", ""), related, answer(`{"action":"decline"}`), fetched}, ""},
		"a question as a task":                    {[]string{taskHello, taskWelcome, call, taskAsked, taskTold(">", 7, "task", "working"), about("<", 8, "result", ""), strings.Replace(strings.Replace(fetched, `"content":[]`, `"action":"decline"`, 1), `< {"jsonrpc":"2.0","id":5`, `> {"jsonrpc":"2.0","id":8`, 1), done}, ""},
		"a question as a task, undeclared":        {[]string{hello, welcome, call, taskAsked}, "4 question-task-undeclared"},

		"a task since 2026-07-28": {[]string{discoverX, foundX, callX, madeX, getX, toldX(5, "complete", "input_required", inputsX("Who?")), about(">", 6, "get", ","+metaX), toldX(6, "complete", "input_required", inputsX("Who?")),
			updateX(15, "q"), `< {"jsonrpc":"2.0","id":15,"result":{"resultType":"complete"}}`, about(">", 16, "get", ","+metaX), toldX(16, "complete", "completed", `,"result":{"content":[]}`)}, ""},
		"a task with an old ttl":              {[]string{discoverX, foundX, callX, strings.Replace(madeX, "ttlMs", "ttl", 1)}, "4 task-malformed"},
		"a task for nobody":                   {[]string{discoverX, foundX, withoutX, madeX}, "4 task-unasked"},
		"a task of who has none":              {[]string{discoverX, found, callX, madeX}, "4 task-undeclared"},
		"a task that begins at once":          {[]string{discoverX, foundX, callX, toldX(1, "task", "completed", "")}, ""},
		"a task without its result":           {[]string{discoverX, foundX, callX, madeX, getX, toldX(5, "complete", "completed", "")}, "6 task-payload-missing"},
		"a task that failed without an error": {[]string{discoverX, foundX, callX, madeX, getX, toldX(5, "complete", "failed", "")}, "6 task-payload-missing"},
		"a task that waits for nothing":       {[]string{discoverX, foundX, callX, madeX, getX, toldX(5, "complete", "input_required", "")}, "6 task-payload-missing"},
		"a key for two questions":             {[]string{discoverX, foundX, callX, madeX, getX, toldX(5, "complete", "input_required", inputsX("Who?")), about(">", 6, "get", ","+metaX), toldX(6, "complete", "input_required", inputsX("When?"))}, "8 task-key-again"},
		"tasks refused":                       {[]string{discoverX, foundX, callX, `< {"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"no","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`}, "4 task-capability-refused"},
		"tasks required":                      {[]string{discoverX, foundX, withoutX, `< {"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"no","data":{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`}, ""},
	} {
		sequences[name] = s
	}

	asked := []string{taskHello, taskWelcome, call, taskAsked, taskTold(">", 7, "task", "working")}
	after := func(steps ...string) []string { return append(asked[:5:5], steps...) }
	ours := func(id int, members string) string {
		return fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"result":{%s,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}}`, id, members)
	}
	waits := toldX(5, "complete", "input_required", inputsX("Who?"))
	for name, s := range map[string]sequence{
		"a question as a task": {after(about("<", 8, "get", ""), taskTold(">", 8, "", "input_required"), about("<", 9, "result", ""), ours(9, `"action":"accept","content":{"name":"Ann"}`),
			`> {"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t1","status":"completed",`+times+`,"ttl":null}}`), ""},
		"a question as a task, answered wrongly":   {after(about("<", 9, "result", ""), ours(9, `"action":"accept","content":{"name":1}`)), "7 answer-invalid"},
		"a task of the client's without times":     {append(asked[:4:4], strings.Replace(asked[4], `"createdAt"`, `"created"`, 1)), "5 client-task-malformed"},
		"a task of the client's that has begun":    {append(asked[:4:4], taskTold(">", 7, "task", "input_required")), "5 client-task-begins-otherwise"},
		"a task of the client's that wakes up":     {after(about("<", 8, "get", ""), taskTold(">", 8, "", "completed"), about("<", 9, "get", ""), taskTold(">", 9, "", "working")), "9 client-task-goes-back"},
		"two tasks of the client's of one id":      {after(strings.Replace(taskAsked, `"id":7`, `"id":8`, 1), taskTold(">", 8, "task", "working")), "7 client-task-id-again"},
		"a task for an ordinary question":          {[]string{taskHello, taskWelcome, call, plain, asked[4]}, "5 client-task-unasked"},
		"an answer that names no task":             {after(about("<", 9, "result", ""), `> {"jsonrpc":"2.0","id":9,"result":{"action":"decline"}}`), "7 client-related-task-missing"},
		"a call as a task of who has none":         {[]string{taskHello, welcome, taskCall}, "3 task-call-undeclared"},
		"an input that the task did not ask for":   {[]string{discoverX, foundX, callX, madeX, getX, waits, updateX(6, "p")}, "7 task-input-unknown"},
		"an input that the task has been given":    {[]string{discoverX, foundX, callX, madeX, getX, waits, updateX(6, "q"), updateX(8, "q")}, "8 task-input-again"},
		"an input of a task of another session":    {[]string{discoverX, foundX, updateX(6, "q")}, ""},
		"an input of 2026-07-28 that is asked for": {[]string{discoverX, foundX, callX, madeX, getX, waits, updateX(6, "q")}, ""},
	} {
		clientSequences[name] = s
	}
}
