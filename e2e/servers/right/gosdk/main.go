// Command gosdk is an MCP server without faults, written with go-sdk: it validates
// input, respects a refusal, and answers every call. A check must find nothing in it.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/mail"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var (
	address  = flag.String("http", "", "serve Streamable HTTP at this address in place of stdio")
	slow     = flag.Bool("slow", false, "work for a second in each request")
	random   = flag.Bool("random", false, "end each result with a reference and the time")
	strict   = flag.Bool("strict", false, "refuse an answer that does not fit with a JSON-RPC error")
	refusing = flag.Bool("refusing", false, "have nothing left, whatever is accepted")
	alone    = flag.Bool("alone", false, "have one dialogue at a time")
	ledger   = flag.String("ledger", "", "append a line to this file for all that is done")
)

func main() {
	flag.Parse()
	s := mcp.NewServer(&mcp.Implementation{Name: "right-gosdk", Version: "1.0.0"}, nil)
	none := json.RawMessage(`{"type":"object","additionalProperties":false}`)
	s.AddTool(&mcp.Tool{Name: "plan_workshop", Title: "Plan a workshop", Description: "Asks for everything about a workshop, in one form.", InputSchema: none}, told(planWorkshop))
	s.AddTool(&mcp.Tool{Name: "pay_deposit", Title: "Pay a deposit", Description: "Sends you to a page to pay.", InputSchema: none}, told(payDeposit))
	s.AddTool(&mcp.Tool{Name: "cancel_booking", Title: "Cancel a booking", Description: "Cancels if you confirm.", InputSchema: none}, told(cancelBooking))
	s.AddTool(&mcp.Tool{Name: "book_room", Title: "Book a room", Description: "Asks for the house, and then for a room in it.", InputSchema: none}, told(bookRoom))
	s.AddTool(&mcp.Tool{Name: "rent_bike", Title: "Rent a bicycle", Description: "Asks whether the bicycle of the arguments is to be rented.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"bike":{"type":"string"}},"required":["bike"]}`)}, told(rentBike))
	if *address != "" {
		l, err := net.Listen("tcp", *address)
		if err != nil {
			log.Fatal(err)
		}
		log.Print("listening at ", *address)
		log.Fatal(http.Serve(l, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil)))
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		log.Print(err) // the client has closed the connection
	}
}

const workshop = `{"type":"object","properties":{
	"title":{"type":"string","title":"Title","minLength":3,"maxLength":60},
	"contact":{"type":"string","title":"Contact","format":"email"},
	"page":{"type":"string","title":"Page","format":"uri"},
	"day":{"type":"string","title":"Day","format":"date"},
	"begins":{"type":"string","title":"Begins","format":"date-time"},
	"room":{"type":"string","title":"Room","pattern":"^[A-D][0-9]{2}$","default":"A12"},
	"people":{"type":"integer","title":"People","minimum":2,"maximum":40},
	"fee":{"type":"number","title":"Fee","minimum":0,"maximum":500},
	"lunch":{"type":"boolean","title":"With lunch","default":true},
	"level":{"type":"string","title":"Level","enum":["Beginners","Advanced"]}%s
},"required":["title","contact","day","people","level"]}`

// more holds the fields that 2025-11-25 added.
const more = `,
	"language":{"type":"string","title":"Language","oneOf":[{"const":"en","title":"English"},{"const":"cy","title":"Welsh"}]},
	"tools":{"type":"array","title":"Tools","minItems":1,"maxItems":2,"items":{"type":"string","enum":["Beamer","Flipchart","Microphone"]}},
	"topics":{"type":"array","title":"Topics","items":{"anyOf":[{"const":"go","title":"Go"},{"const":"js","title":"JavaScript"}]}}`

func planWorkshop(ctx context.Context, v *visit) (string, error) {
	fields := more
	if v.revision() < "2025-11-25" {
		fields = ""
	}
	content, err := v.form(ctx, "workshop", "What is the workshop to be?", fmt.Sprintf(workshop, fields))
	if err != nil {
		return "", err
	}
	return v.did("%v for %v people on %v (%v) is planned; questions go to %v.",
		content["title"], content["people"], content["day"], content["level"], content["contact"])
}

func payDeposit(ctx context.Context, v *visit) (string, error) {
	answer, err := v.ask(ctx, "deposit", &mcp.ElicitParams{
		Mode: "url", Message: "Pay the deposit of 40 EUR on the page of the hotel.", URL: "https://hotel.example/deposit/4711", ElicitationID: v.id("deposit-4711"),
	})
	if err != nil {
		return "", err
	}
	if answer.Action != "accept" {
		return "The deposit is not paid.", nil
	}
	return v.did("Once the payment has come in, the booking is confirmed by post.")
}

func cancelBooking(ctx context.Context, v *visit) (string, error) {
	content, err := v.form(ctx, "sure", "Cancel the booking of Saturday? This cannot be undone.",
		`{"type":"object","properties":{"sure":{"type":"boolean","title":"Yes, cancel it"}},"required":["sure"]}`)
	switch {
	case errors.Is(err, errRefused):
		return "", errors.New("the booking stays as it is") // an error, as some servers report a refusal
	case err != nil:
		return "", err
	case content["sure"] != true:
		return "The booking stays as it is.", nil
	}
	return v.did("The booking of Saturday is cancelled.")
}

func rentBike(ctx context.Context, v *visit) (string, error) {
	var arguments struct{ Bike string }
	if err := json.Unmarshal(v.request.Params.Arguments, &arguments); err != nil {
		return "", fmt.Errorf("reading the arguments: %w", err)
	}
	content, err := v.form(ctx, "days", "For how many days?", `{"type":"object","properties":{"days":{"type":"integer","title":"Days","minimum":1,"maximum":9}},"required":["days"]}`)
	if err != nil {
		return "", err
	}
	return v.did("The bicycle %s is yours for %v days.", arguments.Bike, content["days"])
}

func bookRoom(ctx context.Context, v *visit) (string, error) {
	house, err := v.form(ctx, "house", "In which house?", `{"type":"object","properties":{"house":{"type":"string","title":"House","enum":["Mill","Barn"]}},"required":["house"]}`)
	if err != nil {
		return "", err
	}
	room, err := v.form(ctx, "room", fmt.Sprintf("Which room in the %v?", house["house"]),
		`{"type":"object","properties":{"room":{"type":"integer","title":"Room","minimum":1,"maximum":12},"guest":{"type":"string","title":"Guest"}},"required":["room","guest"]}`)
	if err != nil {
		return "", err
	}
	return v.did("Room %v in the %v is booked for %v.", room["room"], house["house"], room["guest"])
}

// visit is one request of a call. Each round runs the story from its start.
type visit struct {
	request *mcp.CallToolRequest
	answers map[string]*mcp.ElicitResult // known answers, by question; since 2026-07-28
	call    string                       // names the call in all of its rounds; since 2026-07-28
}

// round is the error that ends a request with a question.
type round struct{ *mcp.CallToolResult }

func (round) Error() string { return "input is required" }

var (
	errRefused = errors.New("you said no, so nothing was done")
	errUnfit   = errors.New("the answer does not fit the question")
	key        = func() []byte { k := make([]byte, 32); rand.Read(k); return k }()
)

// dialogue holds the call under way, with -alone.
var dialogue = make(chan struct{}, 1)

// begin waits until the story of a call may be told, and returns the context to tell it in.
func begin(ctx context.Context) (in context.Context, end func(), err error) {
	end = func() {}
	if *alone {
		in, cancel := context.WithTimeout(ctx, 20*time.Second) // longer than an answer takes that is late on purpose, since the SDK ends a question over HTTP without taking it back
		select {
		case dialogue <- struct{}{}:
			return in, func() { cancel(); <-dialogue }, nil
		case <-in.Done():
			return in, cancel, in.Err()
		}
	}
	if *slow {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx, end, ctx.Err()
		}
	}
	return ctx, end, nil
}

