package inspection_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// TestProtocol plays the cases in testdata/protocol, each in every revision that it
// applies to. testdata/protocol/README.md describes the format of cases.
func TestProtocol(t *testing.T) {
	files, err := filepath.Glob("testdata/protocol/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	names := map[string]bool{}
	for _, file := range files {
		for _, c := range readCases(t, file) {
			if names[c.name] {
				t.Errorf("%s: there are two cases %q", file, c.name)
			}
			names[c.name] = true
			for _, revision := range c.revisions {
				t.Run(c.name+"/"+revision, func(t *testing.T) {
					t.Parallel()
					c.play(t, revision)
				})
			}
		}
	}
	if len(names) < 150 {
		t.Errorf("%d cases, want at least 150", len(names))
	}
}

// protocolCase is one scripted conversation.
type protocolCase struct {
	name      string
	revisions []string
	lines     []scriptLine
}

type scriptLine struct {
	at   string   // file and line
	only []string // revisions; nil for all
	text string
}

func readCases(t *testing.T, file string) []*protocolCase {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []*protocolCase
	var c *protocolCase
	for i, text := range strings.Split(string(raw), "\n") {
		text = strings.TrimSpace(text)
		at := fmt.Sprintf("%s:%d", file, i+1)
		name, begins := strings.CutPrefix(text, "=== ")
		only, rest, some := strings.Cut(strings.TrimPrefix(text, "["), "] ")
		some = some && strings.HasPrefix(text, "[")
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
		case begins:
			c = &protocolCase{name: name, revisions: []string{mcp.Revision20250618, mcp.Revision20251125, mcp.Revision20260728}}
			all = append(all, c)
		case c == nil:
			t.Fatalf("%s: a line before the first case", at)
		case strings.HasPrefix(text, "in "):
			c.revisions = strings.Fields(text)[1:]
		case some:
			c.lines = append(c.lines, scriptLine{at, strings.Fields(only), rest})
		default:
			c.lines = append(c.lines, scriptLine{at, nil, text})
		}
	}
	return all
}

// play runs the case in one revision.
func (c *protocolCase) play(t *testing.T, revision string) {
	p := &player{bench: &bench{T: t}, revision: revision, kind: conversation.Tool, key: "t", lists: map[string][]string{}}
	var steps []scriptLine
	for _, line := range c.lines {
		if line.only != nil && !slices.Contains(line.only, revision) {
			continue
		}
		line.text = p.fill(line.text)
		p.stdio = p.stdio || strings.Contains(line.text, "stdout-noise")
		if !p.prepares(line.text) {
			steps = append(steps, line)
		}
	}
	p.start()
	if !p.noCall {
		p.begin()
	}
	for _, line := range steps {
		p.at = line.at
		p.step(line.text)
	}
	p.finish()
}

// player plays one case: the server's end, the person and the observer.
type player struct {
	*bench
	at       string
	revision string
	settings conversation.ClientSettings
	lists    map[string][]string // scripted responses to the SDK's own requests, by method
	kind     conversation.Kind
	key      string
	noCall   bool

	stdio bool // the server is a process, because the case is about standard output
	out   io.Writer
	got   chan request // what the client sent, except for the handshake and the lists
	id    string       // id of the latest call request
	asked int          // number of "server asks" steps
	call  int
	finds []string
}

const (
	plainForm = `{"message":"Your name?","requestedSchema":{"type":"object","properties":{"value":{"type":"string"}}}}`
	plainURL  = `{"mode":"url","message":"Sign in, please.","url":"https://example.com/in","elicitationId":"e1"}`
)

// fill replaces $form and $url with their values.
func (p *player) fill(text string) string {
	url := plainURL
	if p.revision != mcp.Revision20251125 {
		url = strings.Replace(url, `,"elicitationId":"e1"`, "", 1)
	}
	return strings.NewReplacer("$form", plainForm, "$url", url).Replace(text)
}

