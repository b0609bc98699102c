// Command mcpgo is an MCP server without faults, written with mcp-go: it validates
// input, respects a refusal, and answers every call. A check must find nothing in it.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

var key = func() []byte { k := make([]byte, 32); rand.Read(k); return k }()

// main serves over stdio, or over Streamable HTTP at the address that is its argument.
func main() {
	s := server.NewMCPServer("right-mcpgo", "1.0.0", server.WithElicitation())
	s.AddTool(tool("order_cake", "Asks which cake it should be."), orderCake)
	s.AddTool(tool("hang_poster", "Asks until it has an answer to go by."), hangPoster)
	s.AddTool(tool("sign_contract", "Sends you to a page to sign."), signContract)
	if len(os.Args) > 1 {
		log.Print("listening at ", os.Args[1])
		log.Fatal(server.NewStreamableHTTPServer(s).Start(os.Args[1]))
	}
	if err := server.ServeStdio(s); err != nil {
		log.Print(err) // the client has closed the connection
	}
}

// tool returns a tool with destructiveHint false: mcp-go's default is true.
func tool(name, description string) mcp.Tool {
	return mcp.NewTool(name, mcp.WithDescription(description), mcp.WithDestructiveHintAnnotation(false))
}

// can reports whether the client has declared a mode.
func can(ctx context.Context, r mcp.CallToolRequest, mode string) bool {
	var caps *mcp.ElicitationCapability
	if r.Params.Meta != nil && r.Params.Meta.ClientCapabilities() != nil {
		caps = r.Params.Meta.ClientCapabilities().Elicitation
	} else if s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		caps = s.GetClientCapabilities().Elicitation
	}
	switch {
	case caps == nil:
		return false
	case mode == mcp.ElicitationModeURL:
		return caps.URL != nil && server.RequestProtocolVersion(ctx) >= mcp.ProtocolVersion20251125
	}
	return caps.Form != nil || caps.URL == nil
}

// state returns a requestState for a tool, with a MAC that only this server can make.
func state(tool, what string) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s\n%s", tool, what)
	return what + ":" + hex.EncodeToString(mac.Sum(nil))
}

// answerOf returns the answer in this request; nil if there is none. It refuses the
// requestState of another tool.
func answerOf(r mcp.CallToolRequest, what string) (*mcp.ElicitationResult, error) {
	switch r.Params.RequestState {
	case "":
		return nil, nil
	case state(r.Params.Name, what):
		return server.ElicitationResponse(r.Params.InputResponses, what), nil
	}
	return nil, fmt.Errorf("the state of the request is not known here")
}

func orderCake(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if !can(ctx, r, mcp.ElicitationModeForm) {
		return mcp.NewToolResultError("This client cannot show a form."), nil
	}
	answer, err := answerOf(r, "cake")
	if err != nil {
		return mcp.NewToolResultError(err.Error()), nil
	}
	if answer == nil {
		return server.NewInputRequestBuilder(state("order_cake", "cake")).Elicit("cake", mcp.ElicitationParams{
			Message: "Which cake should it be?",
			RequestedSchema: map[string]any{
				"type": "object",
				"properties": map[string]any{
					"kind":    map[string]any{"type": "string", "title": "Kind", "enum": []string{"Apple", "Plum"}},
					"pieces":  map[string]any{"type": "integer", "title": "Pieces", "minimum": 1, "maximum": 24},
					"candles": map[string]any{"type": "boolean", "title": "With candles"},
					"words":   map[string]any{"type": "string", "title": "Words on it", "maxLength": 30},
				},
				"required": []string{"kind", "pieces"},
			},
		}).ToolResult(), nil
	}
	if answer.Action != mcp.ElicitationResponseActionAccept {
		return mcp.NewToolResultText("No cake then."), nil
	}
	content, _ := answer.Content.(map[string]any)
	kind, _ := content["kind"].(string)
	pieces, _ := content["pieces"].(float64)
	_, candles := content["candles"].(bool)
	words, written := content["words"].(string)
	switch {
	case !slices.Contains([]string{"Apple", "Plum"}, kind):
		return mcp.NewToolResultError("We bake apple and plum cakes only."), nil
	case pieces != math.Trunc(pieces) || pieces < 1 || pieces > 24:
		return mcp.NewToolResultError("A cake has between 1 and 24 pieces."), nil
	case content["candles"] != nil && !candles, content["words"] != nil && !written, len([]rune(words)) > 30:
		return mcp.NewToolResultError("The order could not be read."), nil
	}
	return mcp.NewToolResultText(fmt.Sprintf("%s cake, %g pieces, %q: ready at four.", kind, pieces, words)), nil
}

// hangPoster repeats its question, with the reason, if the answer is not valid.
func hangPoster(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if !can(ctx, r, mcp.ElicitationModeForm) {
		return mcp.NewToolResultError("This client cannot show a form."), nil
	}
	message := "Where should the poster hang?"
	answer, err := answerOf(r, "wall")
	switch {
	case err != nil:
		return nil, err
	case answer == nil:
	case answer.Action == mcp.ElicitationResponseActionAccept:
		content, _ := answer.Content.(map[string]any)
		wall, _ := content["wall"].(string)
		if n := len([]rune(wall)); n >= 2 && n <= 40 {
			return mcp.NewToolResultText("The poster hangs here: " + strings.TrimSpace(wall)), nil
		}
		message = "That is no place. " + message
	default:
		return mcp.NewToolResultText("The poster stays in its tube."), nil
	}
	return server.NewInputRequestBuilder(state("hang_poster", "wall")).Elicit("wall", mcp.ElicitationParams{
		Message: message,
		RequestedSchema: map[string]any{
			"type":       "object",
			"properties": map[string]any{"wall": map[string]any{"type": "string", "title": "Wall", "minLength": 2, "maxLength": 40}},
			"required":   []string{"wall"},
		},
	}).ToolResult(), nil
}

func signContract(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if !can(ctx, r, mcp.ElicitationModeURL) {
		return mcp.NewToolResultError("This client cannot open a page."), nil
	}
	answer, err := answerOf(r, "page")
	if err != nil {
		return nil, err
	}
	if answer == nil {
		id := ""
		if server.RequestProtocolVersion(ctx) == mcp.ProtocolVersion20251125 {
			id = "contract-12"
		}
		return server.NewInputRequestBuilder(state("sign_contract", "page")).Elicit("page", mcp.ElicitationParams{
			Mode: mcp.ElicitationModeURL, Message: "Sign the contract on its page.", URL: "https://contracts.example/12", ElicitationID: id,
		}).ToolResult(), nil
	}
	if answer.Action != mcp.ElicitationResponseActionAccept {
		return mcp.NewToolResultError("The contract is not signed."), nil
	}
	return mcp.NewToolResultText("We look at the contract as soon as you have signed it."), nil
}