var (
	writing sync.Mutex
	written = map[string]bool{} // the calls that are in the ledger
)

// did writes into the ledger what a call did, once, and returns it as the result.
func (v *visit) did(format string, values ...any) (string, error) {
	if *refusing {
		return "", errors.New("there is nothing left")
	}
	text := fmt.Sprintf(format, values...)
	if *random {
		text += fmt.Sprintf(" Reference %s, %s.", rand.Text(), time.Now().Format(time.TimeOnly))
	}
	if *ledger == "" {
		return text, nil
	}
	writing.Lock()
	defer writing.Unlock()
	if v.call != "" && written[v.call] {
		return text, nil
	}
	written[v.call] = true
	f, err := os.OpenFile(*ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintln(f, v.request.Params.Name)
	return text, errors.Join(err, f.Close())
}

// told makes a tool's handler of a story.
func told(story func(context.Context, *visit) (string, error)) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx, end, err := begin(ctx)
		defer end()
		v := &visit{request: req, answers: map[string]*mcp.ElicitResult{}}
		text := ""
		if err == nil {
			err = v.open()
		}
		if err == nil {
			text, err = story(ctx, v)
		}
		var r round
		res := &mcp.CallToolResult{}
		switch {
		case errors.As(err, &r):
			return r.CallToolResult, nil
		case *strict && errors.Is(err, errUnfit):
			return nil, err
		case errors.Is(err, errRefused):
			text = err.Error()
		case err != nil:
			text, res.IsError = err.Error(), true
		}
		res.Content = []mcp.Content{&mcp.TextContent{Text: text}}
		return res, nil
	}
}