// prepares handles a line that sets up the case before its first step. It returns false
// for other lines.
func (p *player) prepares(text string) bool {
	verb, rest, _ := strings.Cut(text, " ")
	switch verb {
	case "settings":
		for _, word := range strings.Fields(rest) {
			name, value, _ := strings.Cut(word, "=")
			switch name {
			case "elicitation":
				p.settings.Elicitation = conversation.DeclaredElicitation(value)
			case "sampling":
				p.settings.Sampling = true
			case "roots":
				p.settings.Roots = true
			default:
				p.Fatalf("there is no setting %q", name)
			}
		}
	case "replies": // arguments: METHOD, and "result":… or "error":…
		method, answer, _ := strings.Cut(rest, " ")
		p.lists[method] = append(p.lists[method], answer)
	case "calls":
		kind, key, _ := strings.Cut(rest, " ")
		p.kind, p.key, p.noCall = conversation.Kind(kind), key, kind == "nothing"
	default:
		return false
	}
	return true
}

const relayEnv = "BRIDGE_TEST_RELAY"

func init() {
	// is the process between the client and a server in the test.
	rawServers["relay"] = func(*rawServer) {
		conn, err := net.Dial("tcp", os.Getenv(relayEnv))
		if err != nil {
			panic(err)
		}
		go func() {
			_, _ = io.Copy(conn, os.Stdin) // ends with the process
			_ = conn.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(os.Stdout, conn)
	}
}

func (p *player) start() {
	p.got = make(chan request, 1000)
	ready := make(chan struct{})
	serve := func(in io.Reader, out io.Writer) {
		p.out = out
		close(ready)
		p.serve(in)
	}
	spec := target.Spec{Name: "scripted", Builtin: func(_ context.Context, in io.Reader, out io.Writer) error {
		serve(in, out)
		return nil
	}}
	if p.stdio {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			p.Fatal(err)
		}
		spec = asProcess(p.T, "relay")
		spec.Env = append(spec.Env, relayEnv+"="+l.Addr().String())
		go func() {
			defer l.Close()
			if conn, err := l.Accept(); err == nil {
				defer conn.Close() // ends the process
				serve(conn, conn)
			}
		}()
	}
	p.settings.Protocol = p.revision
	p.bench = startAny(p.T, inspection.Config{Settings: p.settings, Targets: []target.Spec{spec}})
	p.until("the end of connecting", func() bool {
		s := p.bench.server()
		c, err := p.in.Catalog("s1")
		return s.State == conversation.ServerFailed || s.State == conversation.ServerEnded || s.State == conversation.ServerReady && err == nil && !c.Loading
	})
	<-ready
}

// serve reads the client's messages, and answers the requests that the client makes on
// its own.
func (p *player) serve(from io.Reader) {
	defer close(p.got)
	in := bufio.NewScanner(from)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		r := request{raw: in.Text()}
		if json.Unmarshal(in.Bytes(), &r) != nil {
			continue
		}
		answer := p.usual(r)
		if list := p.lists[r.Method]; len(list) > 0 {
			answer, p.lists[r.Method] = list[0], list[1:]
		}
		switch {
		case answer != "" && answer != "nothing" && r.ID != nil:
			p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, r.ID, answer))
		case answer == "":
			p.got <- r
		}
	}
}

// usual returns the answer of an ordinary server to requests before and between calls, ""
// for requests that the script answers.
func (p *player) usual(r request) string {
	const capabilities = `{"tools":{},"prompts":{},"resources":{}}`
	empty := func(list string) string {
		return `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","` + list + `":[]}`
	}
	switch r.Method {
	case "server/discover":
		return fmt.Sprintf(`"result":{"resultType":"complete","supportedVersions":[%q],"capabilities":%s,"ttlMs":0,"cacheScope":"private"}`, p.revision, capabilities)
	case "initialize":
		return fmt.Sprintf(`"result":{"protocolVersion":%q,"capabilities":%s,"serverInfo":{"name":"scripted","version":"1"}}`, p.revision, capabilities)
	case "tools/list":
		return `"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"t","inputSchema":{"type":"object"}}]}`
	case "prompts/list":
		return empty("prompts")
	case "resources/list":
		return empty("resources")
	case "resources/templates/list":
		return empty("resourceTemplates")
	case "notifications/initialized":
		return "nothing"
	}
	return ""
}

func (p *player) write(message string) {
	if _, err := io.WriteString(p.out, message+"\n"); err != nil {
		p.Errorf("%s: %v", p.at, err)
	}
}

