package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
)

// tool is the entry of a tool in tools/list, and its behaviour.
type tool struct {
	name   string
	listed string // exact JSON
	run    func(s *server, c *call)
}

// pageSize keeps the pages of tools/list short, so that tests notice a client that
// reads only the first.
const pageSize = 4

var builtin = []tool{
	{name: "ask", listed: `{"name":"ask","description":"Asks one question.","inputSchema":{"type":"object"}}`, run: ask(oneQuestion)},
	{name: "ask_three", listed: `{"name":"ask_three","description":"Asks three questions at once.","inputSchema":{"type":"object"}}`, run: askThree},
	{name: "wait", listed: `{"name":"wait","description":"Runs until it is stopped.","inputSchema":{"type":"object"}}`, run: waitForEnd},
	{name: "flood", listed: `{"name":"flood","description":"Waits for an order, then logs as fast as it can.","inputSchema":{"type":"object","properties":{"messages":{"type":"integer","default":10000}},"required":["messages"]}}`, run: flood},
	{name: "echo", listed: `{"name":"echo","description":"Gives back the arguments as they came.","inputSchema":` + echoSchema + `}`, run: echo},
	{name: "progress", listed: `{"name":"progress","description":"Reports a third at each order.","inputSchema":{"type":"object"}}`, run: progress},
	{name: "is_error", listed: `{"name":"is_error","inputSchema":{"type":"object"}}`, run: func(s *server, c *call) {
		s.reply(c.id, `{"content":[{"type":"text","text":"the disk is full"}],"isError":true}`)
	}},
	{name: "rpc_error", listed: `{"name":"rpc_error","inputSchema":{"type":"object"}}`, run: func(s *server, c *call) {
		s.fail(c.id, -32602, "no such account", `{"account":"42-17","hint":"see the <b>list</b>"}`)
	}},
	{name: "parts", listed: `{"name":"parts","inputSchema":{"type":"object"}}`, run: func(s *server, c *call) { s.reply(c.id, parts) }},
	{name: "hostile", listed: `{"name":"hostile","title":` + quote(hostileTitle) + `,"description":` + quote(Hostile) + `,"inputSchema":{"type":"object"}}`, run: hostile},
	{name: "large", listed: `{"name":"large","description":"A result of one MiB.","inputSchema":{"type":"object"}}`, run: func(s *server, c *call) {
		s.reply(c.id, `{"content":[{"type":"text","text":"`+strings.Repeat("0123456789abcdef", 1<<16)+`"}]}`)
	}},
}

const extraTool = `{"name":"late_arrival","description":"Was not there before.","inputSchema":{"type":"object"}}`

const oneQuestion = `{"mode":"form","message":"Who signs the release?","requestedSchema":{"type":"object","properties":{"signer":{"type":"string","title":"Signer","description":"As in the list of maintainers","maxLength":40},"urgent":{"type":"boolean","title":"Urgent"}},"required":["signer"]}}`

const echoSchema = `{"type":"object","properties":{"title":{"type":"string","title":"Title"},"amount":{"type":"number","title":"Amount"},"count":{"type":"integer","title":"Count"},"dry":{"type":"boolean","title":"Dry run"},"size":{"type":"string","title":"Size","enum":["small","large"]},"nested":{"type":"object","title":"Nested","properties":{"a":{"type":"array","items":{"type":"integer"}}}}},"required":["title"]}`

const parts = `{"content":[` +
	`{"type":"text","text":"{\"plain\":\"but JSON\"}"},` +
	`{"type":"image","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==","mimeType":"image/png"},` +
	`{"type":"audio","data":"UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=","mimeType":"audio/wav"},` +
	`{"type":"resource_link","uri":"https://example.org/report.pdf","name":"report.pdf","description":"The whole report","mimeType":"application/pdf"},` +
	`{"type":"resource","resource":{"uri":"note://7","mimeType":"text/plain","text":"an embedded note"}}` +
	`],"structuredContent":{"total":12.50,"rows":[1,2,3]}}`