func (v *visit) revision() string {
	if p := v.request.Session.InitializeParams(); p != nil && p.ProtocolVersion < "2026-07-28" {
		return p.ProtocolVersion
	}
	return "2026-07-28"
}

// id returns the elicitationId, "" in revisions without it.
func (v *visit) id(id string) string {
	if v.revision() == "2025-11-25" {
		return id
	}
	return ""
}

func (v *visit) seal(text string) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s\n%s\n%s", v.request.Params.Name, v.request.Params.Arguments, text)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// open reads the answers of earlier rounds from requestState, and adds this round's
// answer.
func (v *visit) open() error {
	p := v.request.Params
	if p.RequestState == "" {
		return nil // without a requestState, inputResponses answer no question of this call
	}
	text, seal, _ := strings.Cut(p.RequestState, ".")
	if !hmac.Equal([]byte(seal), []byte(v.seal(text))) {
		return errors.New("requestState is not that of this call")
	}
	plain, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("reading requestState: %w", err)
	}
	var state struct {
		Answers     map[string]*mcp.ElicitResult
		Asked, Call string
	}
	if err := json.Unmarshal(plain, &state); err != nil {
		return fmt.Errorf("reading requestState: %w", err)
	}
	if state.Answers != nil {
		v.answers = state.Answers
	}
	v.call = state.Call
	if r, ok := p.InputResponses[state.Asked].(*mcp.ElicitResult); ok {
		v.answers[state.Asked] = r
	}
	return nil
}

// ask asks the client, if it has declared this mode.
func (v *visit) ask(ctx context.Context, name string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	if v.revision() < "2026-07-28" {
		if p.Mode == "url" && v.revision() < "2025-11-25" {
			return nil, errors.New("this client cannot open pages")
		}
		return v.request.Session.Elicit(ctx, p)
	}
	if r := v.answers[name]; r != nil {
		return r, nil
	}
	caps := v.request.ClientCapabilities()
	switch {
	case caps == nil || caps.Elicitation == nil:
		return nil, errors.New("this client cannot ask its user")
	case p.Mode == "url" && caps.Elicitation.URL == nil, p.Mode == "form" && caps.Elicitation.Form == nil && caps.Elicitation.URL != nil:
		return nil, fmt.Errorf("this client cannot ask its user in %s mode", p.Mode)
	}
	if v.call == "" {
		v.call = rand.Text()
	}
	state, err := json.Marshal(map[string]any{"Answers": v.answers, "Asked": name, "Call": v.call})
	if err != nil {
		return nil, err
	}
	text := base64.RawURLEncoding.EncodeToString(state)
	return nil, round{&mcp.CallToolResult{InputRequests: mcp.InputRequestMap{name: p}, RequestState: text + "." + v.seal(text)}}
}

// form returns the content of an accepted form, after validating it by the schema.
func (v *visit) form(ctx context.Context, name, message, schema string) (map[string]any, error) {
	answer, err := v.ask(ctx, name, &mcp.ElicitParams{Mode: "form", Message: message, RequestedSchema: json.RawMessage(schema)})
	switch {
	case err != nil:
		return nil, err
	case answer.Action == "decline", answer.Action == "cancel":
		return nil, errRefused
	case answer.Action != "accept":
		return nil, fmt.Errorf("%w: there is no action %q", errUnfit, answer.Action)
	}
	if err := fits(answer.Content, schema); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnfit, err)
	}
	return answer.Content, nil
}

// fits checks content against a schema, with its formats.
func fits(content map[string]any, schema string) error {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		return err
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	if content == nil {
		content = map[string]any{}
	}
	if err := r.Validate(content); err != nil {
		return err
	}
	for name, p := range s.Properties {
		text, ok := content[name].(string)
		if !ok {
			continue
		}
		switch p.Format {
		case "email":
			_, err = mail.ParseAddress(text)
		case "uri":
			_, err = url.ParseRequestURI(text)
		case "date":
			_, err = time.Parse(time.DateOnly, text)
		case "date-time":
			_, err = time.Parse(time.RFC3339, text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