// begin makes the call of the script.
func (p *player) begin() {
	r := live.Request{Server: "s1", Kind: p.kind, Name: p.key, Key: p.key}
	if p.kind == conversation.Tool {
		r.Arguments = json.RawMessage(`{}`)
	}
	c, err := p.in.Begin(r)
	if err != nil {
		p.Fatal(err)
	}
	p.call = c.Number
	p.calls("")
}

// next returns the next message of the client.
func (p *player) next() request {
	p.Helper()
	select {
	case r, ok := <-p.got:
		if ok {
			return r
		}
		p.Fatalf("%s: the client is gone\n%s", p.at, p.transcript())
	case <-time.After(patience):
		p.Fatalf("%s: the client sent nothing\n%s", p.at, p.transcript())
	}
	return request{}
}

// calls expects a request of the call with the additional params more.
func (p *player) calls(more string) {
	p.Helper()
	r := p.next()
	base := fmt.Sprintf(`"name":%q,"arguments":{}`, p.key)
	switch p.kind {
	case conversation.Prompt:
		base = fmt.Sprintf(`"name":%q`, p.key)
	case conversation.Resource:
		base = fmt.Sprintf(`"uri":%q`, p.key)
	}
	_, got, ok := strings.Cut(string(r.Params), ","+base)
	if got = strings.TrimSuffix(strings.TrimPrefix(got, ","), "}"); !ok || got != more {
		p.Fatalf("%s: the client sent\n%s\nwant a call that ends in\n%s", p.at, r.raw, more)
	}
	if p.id == string(r.ID) {
		p.Errorf("%s: two requests have the id %s", p.at, p.id)
	}
	p.id = string(r.ID)
}

// transcript returns the transcript without the parts that are equal in every case.
func (p *player) transcript() string {
	var said []string
	for line := range strings.Lines(p.bench.transcript()) {
		before, meta, found := strings.Cut(line, `"_meta":{`)
		_, after, _ := strings.Cut(meta, `"},`)
		if found {
			line = before + after
		}
		if !strings.Contains(line, "/list") && !strings.Contains(line, `"ttlMs"`) {
			said = append(said, line)
		}
	}
	return strings.Join(said, "")
}

// step performs or checks one line of the script.
func (p *player) step(text string) {
	p.Helper()
	who, rest, _ := strings.Cut(text, " ")
	verb, what, _ := strings.Cut(rest, " ")
	switch who {
	case "server":
		p.serverStep(verb, what)
	case "person":
		p.personStep(verb, what)
	case "client":
		p.clientStep(verb, what)
	case "finds":
		if rest != "nothing" {
			p.finds = append(p.finds, rest)
		}
	default:
		p.look(who, rest)
	}
}

func withVersion(message string) string {
	return `{"jsonrpc":"2.0",` + strings.TrimPrefix(message, "{")
}

