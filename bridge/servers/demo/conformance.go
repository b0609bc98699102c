package demo

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	protocol "elicitation-inspector/bridge/base/mcp"
)

// conformance holds the tools that the official conformance suite calls in its scenarios about questions and tasks. The
// suite describes their names, texts and fields. They ask and check as all stories do.
var conformance = []tool{
	{Name: "test_elicitation", Input: []byte(`{"message":{"type":"string","minLength":1,"default":"Please say who you are."}}`), story: taking(func(ctx context.Context, v *visit, args struct{ Message string }) (*mcp.CallToolResult, error) {
		return reported(ctx, v, "User response", question{message: args.Message, schema: object(
			`"username":{"type":"string","description":"User's response"},"email":{"type":"string","description":"User's email address"}`, "username", "email")})
	})},
	{Name: "test_elicitation_sep1034_defaults", story: func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
		return reported(ctx, v, "Elicitation completed", question{message: "Look at the defaults, and change what is not so.", schema: object(
			`"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},` +
				`"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}`)})
	}},
	{Name: "test_elicitation_sep1330_enums", story: func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
		const untitled, titled = `"enum":["option1","option2","option3"]`, `[{"const":"value1","title":"First"},{"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]`
		return reported(ctx, v, "Elicitation completed", question{message: "Choose from each list.", schema: object(
			`"untitledSingle":{"type":"string",` + untitled + `},"titledSingle":{"type":"string","oneOf":` + titled + `},` +
				`"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},` +
				`"untitledMulti":{"type":"array","items":{"type":"string",` + untitled + `}},"titledMulti":{"type":"array","items":{"anyOf":` + titled + `}}`)})
	}},
	{Name: "test_input_required_result_elicitation", story: func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
		var who struct{ Name string }
		if err := v.ask(ctx, textQuestion("user_name", "What is your name?", "name", &who)); err != nil {
			return nil, err
		}
		return said("Hello, %s!", who.Name), nil
	}},
	{Name: "test_input_required_result_sampling", story: func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
		var a answer
		if err := v.ask(ctx, sampleQuestion("capital_question", "What is the capital of France?", &a)); err != nil {
			return nil, err
		}
		return said("%s", a.Text), nil
	}},
	{Name: "test_input_required_result_list_roots", story: func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
		var a answer
		if err := v.ask(ctx, rootsQuestion(&a)); err != nil {
			return nil, err
		}
		return said("The roots are %v.", a.Roots), nil
	}},
	{Name: "test_input_required_result_request_state", story: stateChecked},
	{Name: "test_input_required_result_tampered_state", story: stateChecked},
	{Name: "test_input_required_result_multiple_inputs", story: func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
		v.begun()
		var who struct{ Name string }
		var greeting, roots answer
		if err := v.ask(ctx, textQuestion("user_name", "What is your name?", "name", &who), sampleQuestion("greeting", "Generate a greeting", &greeting), rootsQuestion(&roots)); err != nil {
			return nil, err
		}
		return said("%s, %s. The roots are %v.", greeting.Text, who.Name, roots.Roots), nil
	}},
	{Name: "test_input_required_result_multi_round", story: func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
		v.begun()
		var who struct{ Name string }
		if err := v.ask(ctx, textQuestion("step1", "Step 1: What is your name?", "name", &who)); err != nil {
			return nil, err
		}
		var likes struct{ Color string }
		if err := v.ask(ctx, textQuestion("step2", "Step 2: What is your favorite color?", "color", &likes)); err != nil {
			return nil, err
		}
		return said("%s likes %s.", who.Name, likes.Color), nil
	}},
	{Name: "test_input_required_result_capabilities", story: func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
		var who struct{ Name string }
		var greeting, roots answer
		var questions []question
		for _, q := range []question{textQuestion("user_name", "What is your name?", "name", &who), sampleQuestion("greeting", "Generate a greeting", &greeting), rootsQuestion(&roots)} {
			if v.missing(q) == "" {
				questions = append(questions, q)
			}
		}
		if err := v.ask(ctx, questions...); err != nil {
			return nil, err
		}
		return said("%d questions were asked.", len(questions)), nil
	}},
	{Name: "greet", Input: []byte(`{"name":{"type":"string","default":"World"}}`), story: taking(func(_ context.Context, _ *visit, args struct{ Name string }) (*mcp.CallToolResult, error) {
		return said("Hello, %s!", args.Name), nil
	})},
	{Name: "slow_compute", Task: "optional", Input: []byte(`{"seconds":{"type":"number","default":1,"minimum":0,"maximum":3600},"label":{"type":"string"}}`), story: asTask(taking(func(ctx context.Context, v *visit, args struct{ Seconds float64 }) (*mcp.CallToolResult, error) {
		if err := v.pause(ctx, time.Duration(args.Seconds*float64(time.Second))); err != nil {
			return nil, err
		}
		return said("It took %g seconds.", args.Seconds), nil
	}))},
	{Name: "failing_job", Task: "required", story: asTask(func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
		if err := v.pause(ctx, time.Second); err != nil {
			return nil, err
		}
		return nil, problem("The job has failed.")
	})},
	{Name: "protocol_error_job", Task: "required", story: asTask(func(context.Context, *visit) (*mcp.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "The job could not be done."}
	})},
	{Name: "confirm_delete", Task: "optional", Input: []byte(`{"filename":{"type":"string","default":"notes.txt"}}`), story: asTask(taking(func(ctx context.Context, v *visit, args struct{ Filename string }) (*mcp.CallToolResult, error) {
		return reported(ctx, v, "Deletion of "+args.Filename, question{message: "Delete " + args.Filename + "?", schema: object(`"confirm":{"type":"boolean"}`)})
	}))},
	{Name: "multi_input", Task: "optional", story: asTask(func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
		var first, second struct{ Name string }
		if err := v.ask(ctx, textQuestion("first", "What is the first name?", "name", &first), textQuestion("second", "And the second?", "name", &second)); err != nil {
			return nil, err
		}
		return said("%s and %s", first.Name, second.Name), nil
	})},
	{Name: "test_tool_with_task", Task: "required", story: func(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
		var who struct{ Name string }
		if err := v.ask(ctx, textQuestion("user_name", "What is your name?", "name", &who)); err != nil {
			return nil, err
		}
		return v.inTask(ctx, func(context.Context, *visit) (*mcp.CallToolResult, error) { return said("Hello, %s!", who.Name), nil })
	}},
}

