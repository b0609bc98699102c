//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package demo

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

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
	r := &mcp.CallToolResult{}
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

// capabilities holds the capabilities that a client has declared. The SDK's own type always has roots in its JSON.
type capabilities struct {
	Elicitation  *mcp.ElicitationCapabilities `json:"elicitation,omitempty"`
	Sampling     *mcp.SamplingCapabilities    `json:"sampling,omitempty"`
	Roots        *mcp.RootCapabilities        `json:"roots,omitempty"`
	Extensions   map[string]any               `json:"extensions,omitempty"`
	Experimental map[string]any               `json:"experimental,omitempty"`
}

func whoAmI(_ context.Context, v *visit) (*mcp.CallToolResult, error) {
	var declared capabilities
	if c := v.caps; c != nil {
		declared = capabilities{c.Elicitation, c.Sampling, c.RootsV2, c.Extensions, c.Experimental}
	}
	modes := modesOf(v.revision, v.caps)
	v.outcome = struct {
		Revision     string              `json:"revision"`
		Client       *mcp.Implementation `json:"client,omitempty"`
		Capabilities capabilities        `json:"capabilities"`
		CanBeAsked   []string            `json:"canBeAsked"`
	}{v.revision, v.client, declared, modes}
	name, questions := "someone", "no question at all"
	if v.client != nil {
		name = v.client.Name + " " + v.client.Version
	}
	if len(modes) > 0 {
		questions = "questions as " + strings.Join(modes, " and ")
	}
	return said("You are %s, you speak %s, and you take %s.", name, v.revision, questions), nil
}