func (p *player) serverStep(verb, what string) {
	what = strings.ReplaceAll(what, "$id", p.id)
	answer := `{"jsonrpc":"2.0","id":` + p.id + `,"%s":%s}`
	switch verb {
	case "asks":
		p.asked++
		if p.revision < "2026" {
			p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"q%d","method":"elicitation/create","params":%s}`, p.asked, what))
			return
		}
		p.write(fmt.Sprintf(answer, "result", fmt.Sprintf(`{"resultType":"input_required","inputRequests":{"q%d":{"method":"elicitation/create","params":%s}}}`, p.asked, what)))
	case "sends":
		p.write(withVersion(what))
	case "writes":
		p.write(what)
	case "returns":
		p.write(fmt.Sprintf(answer, "result", what))
	case "fails":
		p.write(fmt.Sprintf(answer, "error", what))
	case "ends":
		member := map[conversation.Kind]string{conversation.Tool: "content", conversation.Prompt: "messages", conversation.Resource: "contents"}[p.kind]
		p.write(fmt.Sprintf(answer, "result", `{"resultType":"complete","ttlMs":0,"cacheScope":"private","`+member+`":[]}`))
	default:
		p.Fatalf("%s: a server cannot %q", p.at, verb)
	}
}

func (p *player) personStep(verb, what string) {
	number, more, _ := strings.Cut(what, " ")
	n, _ := strconv.Atoi(number) // 0 for steps without a question
	if n > 0 {
		p.question(n)
	}
	err := error(nil)
	switch verb {
	case "accepts":
		a := live.Answer{Action: "accept"}
		if more != "" {
			a = accept(more)
		}
		p.answer(n, a)
	case "declines", "cancels":
		p.answer(n, live.Answer{Action: strings.TrimSuffix(verb, "s")})
	case "answers":
		p.answer(n, live.Answer{Result: json.RawMessage(more)})
	case "marks":
		err = p.in.MarkCompleted(n)
	case "retries":
		err = p.in.Retry(p.call)
	case "stops":
		err = p.in.Stop(p.call)
	case "repeats": // without an answer to the refused request
		c, failed := p.in.Repeat(p.call)
		p.call, err = c.Number, failed
	case "sets":
		err = p.in.SetPolicy("s1", conversation.Policy(what))
	default:
		p.Fatalf("%s: a person cannot %q", p.at, verb)
	}
	if err != nil {
		p.Fatalf("%s: %v", p.at, err)
	}
}

func (p *player) clientStep(verb, what string) {
	p.Helper()
	what = strings.ReplaceAll(what, "$id", p.id)
	old := p.revision < "2026"
	switch {
	case verb == "sends" && strings.HasPrefix(what, "both "): // two messages in any order
		one, other, _ := strings.Cut(strings.TrimPrefix(what, "both "), " and ")
		want := []string{withVersion(one), withVersion(other)}
		got := []string{p.next().raw, p.next().raw}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			p.Fatalf("%s: the client sent\n%s\nwant\n%s", p.at, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	case verb == "sends":
		if r := p.next(); r.raw != withVersion(what) {
			p.Fatalf("%s: the client sent\n%s\nwant\n%s", p.at, r.raw, withVersion(what))
		}
	case verb == "answers" && old:
		p.clientStep("sends", fmt.Sprintf(`{"id":"q%d","result":%s}`, p.asked, what))
	case verb == "answers":
		p.calls(fmt.Sprintf(`"inputResponses":{"q%d":%s}`, p.asked, what))
	case verb == "refuses" && old:
		code, message, _ := strings.Cut(what, " ")
		p.clientStep("sends", fmt.Sprintf(`{"id":"q%d","error":{"code":%s,"message":%q}}`, p.asked, code, message))
	case verb == "refuses": // the client sends no further request
	case verb == "calls":
		p.calls(strings.TrimPrefix(strings.TrimPrefix(what, "again"), " "))
	default:
		p.Fatalf("%s: a client cannot %q", p.at, verb)
	}
}

// look waits until a state matches a line of the script.
func (p *player) look(what, rest string) {
	p.Helper()
	said := ""
	defer func() {
		if p.Failed() {
			p.Logf("%s: it is %s", p.at, said)
		}
	}()
	if number, after, ok := strings.Cut(rest, " is "); ok && what == "question" {
		n, _ := strconv.Atoi(number)
		p.question(n)
		p.until(p.at+": "+what+" "+rest, func() bool {
			said = p.questionSays(n)
			return saysAll(said, after)
		})
		return
	}
	p.until(p.at+": "+what+" "+rest, func() bool {
		said = p.says(what)
		return saysAll(said, strings.TrimPrefix(rest, "is "))
	})
}

// saysAll reports whether said begins with the first word of want and contains each of
// its other parts, which " … " separates.
func saysAll(said, want string) bool {
	state, more, _ := strings.Cut(want, " ")
	if !strings.HasPrefix(said, state) {
		return false
	}
	for part := range strings.SplitSeq(more, " … ") {
		if !strings.Contains(said, part) {
			return false
		}
	}
	return true
}

func (p *player) questionSays(n int) string {
	q, err := p.in.Question(n)
	if err != nil {
		return err.Error()
	}
	completion := map[conversation.Completion]string{
		conversation.CompletionAwaited: "awaited", conversation.CompletionDone: "completed", conversation.CompletionMarked: "marked",
	}[q.Completion]
	return fmt.Sprintf("%s by %s, outcome %s: %s %s", q.State, q.By, completion, q.Method, q.Reason)
}

// says returns the state of the call, the server or the catalogue, or the number of
// questions.
func (p *player) says(what string) string {
	switch what {
	case "call":
		c, err := p.in.Call(p.call)
		if err != nil {
			return err.Error()
		}
		said := stateWord(c.State) + " " + c.Failure
		for _, s := range c.Steps {
			said += "; " + wording.Join(": ", s.Word, s.Text)
		}
		return said + "; " + p.shown(c)
	case "connection":
		s := p.bench.server()
		return s.State.String() + " " + s.Reason + " " + s.Info.Protocol + " " + s.Info.Negotiated
	case "catalog":
		c, _ := p.in.Catalog("s1")
		return fmt.Sprintf("%d items; %s", len(c.Items), strings.Join(c.Errors, "; "))
	case "questions":
		return fmt.Sprint(len(p.in.Questions()))
	}
	return "no such thing: " + what
}

// shown returns the page's text about the response that ended a call.
func (p *player) shown(c inspection.Call) string {
	if c.ResultSeq == 0 {
		return ""
	}
	f, err := p.log.Frame(c.ResultSeq)
	if err != nil {
		return err.Error()
	}
	if f.Kind == wire.Error {
		e := conversation.ReadError(f.Message.Error)
		return e.Message + " " + e.Problem
	}
	r, err := conversation.ReadResult(f.Message.Result)
	if err != nil {
		return err.Error()
	}
	said := ""
	for _, part := range r.Content {
		said += part.Text + " " + part.Problem + "; "
	}
	return said
}

// finish checks that there are no further messages or findings.
func (p *player) finish() {
	p.at = "at the end"
	if p.bench.server().State == conversation.ServerReady && !p.noCall {
		// When this call has arrived, earlier messages have, too.
		c, err := p.in.Begin(live.Request{Server: "s1", Kind: conversation.Tool, Name: "barrier", Key: "barrier"})
		if err != nil {
			p.Fatal(err)
		}
		r := p.next()
		for r.tool() != "barrier" {
			p.Errorf("the client also sent\n%s", r.raw)
			r = p.next()
		}
		p.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[]}}`, r.ID))
		p.done(c.Number)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.in.Judge(ctx); err != nil {
		p.Fatal(err)
	}
	var got []string
	for _, f := range p.in.Findings("s1") {
		got = append(got, f.Rule+" "+f.Pointer)
	}
	slices.Sort(got)
	slices.Sort(p.finds)
	if same := slices.EqualFunc(got, p.finds, func(got, want string) bool {
		return got == want || strings.HasPrefix(got, want+" ")
	}); !same {
		p.Errorf("the linter found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(p.finds, "\n"))
	}
	p.opened()
	if p.Failed() {
		p.Log(p.transcript())
	}
}