func (s *server) loadQuestions(path string) {
	raw, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	var all []struct {
		Name   string          `json:"name"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		log.Fatalf("%s: %v", path, err)
	}
	for _, q := range all {
		s.ask = append(s.ask, tool{
			name:   q.Name,
			listed: fmt.Sprintf(`{"name":%s,"inputSchema":{"type":"object"}}`, quote(q.Name)),
			run:    ask(string(q.Params)),
		})
	}
}

func (s *server) tools() []tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := append(append(append([]tool(nil), s.ask...), builtin...), more()...)
	if s.extra {
		all = append(all, tool{name: "late_arrival", listed: extraTool, run: echo})
	}
	return all
}

func (s *server) listTools(id string, params json.RawMessage) {
	var p struct {
		Cursor string `json:"cursor"`
	}
	_ = json.Unmarshal(params, &p)
	from := 0
	_, _ = fmt.Sscanf(p.Cursor, "from-%d", &from)
	all := s.tools()
	size := pageSize
	if *manyTools > 0 {
		size = 10_000
	}
	to := min(from+size, len(all))
	var listed []string
	for _, t := range all[from:to] {
		listed = append(listed, t.listed)
	}
	next := ""
	if to < len(all) {
		next = fmt.Sprintf(`,"nextCursor":"from-%d"`, to)
	}
	s.reply(id, fmt.Sprintf(`{"tools":[%s]%s}`, strings.Join(listed, ","), next))
}

func (s *server) callTool(id string, params json.RawMessage) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Meta      struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		s.fail(id, -32602, err.Error(), "")
		return
	}
	for _, t := range s.tools() {
		if t.name == p.Name {
			c := &call{id: id, args: p.Arguments, token: p.Meta.ProgressToken, ended: make(chan string, 1)}
			s.mu.Lock()
			s.calls[id] = c
			s.mu.Unlock()
			t.run(s, c)
			s.mu.Lock()
			delete(s.calls, id)
			s.mu.Unlock()
			return
		}
	}
	s.fail(id, -32602, "unknown tool: "+p.Name, "")
}

func textResult(s string) string {
	return `{"content":[{"type":"text","text":` + quote(s) + `}]}`
}

// ask returns a tool that asks with exact params, and returns the bytes of the answer.
func ask(params string) func(*server, *call) {
	return func(s *server, c *call) {
		q := s.request("elicitation/create", params)
		select {
		case line := <-q.answer:
			s.reply(c.id, textResult("received: "+answered(line)))
		case why := <-c.ended:
			if why == "return" {
				s.reply(c.id, textResult("ended without waiting for the answer"))
			}
		}
	}
}

// answered returns the result of an answer, or the whole line if it has none.
func answered(line []byte) string {
	var m struct {
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal(line, &m) == nil && m.Result != nil {
		return string(m.Result)
	}
	return string(line)
}

func askThree(s *server, c *call) {
	var all []*question
	for _, city := range []string{"Lisbon", "Graz", "Turku"} {
		all = append(all, s.request("elicitation/create", fmt.Sprintf(
			`{"message":"How many people go to %s?","requestedSchema":{"type":"object","properties":{"people":{"type":"integer","title":"People"}},"required":["people"]}}`, city)))
	}
	var answers []string
	for _, q := range all {
		select {
		case line := <-q.answer:
			answers = append(answers, answered(line))
		case <-c.ended:
			return
		}
	}
	s.reply(c.id, textResult("received: "+strings.Join(answers, " ")))
}

func waitForEnd(s *server, c *call) {
	if why := <-c.ended; why == "return" {
		s.reply(c.id, textResult("waited long enough"))
	}
}

func flood(s *server, c *call) {
	var args struct {
		Messages int `json:"messages"`
	}
	_ = json.Unmarshal(c.args, &args)
	select {
	case <-s.gate:
	case <-c.ended:
		return
	}
	for i := range args.Messages {
		s.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"flood","data":"message %d of %d"}}`, i+1, args.Messages)
	}
	s.reply(c.id, textResult(fmt.Sprintf("sent %d messages", args.Messages)))
}

func echo(s *server, c *call) {
	args := c.args
	if args == nil {
		args = []byte("no arguments")
	}
	s.reply(c.id, textResult(string(bytes.TrimSpace(args))))
}

func progress(s *server, c *call) {
	for i := 1; i <= 3; i++ {
		select {
		case <-s.gate:
		case <-c.ended:
			return
		}
		if c.token == nil {
			s.fail(c.id, -32602, "no progress token", "")
			return
		}
		s.write(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":3,"message":"copied %d of 3 tables"}}`, c.token, i, i)
	}
	select {
	case <-s.gate:
		s.reply(c.id, textResult("all tables copied"))
	case <-c.ended:
	}
}
