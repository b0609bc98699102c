//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package demo

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/base/lazy"
	protocol "elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
)

// library holds the prompts and resources.
type library struct {
	prompts   []mcp.Prompt
	resources []mcp.Resource
	templates []mcp.ResourceTemplate
	tells     map[string]func(context.Context, *visit) (*mcp.GetPromptResult, error) // the stories of the prompts, by name
	contents  map[string]mcp.ResourceContents                                        // what resources have that ask nothing, by URI
}

// stocked is the library beside the stories. Most of it asks a question first.
var stocked = library{
	prompts: []mcp.Prompt{{
		Name: "release_notes", Title: "Write release notes",
		Description: "Asks for whom and in which tone before it returns the prompt. Shows a prompt that asks.",
		Arguments:   []*mcp.PromptArgument{{Name: "version", Title: "Version", Description: "Such as 1.4.0", Required: true}},
	}, {
		Name: "stand_up", Title: "Prepare the stand-up",
		Description: "A prompt that asks nothing, for comparison.",
	}},
	tells: map[string]func(context.Context, *visit) (*mcp.GetPromptResult, error){
		"release_notes": releaseNotes,
		"stand_up": func(context.Context, *visit) (*mcp.GetPromptResult, error) {
			return prompted("What the team did yesterday", "Sum up what changed in the repository since yesterday, in three sentences, without praise."), nil
		},
	},
	resources: []mcp.Resource{{
		URI: "contract://lease/old-mill", Name: "lease", Title: "Lease of the old mill", MIMEType: "text/markdown",
		Description: "Asks why you want to read it. Shows a resource that asks.",
	}, {
		URI: "weather://harbour/yesterday", Name: "yesterday", Title: "Yesterday's weather", MIMEType: "text/csv",
		Description: "Hour by hour. A resource that asks nothing.",
	}, {
		URI: "weather://harbour/yesterday.png", Name: "yesterday.png", Title: "Yesterday's weather, drawn", MIMEType: "image/png",
		Description: "A picture. A resource that asks nothing.",
	}},
	templates: []mcp.ResourceTemplate{{
		URITemplate: "contract://{party}/{document}", Name: "contract", Title: "A contract", MIMEType: "text/markdown",
		Description: "Any contract that you can name, after a question about your reasons. Shows a resource template that asks.",
	}},
	contents: map[string]mcp.ResourceContents{
		"weather://harbour/yesterday":     {MIMEType: "text/csv", Text: weatherTable},
		"weather://harbour/yesterday.png": {MIMEType: "image/png", Blob: weatherChart},
	},
}

// contract matches the URIs of the template.
var contract = lazy.Regexp(`^contract://([^/?#]+)/([^/?#]+)$`)

// tell tells the story of the prompt or the resource that is called.
func (l *library) tell(ctx context.Context, v *visit) (any, error) {
	if v.Method == protocol.MethodGetPrompt {
		if tell := l.tells[v.name]; tell != nil {
			return tell(ctx, v)
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("unknown prompt %q", v.name)}
	}
	if c, ok := l.contents[v.name]; ok {
		return v.contents(c), nil
	}
	if parts := contract().FindStringSubmatch(v.name); parts != nil && len(l.templates) > 0 {
		return readContract(ctx, v, parts[1], parts[2])
	}
	return nil, mcp.ResourceNotFoundError(v.name)
}

func prompted(description, text string) *mcp.GetPromptResult {
	return &mcp.GetPromptResult{
		Description: description,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
	}
}

func (v *visit) contents(c mcp.ResourceContents) *mcp.ReadResourceResult {
	c.URI = v.name
	r := &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}
	r.CacheScope = "private"
	return r
}

func releaseNotes(ctx context.Context, v *visit) (*mcp.GetPromptResult, error) {
	var args struct{ Version string }
	if err := v.args(&args); err != nil {
		return nil, err
	}
	if args.Version == "" {
		return nil, problem("release_notes needs a version.")
	}
	var n struct {
		Audience, Tone string
		Breaking       bool
	}
	if err := v.ask(ctx, form("notes", &n, args.Version)); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("Write the release notes of version %s for %s", args.Version, n.Audience)
	if n.Tone != "" {
		text += ", in a " + n.Tone + " tone"
	}
	text += "."
	if n.Breaking {
		text += " Begin with what breaks."
	}
	return prompted("Release notes for "+args.Version, text), nil
}

func readContract(ctx context.Context, v *visit, party, document string) (any, error) {
	var r struct{ Reason string }
	if err := v.ask(ctx, form("reason", &r, document, party)); err != nil {
		return nil, err
	}
	if r.Reason == "curiosity" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Curiosity is not enough.", Data: json.RawMessage(`{"accepted":["audit","renewal"]}`)}
	}
	return v.contents(mcp.ResourceContents{
		MIMEType: "text/markdown", Text: fmt.Sprintf("# %s, %s\n\n1. The mill turns when the wind blows.\n2. The rent is a sack of flour a month.\n\n*Shown for: %s.*\n", document, party, r.Reason),
	}), nil
}

func (v *visit) whatArrives(ctx context.Context, q question) (*mcp.CallToolResult, error) {
	a, err := v.answer(ctx, q.written(v.Revision))
	if err != nil {
		return nil, err
	}
	v.outcome = struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content,omitempty"`
	}{a.Action, a.Content}
	if !a.accepted() {
		return said("The answer was %s.", a.Action), nil
	}
	return said("Arrived: %s", a.Content), nil
}

type kind struct {
	Name, Message string
	Field         json.RawMessage // the property's schema; nil for the list of lockers, which is generated
	Optional      bool
}

func (k kind) id() string { return k.Name }