// opened checks that the recording of the case shows the same questions, in the same
// states, and the same end of the call.
func (p *player) opened() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	live, opened := "", ""
	for {
		grown := p.log.Grown() // the log may not have the note of the call's end yet
		r := inspection.NewReplay(p.log, nil, nil)
		if err := r.Refresh(ctx); err != nil {
			p.Errorf("opened, it is\n%slive it was\n%s", opened, live)
			return
		}
		if live, opened = tellStates(p.in), tellStates(r.Inspection()); live == opened {
			return
		}
		select {
		case <-grown:
		case <-ctx.Done():
		}
	}
}

// stateWord returns the word of the cases for a state.
func stateWord(s conversation.State) string {
	switch s {
	case conversation.Running, conversation.Waiting:
		return "running"
	case conversation.Stopped:
		return "stopped"
	}
	return strings.TrimSuffix(s.String(), ", with isError")
}

func tellStates(in *inspection.Inspection) string {
	var b strings.Builder
	for _, c := range in.Calls() {
		fmt.Fprintf(&b, "call %d: %s %s\n", c.Number, stateWord(c.State), c.Failure)
	}
	for _, q := range in.Questions() {
		fmt.Fprintf(&b, "question %d of call %d: %s\n", q.Number, q.Call, q.State)
	}
	return b.String()
}
