// Command hand is an MCP server without faults, written by hand on JSON-RPC, over stdio or
// with -http over Streamable HTTP. A session handles one request at a time: messages that
// arrive while a question waits are handled afterwards. A check must find nothing in it.
package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	june     = "2025-06-18"
	november = "2025-11-25"
	july     = "2026-07-28"
)

type object = map[string]any

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params struct {
		Name            string
		ProtocolVersion string
		Capabilities    capabilities
		RequestID       json.RawMessage
		InputResponses  map[string]json.RawMessage
		RequestState    string
		Meta            struct {
			Revision     string       `json:"io.modelcontextprotocol/protocolVersion"`
			Capabilities capabilities `json:"io.modelcontextprotocol/clientCapabilities"`
		} `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage           `json:"result,omitempty"`
	Error  *struct{ Message string } `json:"error,omitempty"`
}

type capabilities struct {
	Elicitation *struct{ Form, URL *struct{} }
}

func (c capabilities) allow(mode, revision string) bool {
	switch {
	case c.Elicitation == nil:
		return false
	case mode == "url":
		return c.Elicitation.URL != nil && revision >= november
	}
	return c.Elicitation.Form != nil || c.Elicitation.URL == nil
}

// session is what the server knows of one client.
type session struct {
	read     func() (message, error)
	write    func(of json.RawMessage, m object) // of is the id of the request that m is for; nil for none comes any more
	queue    []message                          // messages that arrived while a question waited
	asked    int
	revision string
	caps     capabilities
}

var (
	key     = make([]byte, 32)
	address = flag.String("http", "", "serve over Streamable HTTP at this address")
)

func main() {
	flag.Parse()
	rand.Read(key)
	if *address != "" {
		overHTTP()
		return
	}
	in := bufio.NewReader(os.Stdin)
	s := &session{
		read: func() (m message, err error) {
			line, err := in.ReadBytes('\n')
			if len(line) == 0 {
				return m, err
			}
			return m, json.Unmarshal(line, &m)
		},
		write: func(_ json.RawMessage, m object) {
			if m == nil {
				return // a call without a response
			}
			_, _ = os.Stdout.Write(append(encode(m), '\n')) // if nobody reads the output, the input ends next
		},
	}
	s.run()
}

// run serves the session to its end.
func (s *session) run() {
	for {
		m, err := s.next()
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			s.write(nil, object{"id": nil, "error": object{"code": -32700, "message": "This is not JSON"}})
		case m.Method != "" && m.ID != nil:
			s.serve(m)
		}
	}
}

// next returns the oldest message that has not been handled.
func (s *session) next() (m message, err error) {
	if len(s.queue) > 0 {
		m, s.queue = s.queue[0], s.queue[1:]
		return m, nil
	}
	return s.read()
}

func encode(m object) []byte {
	m["jsonrpc"] = "2.0"
	line, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return line
}

func (s *session) reply(m message, result object) {
	s.write(m.ID, object{"id": m.ID, "result": result})
}

func (s *session) serve(m message) {
	modern := m.Params.Meta.Revision == july
	info := object{"name": "right-hand", "version": "1.0.0"}
	switch {
	case m.Method == "initialize":
		s.revision, s.caps = november, m.Params.Capabilities
		if m.Params.ProtocolVersion == june {
			s.revision = june
		}
		s.reply(m, object{"protocolVersion": s.revision, "capabilities": object{"tools": object{}}, "serverInfo": info})
	case m.Method == "server/discover":
		s.reply(m, object{"resultType": "complete", "supportedVersions": []string{july}, "capabilities": object{"tools": object{}}, "serverInfo": info, "ttlMs": 0, "cacheScope": "private"})
	case m.Method == "tools/list":
		var list []object
		for name := range tools {
			list = append(list, object{"name": name, "inputSchema": object{"type": "object"}})
		}
		result := object{"tools": list}
		if modern {
			result["resultType"], result["ttlMs"], result["cacheScope"] = "complete", 0, "private"
		}
		s.reply(m, result)
	case m.Method == "ping" && !modern:
		s.reply(m, object{})
	case m.Method == "tools/call" && tools[m.Params.Name] != nil:
		if modern {
			s.revision, s.caps = july, m.Params.Meta.Capabilities
		}
		s.call(m)
	default:
		s.write(m.ID, object{"id": m.ID, "error": object{"code": -32601, "message": "There is no " + m.Method}})
	}
}

// visit is a call, or in revisions with rounds one request of it.
type visit struct {
	*session
	message
	known []json.RawMessage // answers of earlier rounds
	at    int               // number of questions so far
}

var (
	errGone  = errors.New("the call was cancelled")
	errAsked = errors.New("the round has ended with a question")
)

func (s *session) call(m message) {
	v := &visit{session: s, message: m}
	if err := v.open(); err != nil {
		s.write(m.ID, object{"id": m.ID, "error": object{"code": -32602, "message": err.Error()}})
		return
	}
	text, err := tools[m.Params.Name](v)
	if err == errGone {
		s.write(m.ID, nil)
	}
	if err == errGone || err == errAsked {
		return
	}
	result := object{"content": []object{{"type": "text", "text": text}}}
	if err != nil {
		result = object{"content": []object{{"type": "text", "text": err.Error()}}, "isError": true}
	}
	if s.revision == july {
		result["resultType"] = "complete"
	}
	s.reply(m, result)
}

func (v *visit) seal(text string) string {
	mac := hmac.New(sha256.New, key)
	io.WriteString(mac, v.Params.Name+"\n"+text)
	return hex.EncodeToString(mac.Sum(nil))
}

// open reads the earlier answers from a requestState, and refuses one of another tool.
func (v *visit) open() error {
	if v.revision != july || v.Params.RequestState == "" {
		return nil
	}
	seal, text, _ := strings.Cut(v.Params.RequestState, " ")
	if !hmac.Equal([]byte(seal), []byte(v.seal(text))) {
		return errors.New("the requestState is not one that was given out for this call")
	}
	if err := json.Unmarshal([]byte(text), &v.known); err != nil {
		return err
	}
	if r := v.Params.InputResponses[fmt.Sprint("q", len(v.known))]; r != nil {
		v.known = append(v.known, r)
	}
	return nil
}

// answer is the result of an elicitation.
type answer struct {
	Action  string
	Content map[string]any
}

// ask asks one question, and reads messages until its answer arrives.
func (v *visit) ask(mode string, params object) (a answer, err error) {
	if !v.caps.allow(mode, v.revision) {
		return a, fmt.Errorf("this client has not said that it can ask in %s mode", mode)
	}
	if v.revision >= november {
		params["mode"] = mode
	}
	if v.revision == july {
		return v.askInRound(params)
	}
	v.asked++
	id := fmt.Sprintf(`"q%d"`, v.asked)
	v.write(v.ID, object{"id": json.RawMessage(id), "method": "elicitation/create", "params": params})
	for {
		m, err := v.read()
		switch {
		case errors.Is(err, io.EOF):
			return a, errGone
		case err != nil:
			continue // ignores a line that is not a message
		case m.Method == "" && string(m.ID) == id && m.Error != nil:
			return a, fmt.Errorf("the client could not ask: %s", m.Error.Message)
		case m.Method == "" && string(m.ID) == id:
			return answerOf(m.Result)
		case m.Method == "notifications/cancelled" && string(m.Params.RequestID) == string(v.ID):
			v.write(v.ID, object{"method": "notifications/cancelled", "params": object{"requestId": json.RawMessage(id)}})
			return a, errGone
		case m.Method == "notifications/cancelled":
			v.forget(m.Params.RequestID)
		case m.Method != "":
			v.queue = append(v.queue, m)
		}
	}
}

// forget removes a cancelled request from the queue.
func (s *session) forget(id json.RawMessage) {
	var rest []message
	for _, m := range s.queue {
		if string(m.ID) == string(id) {
			s.write(m.ID, nil)
		} else {
			rest = append(rest, m)
		}
	}
	s.queue = rest
}

func (v *visit) askInRound(params object) (a answer, err error) {
	v.at++
	if v.at <= len(v.known) {
		return answerOf(v.known[v.at-1])
	}
	known := v.known
	if known == nil {
		known = []json.RawMessage{}
	}
	text, err := json.Marshal(known)
	if err != nil {
		return a, err
	}
	v.reply(v.message, object{
		"resultType":    "input_required",
		"inputRequests": object{fmt.Sprint("q", len(known)): object{"method": "elicitation/create", "params": params}},
		"requestState":  v.seal(string(text)) + " " + string(text),
	})
	return a, errAsked
}

func answerOf(result json.RawMessage) (a answer, err error) {
	if err := json.Unmarshal(result, &a); err != nil || a.Action == "" {
		return a, errors.New("the client's answer is none")
	}
	if a.Action != "accept" && a.Action != "decline" && a.Action != "cancel" {
		return a, fmt.Errorf("the client's answer is none: %s", a.Action)
	}
	return a, nil
}

func form(text string, properties object, required ...string) object {
	schema := object{"type": "object", "properties": properties}
	if required != nil {
		schema["required"] = required
	}
	return object{"message": text, "requestedSchema": schema}
}

var tools = map[string]func(*visit) (string, error){
	"lend_ladder": lendLadder, "pick_film": pickFilm, "book_sauna": bookSauna, "open_gate": openGate,
	"order_pizza": orderPizza, "empty_bin": emptyBin, "show_log": showLog,
}

// lendLadder asks a question with a form without fields, so that only the action
// counts.
func lendLadder(v *visit) (string, error) {
	a, err := v.ask("form", form("Lend the ladder to the neighbours?", object{}))
	if err != nil {
		return "", err
	}
	if a.Action != "accept" {
		return "The ladder stays in the shed.", nil
	}
	return "The ladder is at the neighbours'.", nil
}

// pickFilm asks a second time if the first question is declined.
func pickFilm(v *visit) (string, error) {
	for _, text := range []string{"Which film shall we see?", "Are you sure? Tonight is the last time. Which film?"} {
		a, err := v.ask("form", form(text, object{"film": object{"type": "string", "title": "Film", "enum": []string{"Stalker", "Playtime"}}}, "film"))
		if err != nil {
			return "", err
		}
		if film, _ := a.Content["film"].(string); a.Action == "accept" {
			if film != "Stalker" && film != "Playtime" {
				return "", errors.New("that film is not shown")
			}
			return "Two tickets for " + film + ".", nil
		}
	}
	return "We stay at home.", nil
}

// bookSauna asks two questions, and repeats the second if its answer is not a valid
// hour.
func bookSauna(v *visit) (string, error) {
	a, err := v.ask("form", form("Who comes along?", object{"guest": object{"type": "string", "title": "Guest", "minLength": 2}}, "guest"))
	guest, _ := a.Content["guest"].(string)
	switch {
	case err != nil:
		return "", err
	case a.Action != "accept":
		return "No sauna today.", nil
	case len([]rune(guest)) < 2:
		return "", errors.New("the guest needs a name")
	}
	text := "At what hour?"
	for range 3 {
		a, err := v.ask("form", form(text, object{"hour": object{"type": "integer", "title": "Hour", "minimum": 14, "maximum": 21}}, "hour"))
		hour, ok := a.Content["hour"].(float64)
		switch {
		case err != nil:
			return "", err
		case a.Action != "accept":
			return "No sauna today.", nil
		case ok && hour == float64(int(hour)) && hour >= 14 && hour <= 21:
			return fmt.Sprintf("The sauna is hot at %g for you and %s.", hour, guest), nil
		}
		text = "That is not an hour between 14 and 21. At what hour?"
	}
	return "", errors.New("there was no hour to book")
}

func openGate(v *visit) (string, error) {
	params := object{"message": "Show your pass on the page of the gate.", "url": "https://gate.example/pass"}
	if v.revision == november {
		params["elicitationId"] = fmt.Sprintf("gate-%d", v.asked)
	}
	a, err := v.ask("url", params)
	if err != nil {
		return "", err
	}
	if a.Action != "accept" {
		return "The gate stays closed.", nil
	}
	return "The gate opens once the pass was seen.", nil
}

// orderPizza takes a decline for the plain pizza, which the form's default is, too.
func orderPizza(v *visit) (string, error) {
	a, err := v.ask("form", form("Anything on the pizza?", object{"topping": object{"type": "string", "title": "Topping", "default": "nothing"}}))
	topping := "nothing"
	switch given, ok := a.Content["topping"].(string); {
	case err != nil:
		return "", err
	case a.Action == "cancel":
		return "No pizza.", nil
	case a.Action == "accept" && a.Content == nil, a.Action == "accept" && a.Content["topping"] != nil && !ok:
		return "", errors.New("that is no topping")
	case a.Action == "accept" && ok:
		topping = given
	}
	return "One pizza with " + topping + " on it.", nil
}

// emptyBin does something only if the box is ticked.
func emptyBin(v *visit) (string, error) {
	a, err := v.ask("form", form("Empty the bin?", object{"confirm": object{"type": "boolean", "title": "Yes, empty it", "default": false}}, "confirm"))
	sure, ok := a.Content["confirm"].(bool)
	switch {
	case err != nil:
		return "", err
	case a.Action == "accept" && !ok:
		return "", errors.New("there is no yes or no")
	case a.Action == "accept" && sure:
		return "The bin is empty.", nil
	}
	return "The bin stays as it is.", nil
}

// showLog shows a log, in which a crash of another program is.
func showLog(v *visit) (string, error) {
	lines := []string{"09:00 backup began", "09:05 Traceback (most recent call last):", "09:06 backup failed"}
	a, err := v.ask("form", form("How many lines of the log?", object{"lines": object{"type": "integer", "title": "Lines", "minimum": 1, "maximum": 3, "default": 1}}, "lines"))
	n, ok := a.Content["lines"].(float64)
	switch {
	case err != nil:
		return "", err
	case a.Action != "accept":
		return strings.Join(lines, "\n"), nil
	case !ok || n != float64(int(n)) || n < 1 || n > 3:
		return "", errors.New("there are one to three lines")
	}
	return strings.Join(lines[:int(n)], "\n"), nil
}