// suite is the library of the conformance suite.
var suite = library{
	prompts: []mcp.Prompt{{Name: "test_input_required_result_prompt"}}, resources: []mcp.Resource{}, templates: []mcp.ResourceTemplate{},
	tells: map[string]func(context.Context, *visit) (*mcp.GetPromptResult, error){
		"test_input_required_result_prompt": func(ctx context.Context, v *visit) (*mcp.GetPromptResult, error) {
			var about struct{ Context string }
			if err := v.ask(ctx, textQuestion("user_context", "What context should the prompt use?", "context", &about)); err != nil {
				return nil, err
			}
			return prompted("A prompt with a context", "Go by this context: "+about.Context), nil
		},
	},
}

// reported asks a question, and tells its answer, whatever it is.
func reported(ctx context.Context, v *visit, what string, q question) (*mcp.CallToolResult, error) {
	q.key = "user_input"
	a, err := v.answer(ctx, q)
	if err != nil {
		return nil, err
	}
	return said("%s: action=%s, content=%s", what, a.Action, a.Content), nil
}

// begun puts a note into requestState, so that there is one from the first round on.
func (v *visit) begun() { v.memo("begun", func() string { return "yes" }) }

// stateChecked asks with a requestState, which must come back as it was.
func stateChecked(ctx context.Context, v *visit) (*mcp.CallToolResult, error) {
	v.begun()
	var answered struct{ OK bool }
	q := question{
		key: "confirm", message: "Please confirm", schema: object(`"ok":{"type":"boolean"}`, "ok"), into: &answered,
		declined: "It was not confirmed.", cancelled: "It was not confirmed.",
	}
	switch err := v.ask(ctx, q); {
	case err != nil:
		return nil, err
	case !answered.OK:
		return said("It was not confirmed."), nil
	}
	return said("state-ok"), nil
}

func textQuestion(key, message, field string, into any) question {
	return question{
		key: key, message: message, schema: object(string(mustJSON(field))+`:{"type":"string"}`, field), into: into,
		declined: "You did not say.", cancelled: "You did not say.",
	}
}

func sampleQuestion(key, text string, into *answer) question {
	return question{key: key, method: protocol.MethodSample, into: into, params: []byte(
		`{"messages":[{"role":"user","content":{"type":"text","text":` + string(mustJSON(text)) + `}}],"maxTokens":100}`)}
}

func rootsQuestion(into *answer) question {
	return question{key: "client_roots", method: protocol.MethodListRoots, into: into, params: []byte(`{}`)}
}