func (k kind) schema() string {
	field := string(k.Field)
	switch {
	case k.Optional:
		return object(`"answer":` + field)
	case k.Field == nil:
		names := make([]string, 10000)
		halls := []string{"North hall", "South hall", "Basement", "Roof"}
		for i := range names {
			names[i] = fmt.Sprintf(`"%s, %05d"`, halls[i/2500], i+1)
		}
		field = `{"type":"string","title":"Locker","enum":[` + strings.Join(names, ",") + `]}`
	}
	return object(`"answer":`+field, "answer")
}

//go:embed kinds.json
var kindsJSON string

var kinds = read[[]kind](kindsJSON)

func ask(ctx context.Context, v *visit, args struct{ Kind string }) (*mcp.CallToolResult, error) {
	k := chosen(args.Kind, kinds())
	return v.whatArrives(ctx, question{key: k.Name, message: k.Message, schema: k.schema()})
}

// askThis asks what a person wrote, exactly, and takes any answer: neither is the server's to judge.
func askThis(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	given := rawjson.Member(v.arguments, "question")
	v.server.mu.Lock()
	params := cmp.Or(string(given), string(v.server.question))
	v.server.mu.Unlock()
	if params == "" {
		return ask(ctx, v, struct{ Kind string }{kinds()[0].Name})
	}
	request, err := elicit.Parse(json.RawMessage(params))
	if err != nil {
		return nil, problem("This cannot be asked: %v.", err)
	}
	v.server.mu.Lock()
	v.server.question = request.Params
	v.server.mu.Unlock()
	q := question{key: "question", params: request.Params}
	if request.Mode == elicit.ModeURL {
		q.url = cmp.Or(request.URL, "about:blank") // says which capability it needs
	}
	if err := v.may(q); err != nil {
		return nil, err
	}
	q.unruly = true
	return v.whatArrives(ctx, q)
}

// Sample is a question to begin with.
type Sample struct {
	Name   string
	Params json.RawMessage
}

//go:embed examples.json
var examplesJSON string

// examples are those of the specification (schema/2026-07-28/examples, ElicitRequestFormParams and
// ElicitRequestURLParams).
var examples = read[[]Sample](examplesJSON)

// Samples lists the examples of the specification, and the demo's own questions.
func Samples() (specification, own []Sample) {
	for _, k := range kinds() {
		own = append(own, Sample{k.Message, question{message: k.Message, schema: k.schema()}.encode(protocol.Revision20251125)})
	}
	every := form("form", nil)
	return examples(), append(own, Sample{every.message, every.encode(protocol.Revision20251125)})
}

type show string

func (s show) id() string { return string(s) }

var shows = []show{"text", "structured", "image", "audio", "resource_link", "embedded_text", "embedded_blob", "everything", "tool_error", "protocol_error", "nothing"}

// Yesterday's weather: the data of the rain gauge, a chart of it, and the chime of the harbour clock.
var (
	//go:embed weather.csv
	weatherTable string
	//go:embed weather.png
	weatherChart []byte
	//go:embed chime.wav
	chime []byte
)

const weather = `{"place":"Harbour","rain_mm":11.2,"hours":[0,0,0,0,0.2,0.4,0.8,1.1,1.4,1.2,1,0.9,1.3,1.5,1,0.4,0,0,0,0,0,0,0,0],"sun":true}`

func showResult(_ context.Context, v *visit, args struct{ Kind show }) (*mcp.CallToolResult, error) {
	const csv, png = "weather://harbour/yesterday", "weather://harbour/yesterday.png"
	content := map[show]mcp.Content{
		"text":          &mcp.TextContent{Text: "Yesterday it rained until four, 11.2 mm, and then the sun came out."},
		"image":         &mcp.ImageContent{Data: weatherChart, MIMEType: "image/png"},
		"audio":         &mcp.AudioContent{Data: chime, MIMEType: "audio/wav"},
		"resource_link": &mcp.ResourceLink{URI: csv, Name: "yesterday", Title: "Yesterday's weather", Description: "Hour by hour", MIMEType: "text/csv"},
		"embedded_text": &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: csv, MIMEType: "text/csv", Text: weatherTable}},
		"embedded_blob": &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: png, MIMEType: "image/png", Blob: weatherChart}},
	}
	switch args.Kind {
	case "structured":
		v.outcome = json.RawMessage(weather)
		return said(weather), nil
	case "tool_error":
		return failed("The gauge at the harbour does not answer. It was last seen at 04:12."), nil
	case "protocol_error":
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the weather station is on fire", Data: json.RawMessage(`{"station":"harbour","since":"04:12"}`)}
	}
	r := &mcp.CallToolResult{Content: []mcp.Content{}}
	for _, kind := range shows {
		if c := content[kind]; c != nil && (kind == args.Kind || args.Kind == "everything") {
			r.Content = append(r.Content, c)
		}
	}
	if args.Kind == "everything" {
		v.outcome = json.RawMessage(weather)
	}
	return r, nil
}

func whoAmI(_ context.Context, v *visit) (*mcp.CallToolResult, error) {
	modes := v.Modes()
	v.outcome = struct {
		Revision     string          `json:"revision"`
		Client       json.RawMessage `json:"client,omitempty"`
		Capabilities json.RawMessage `json:"capabilities,omitempty"`
		CanBeAsked   []string        `json:"canBeAsked"`
	}{v.Revision, v.Info, v.Capabilities, modes}
	name, questions := "someone", "no question at all"
	if v.Info != nil {
		name = rawjson.Text(rawjson.Member(v.Info, "name")) + " " + rawjson.Text(rawjson.Member(v.Info, "version"))
	}
	if len(modes) > 0 {
		questions = "questions as " + strings.Join(modes, " and ")
	}
	return said("You are %s, you speak %s, and you take %s.", name, v.Revision, questions), nil
}
