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

// addLibrary adds the prompts and resources, most of which ask before they give anything.
func (s *Server) addLibrary() {
	s.mcp.AddPrompt(&mcp.Prompt{
		Name: "release_notes", Title: "Write release notes",
		Description: "Asks for whom and in which tone before it returns the prompt. Shows a prompt that asks.",
		Arguments:   []*mcp.PromptArgument{{Name: "version", Title: "Version", Description: "Such as 1.4.0", Required: true}},
	}, func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return tellOther(ctx, s, req, methodGetPrompt, req.Params.Name, &mcp.GetPromptResult{}, releaseNotes)
	})
	s.mcp.AddPrompt(&mcp.Prompt{
		Name: "stand_up", Title: "Prepare the stand-up",
		Description: "A prompt that asks nothing, for comparison.",
	}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return prompted("What the team did yesterday", "Sum up what changed in the repository since yesterday, in three sentences, without praise."), nil
	})

	read := func(tell func(context.Context, *visit) (*mcp.ReadResourceResult, error)) mcp.ResourceHandler {
		return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return tellOther(ctx, s, req, methodReadResource, req.Params.URI, &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{}}, tell)
		}
	}
	s.mcp.AddResource(&mcp.Resource{
		URI: "contract://lease/old-mill", Name: "lease", Title: "Lease of the old mill", MIMEType: "text/markdown",
		Description: "Asks why you want to read it. Shows a resource that asks.",
	}, read(readContract))
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "contract://{party}/{document}", Name: "contract", Title: "A contract", MIMEType: "text/markdown",
		Description: "Any contract that you can name, after a question about your reasons. Shows a resource template that asks.",
	}, read(readContract))
	s.mcp.AddResource(&mcp.Resource{
		URI: "weather://harbour/yesterday", Name: "yesterday", Title: "Yesterday's weather", MIMEType: "text/csv",
		Description: "Hour by hour. A resource that asks nothing.",
	}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Text: table()}}}, nil
	})
	s.mcp.AddResource(&mcp.Resource{
		URI: "weather://harbour/yesterday.png", Name: "yesterday.png", Title: "Yesterday's weather, drawn", MIMEType: "image/png",
		Description: "A picture. A resource that asks nothing.",
	}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		picture, err := chart()
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{Blob: picture}}}, nil
	})
}

// tellOther tells a story for a prompt or a resource, whose results cannot be marked as errors.
// placeholder is returned where a raw result takes its place.
func tellOther[P mcp.Params, R mcp.Result](ctx context.Context, s *Server, req *mcp.ServerRequest[P], method, name string, placeholder R, tell func(context.Context, *visit) (R, error)) (R, error) {
	var none R
	ctx, v, err := welcome(ctx, s, req, method, name)
	if err != nil {
		return none, err
	}
	defer v.leave()
	res, err := tell(ctx, v)
	var (
		again *inputRequired
		why   problem
	)
	switch {
	case errors.As(err, &again):
		raw, err := again.result(v)
		if err != nil {
			return none, err
		}
		replyRaw(ctx, raw)
		return placeholder, nil
	case errors.As(err, &why):
		return none, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: string(why)}
	case err != nil:
		return none, err
	}
	return res, nil
}

func prompted(description, text string) *mcp.GetPromptResult {
	return &mcp.GetPromptResult{
		Description: description,
		Messages:    []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}},
	}
}

func releaseNotes(ctx context.Context, v *visit) (*mcp.GetPromptResult, error) {
	args := struct{ Version string }{}
	if err := v.args(&args); err != nil {
		return nil, err
	}
	if args.Version == "" {
		return nil, problem("release_notes needs a version.")
	}
	a, err := v.ask(ctx, question{key: "notes", message: "Release notes for " + args.Version + ": who reads them?", schema: `{"type":"object","properties":{
		"audience":{"type":"string","title":"Readers","oneOf":[
			{"const":"users","title":"People who use it"},{"const":"developers","title":"People who build on it"},{"const":"press","title":"People who write about it"}],"default":"users"},
		"tone":{"type":"string","title":"Tone","enum":["plain","warm","dry"],"default":"plain"},
		"breaking":{"type":"boolean","title":"Begin with what breaks","default":true}
	},"required":["audience"]}`})
	if err != nil {
		return nil, err
	}
	if !a.accepted() {
		return nil, problem("No release notes without readers.")
	}
	var n struct {
		Audience, Tone string
		Breaking       bool
	}
	if err := a.into(&n); err != nil {
		return nil, err
	}
	text := fmt.Sprintf("Write the release notes of version %s for %s, in a %s tone.", args.Version, n.Audience, n.Tone)
	if n.Tone == "" {
		text = fmt.Sprintf("Write the release notes of version %s for %s.", args.Version, n.Audience)
	}
	if n.Breaking {
		text += " Begin with what breaks."
	}
	return prompted("Release notes for "+args.Version, text), nil
}

func readContract(ctx context.Context, v *visit) (*mcp.ReadResourceResult, error) {
	u, err := url.Parse(v.name)
	if err != nil {
		return nil, problem("The address of the contract could not be read: " + err.Error())
	}
	party, document := u.Host, strings.TrimPrefix(u.Path, "/")
	a, err := v.ask(ctx, question{key: "reason", message: fmt.Sprintf("Why do you want to read the %s of %s? It goes into the register.", document, party), schema: `{"type":"object","properties":{
		"reason":{"type":"string","title":"Reason","oneOf":[
			{"const":"audit","title":"Audit"},{"const":"renewal","title":"Renewal"},{"const":"curiosity","title":"Curiosity"}]},
		"until":{"type":"string","title":"Access until","format":"date"}
	},"required":["reason"]}`})
	if err != nil {
		return nil, err
	}
	if !a.accepted() {
		return nil, problem("The contract stays in its drawer.")
	}
	var r struct{ Reason string }
	if err := a.into(&r); err != nil {
		return nil, err
	}
	if r.Reason == "curiosity" {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Curiosity is not enough.", Data: json.RawMessage(`{"accepted":["audit","renewal"]}`)}
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
		Text: fmt.Sprintf("# %s, %s\n\n1. The mill turns when the wind blows.\n2. The rent is a sack of flour a month.\n\n*Shown for: %s.*\n", document, party, r.Reason),
	}}}, nil
}
