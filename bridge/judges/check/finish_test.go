//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package check

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/judges/check/judge"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/testdata/logtest"
)

// TestToldOnce expects one linter finding for each defect of a call and revision, and one
// for each declaration if a question comes in an undeclared mode.
func TestToldOnce(t *testing.T) {
	t.Parallel()
	one := func(behaviour, rule string) report.Result {
		return report.Result{Trial: report.Trial{Behaviour: behaviour, Revision: "2025-11-25"}, Findings: []report.Finding{{Rule: rule, Verdict: report.Fail}}}
	}
	results := []report.Result{
		one(judge.BehaviourAccept, "secret-in-form"), one(judge.BehaviourDecline, "secret-in-form"),
		one(judge.BehaviourNone, undeclaredMode), one(judge.BehaviourURL, undeclaredMode), one(judge.BehaviourURL, undeclaredMode),
		one(judge.BehaviourDecline, report.RuleNoResponse), one(judge.BehaviourCancel, report.RuleNoResponse),
	}
	tellOnce(results)
	var verdicts []string
	for _, r := range results {
		verdicts = append(verdicts, string(r.Verdict))
	}
	if got := strings.Join(verdicts, " "); got != "fail pass fail fail pass fail fail" {
		t.Error(got)
	}
}

// TestToolsGetArguments expects tools to be called with an arguments object, even with an
// empty one.
func TestToolsGetArguments(t *testing.T) {
	t.Parallel()
	for kind, want := range map[conversation.Kind]string{conversation.Tool: "{}", conversation.Prompt: ""} {
		var c chosen
		if why := c.makeUp(conversation.Item{Kind: kind, Schema: json.RawMessage(`{"type":"object"}`)}); why != "" || string(c.Arguments) != want || c.MadeUp {
			t.Errorf("%s: %q, %s", kind, why, c.Arguments)
		}
	}
}

// TestNotSpoken expects a problem for a revision that the server announces and refuses, and
// none for one that it does not know.
func TestNotSpoken(t *testing.T) {
	t.Parallel()
	server := sdk.NewServer(&sdk.Implementation{Name: "announcing"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "silent"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{}, nil, nil
	})
	server.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if p, ok := r.GetParams().(*sdk.InitializeParams); ok && p.ProtocolVersion == mcp.Revision20251125 {
				return nil, errors.New("not today")
			}
			return next(ctx, method, r)
		}
	})
	whole, err := Run(t.Context(), Options{Server: headless.Config{Target: target.Spec{Name: "announcing", Builtin: logtest.Serving(server.Connect)}}, Jobs: 4})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(whole.Problems, func(p report.Problem) bool { return p.Kind == report.NotSpoken })
	if i < 0 || !slices.Equal(whole.Problems[i].Revisions, []string{mcp.Revision20251125}) || !strings.Contains(whole.Problems[i].Text, "not today") || len(whole.Revisions) != 2 {
		t.Errorf("in %v: %+v", whole.Revisions, whole.Problems)
	}
}

