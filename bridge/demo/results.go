//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// show is a kind of result.
type show string

func (s show) id() string { return string(s) }

var shows = []show{"text", "structured", "image", "audio", "resource_link", "embedded_text", "embedded_blob", "everything", "tool_error", "protocol_error", "nothing"}

// results are the stories that ask nothing: what results look like, and what the server knows about its client.
var results = []tool{{
	name: "show_result", title: "Show a result", tell: taking(showResult),
	annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)},
	description: "The weather of yesterday, in the form that you choose. Shows each kind of content that a result can have, and both kinds of errors. Asks nothing.",
	input:       `"kind":` + choice("Kind", "everything", shows),
}, {
	name: "who_am_i", title: "Tell what the server knows of you", tell: whoAmI,
	annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)},
	description: "Returns the client's name, its revision and the capabilities that it has declared. Shows how those differ between revisions and settings. Asks nothing.",
	output: object(`"revision":{"type":"string"},"client":{"type":"object"},"capabilities":{"type":"object"},
		"canBeAsked":{"type":"array","items":{"type":"string","enum":["form","url"]}}`, "revision", "canBeAsked"),
}}

// weather is structured content.
type weather struct {
	Place string    `json:"place"`
	Rain  float64   `json:"rain_mm"`
	Hours []float64 `json:"hours"`
	Sun   bool      `json:"sun"`
}

func showResult(_ context.Context, v *visit, args struct{ Kind show }) (*mcp.CallToolResult, error) {
	yesterday := weather{"Harbour", 11.2, rain[:], true}
	picture, err := chart()
	if err != nil {
		return nil, err
	}
	content := map[show]mcp.Content{
		"text":          &mcp.TextContent{Text: "Yesterday it rained until four, 11.2 mm, and then the sun came out."},
		"image":         &mcp.ImageContent{Data: picture, MIMEType: "image/png"},
		"audio":         &mcp.AudioContent{Data: chime(), MIMEType: "audio/wav"},
		"resource_link": &mcp.ResourceLink{URI: "weather://harbour/yesterday", Name: "yesterday", Title: "Yesterday's weather", Description: "Hour by hour", MIMEType: "text/csv"},
		"embedded_text": &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "weather://harbour/yesterday", MIMEType: "text/csv", Text: table()}},
		"embedded_blob": &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "weather://harbour/yesterday.png", MIMEType: "image/png", Blob: picture}},
	}
	switch args.Kind {
	case "structured":
		v.outcome = yesterday
		return said("%s", mustJSON(yesterday)), nil
	case "everything":
		v.outcome = yesterday
		r := &mcp.CallToolResult{}
		for _, s := range shows {
			if c := content[s]; c != nil {
				r.Content = append(r.Content, c)
			}
		}
		return r, nil
	case "tool_error":
		return failed("The gauge at the harbour does not answer. It was last seen at 04:12."), nil
	case "protocol_error":
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the weather station is on fire", Data: json.RawMessage(`{"station":"harbour","since":"04:12"}`)}
	case "nothing":
		return &mcp.CallToolResult{}, nil
	}
	return &mcp.CallToolResult{Content: []mcp.Content{content[args.Kind]}}, nil
}

// rain is in mm an hour, over a day.
var rain = [24]float64{0, 0, 0, 0, 0.2, 0.4, 0.8, 1.1, 1.4, 1.2, 1.0, 0.9, 1.3, 1.5, 1.0, 0.4, 0, 0, 0, 0, 0, 0, 0, 0}

func table() string {
	var b strings.Builder
	b.WriteString("hour,mm\n")
	for h, mm := range rain {
		fmt.Fprintf(&b, "%02d:00,%.1f\n", h, mm)
	}
	return b.String()
}

// chart draws the rain as a PNG.
func chart() ([]byte, error) {
	const w, h = 240, 96
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{
		color.RGBA{0xf6, 0xf7, 0xf9, 0xff}, color.RGBA{0x1f, 0x5f, 0xbf, 0xff}, color.RGBA{0xcf, 0xd6, 0xde, 0xff},
	})
	for x := range w {
		mm := rain[x*24/w]
		for y := range h {
			switch {
			case y == h-1:
				img.SetColorIndex(x, y, 2)
			case x%10 > 0 && float64(h-y) < mm*56:
				img.SetColorIndex(x, y, 1)
			}
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, fmt.Errorf("drawing the rain: %w", err)
	}
	return b.Bytes(), nil
}

// chime is two notes, as a WAV file of half a second: 4,000 samples of 8 bits each, 8,000 of them a second.
func chime() []byte {
	const rate, samples = 8000, 4000
	b := []byte("RIFF\xc4\x0f\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\xa0\x0f\x00\x00")
	for i := range samples {
		f := 660.0
		if i > samples/2 {
			f = 880
		}
		fade := 1 - float64(i%(samples/2))/(samples/2)
		b = append(b, byte(128+90*fade*math.Sin(2*math.Pi*f*float64(i)/rate)))
	}
	return b
}

// capabilities are those of a client as it declared them. The SDK's own type always has roots in its JSON.
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
