package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addLibrary adds the prompts and resources. Most ask a question first.
func (s *Server) addLibrary() {
	s.mcp.AddPrompt(&mcp.Prompt{
		Name: "release_notes", Title: "Write release notes",
		Description: "Asks for whom and in which tone before it returns the prompt. Shows a prompt that asks.",
		Arguments:   []*mcp.PromptArgument{{Name: "version", Title: "Version", Description: "Such as 1.4.0", Required: true}},
	}, telling[*mcp.GetPromptParams](s, releaseNotes))
	s.mcp.AddPrompt(&mcp.Prompt{
		Name: "stand_up", Title: "Prepare the stand-up",
		Description: "A prompt that asks nothing, for comparison.",
	}, telling[*mcp.GetPromptParams](s, standUp))
	s.mcp.AddResource(&mcp.Resource{
		URI: "contract://lease/old-mill", Name: "lease", Title: "Lease of the old mill", MIMEType: "text/markdown",
		Description: "Asks why you want to read it. Shows a resource that asks.",
	}, telling[*mcp.ReadResourceParams](s, readContract))
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "contract://{party}/{document}", Name: "contract", Title: "A contract", MIMEType: "text/markdown",
		Description: "Any contract that you can name, after a question about your reasons. Shows a resource template that asks.",
	}, telling[*mcp.ReadResourceParams](s, readContract))
	s.mcp.AddResource(&mcp.Resource{
		URI: "weather://harbour/yesterday", Name: "yesterday", Title: "Yesterday's weather", MIMEType: "text/csv",
		Description: "Hour by hour. A resource that asks nothing.",
	}, telling[*mcp.ReadResourceParams](s, func(context.Context, *visit) (*mcp.ReadResourceResult, error) {
		return contents(mcp.ResourceContents{Text: weatherTable}), nil
	}))
	s.mcp.AddResource(&mcp.Resource{
		URI: "weather://harbour/yesterday.png", Name: "yesterday.png", Title: "Yesterday's weather, drawn", MIMEType: "image/png",
		Description: "A picture. A resource that asks nothing.",
	}, telling[*mcp.ReadResourceParams](s, func(context.Context, *visit) (*mcp.ReadResourceResult, error) {
		return contents(mcp.ResourceContents{Blob: weatherChart}), nil
	}))
}

// telling makes a handler that tells a story for a prompt or a resource. Their results cannot be marked as errors.
func telling[P mcp.Params, R mcp.Result](s *Server, tell func(context.Context, *visit) (R, error)) func(context.Context, *mcp.ServerRequest[P]) (R, error) {
	return func(ctx context.Context, req *mcp.ServerRequest[P]) (R, error) {
		var none R
		ctx, v, err := welcome(ctx, s, req)
		if err != nil {
			return none, err
		}
		defer v.leave()
		res, err := tell(ctx, v)
		if early := (*ending)(nil); errors.As(err, &early) {
			err = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: early.text}
		}
		return res, err
	}
}

func prompted(description, text string) *mcp.GetPromptResult {
	return &mcp.GetPromptResult{
		Description: description,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
	}
}

func contents(c mcp.ResourceContents) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}
}

func standUp(context.Context, *visit) (*mcp.GetPromptResult, error) {
	return prompted("What the team did yesterday", "Sum up what changed in the repository since yesterday, in three sentences, without praise."), nil
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

func readContract(ctx context.Context, v *visit) (*mcp.ReadResourceResult, error) {
	u, err := url.Parse(v.name)
	if err != nil {
		return nil, problem("The address of the contract could not be read: %v", err)
	}
	party, document := u.Host, strings.TrimPrefix(u.Path, "/")
	var r struct{ Reason string }
	if err := v.ask(ctx, form("reason", &r, document, party)); err != nil {
		return nil, err
	}
	if r.Reason == "curiosity" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Curiosity is not enough.", Data: json.RawMessage(`{"accepted":["audit","renewal"]}`)}
	}
	return contents(mcp.ResourceContents{
		Text: fmt.Sprintf("# %s, %s\n\n1. The mill turns when the wind blows.\n2. The rent is a sack of flour a month.\n\n*Shown for: %s.*\n", document, party, r.Reason),
	}), nil
}