// TestSilentCallsAreLinted expects what the linter finds in a call that asks nothing to
// stand in the report.
func TestSilentCallsAreLinted(t *testing.T) {
	t.Parallel()
	server := sdk.NewServer(&sdk.Implementation{Name: "silent"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "silent"}, func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		_, _ = r.Session.ListRoots(ctx, nil) // which the client does not declare
		return &sdk.CallToolResult{Content: []sdk.Content{}}, nil, nil
	})
	whole, err := Run(t.Context(), Options{
		Server: headless.Config{Target: target.Spec{Name: "silent", Builtin: logtest.Serving(server.Connect)}}, Jobs: 4, Behaviours: []string{judge.BehaviourDecline},
		Revisions: []string{mcp.Revision20251125},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(whole.Results) == 0 || len(whole.Results[0].Findings) != 1 || whole.Results[0].Findings[0].Rule != "roots-undeclared" || len(whole.Calls) != 1 || len(whole.Silent) != 1 || len(whole.Problems) != 1 || whole.Problems[0].Kind != report.NothingTried {
		t.Errorf("%+v", whole)
	}
}

// TestAsksNoPerson expects a call that asks for nothing but roots, round after round, to be
// told as that.
func TestAsksNoPerson(t *testing.T) {
	t.Parallel()
	server := sdk.NewServer(&sdk.Implementation{Name: "roots"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "list"}, func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{"roots": &sdk.ListRootsParams{}}}, nil, nil
	})
	whole, err := Run(t.Context(), Options{
		Server: headless.Config{Target: target.Spec{Name: "roots", Builtin: logtest.Serving(server.Connect)}}, Jobs: 4,
		Revisions: []string{mcp.Revision20260728}, Timeout: 2 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(whole.Problems) == 0 || !strings.HasPrefix(whole.Problems[0].Text, "It asked the client, but no person, and did not succeed: after 2s it was still asking, in round ") || !strings.Contains(whole.Problems[0].Do, "--roots") {
		t.Errorf("%+v", whole.Problems)
	}
}

// TestUnaskedInOneRevision expects a call that asks in one revision alone to be told in the
// other, if its result there is that of an accepted call.
func TestUnaskedInOneRevision(t *testing.T) {
	t.Parallel()
	for _, refuses := range []bool{true, false} {
		server := sdk.NewServer(&sdk.Implementation{Name: "unasked"}, nil)
		sdk.AddTool(server, &sdk.Tool{Name: "delete"}, func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			answer, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Delete it?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
			text := "It is deleted." // also where the revision has no such request
			if refuses && err == nil && answer.Action != "accept" {
				text = "It is kept."
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil, nil
		})
		whole, err := Run(t.Context(), Options{
			Server: headless.Config{Target: target.Spec{Name: "unasked", Builtin: logtest.Serving(server.Connect)}}, Jobs: 4,
			Revisions: []string{mcp.Revision20260728, mcp.Revision20251125}, Behaviours: []string{judge.BehaviourAccept, judge.BehaviourDecline, judge.BehaviourCancel},
		})
		if err != nil {
			t.Fatal(err)
		}
		told := slices.ContainsFunc(whole.Results, func(one report.Result) bool {
			return one.Revision == mcp.Revision20260728 && one.Verdict == report.Warn && len(one.Evidence) == 2 && strings.Contains(one.Findings[0].Text, "the client was not asked, as it is in 2025-11-25, and the result is that of an accepted call")
		})
		if told != refuses {
			t.Errorf("it refuses: %v: %+v", refuses, whole.Results)
		}
	}
}

// TestDestructiveIsNotShortOfArguments expects a tool that was named and left out because it is
// destructive not to be said to lack arguments.
func TestDestructiveIsNotShortOfArguments(t *testing.T) {
	t.Parallel()
	o := builtin(t)
	o.Wanted, o.Revisions = []Wanted{{Key: "delete_files"}}, []string{mcp.Revision20251125}
	whole, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	named := slices.IndexFunc(whole.Problems, func(p report.Problem) bool { return p.Kind == report.AskedNothing })
	if named < 0 || whole.Problems[named].Do != "Allow it if the server may be harmed, or leave it out." {
		t.Errorf("%+v", whole.Problems)
	}
}

// TestWhatToDoInARevision expects a call that asks in a way that its revision does not have to
// be said to do so, and not to lack arguments or answers.
func TestWhatToDoInARevision(t *testing.T) {
	t.Parallel()
	older := sdk.NewServer(&sdk.Implementation{Name: "older"}, nil)
	sdk.AddTool(older, &sdk.Tool{Name: "pay"}, func(ctx context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		_, err := r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "Pay?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
		return nil, nil, err
	})
	for _, test := range []struct {
		revision string
		target   target.Spec
		want     string
	}{
		{mcp.Revision20260728, target.Spec{Name: "older", Builtin: logtest.Serving(older.Connect)}, "input-required result"},
		{mcp.Revision20250618, target.Spec{Name: "newer", Command: []string{"sh", "-c", asksForAVisit}}, "do without that in this revision"},
	} {
		whole, err := Run(t.Context(), Options{
			Server: headless.Config{Target: test.target}, Jobs: 4, Revisions: []string{test.revision}, Behaviours: []string{judge.BehaviourDecline},
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(whole.Problems) == 0 || !strings.Contains(whole.Problems[0].Do, test.want) {
			t.Errorf("%s: %+v", test.revision, whole.Problems)
		}
	}
}

// asksForAVisit is a server of 2025-06-18, in shell, that asks in URL mode, which that revision
// does not have.
const asksForAVisit = `while read -r line; do
	id=${line#*\"id\":}; id=${id%%[,\}]*}
	case $line in
	*'"method":"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"newer","version":"1"}}' ;;
	*'"method":"tools/list"'*) result='{"tools":[{"name":"pay","inputSchema":{"type":"object"}}]}' ;;
	*'"method":"tools/call"'*)
		echo '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"mode":"url","message":"Pay here.","url":"https://example.com/","elicitationId":"1"}}'
		read -r refusal
		result='{"isError":true,"content":[{"type":"text","text":"It could not ask."}]}' ;;
	*) continue ;;
	esac
	printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done`
