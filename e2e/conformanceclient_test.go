package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
)

// clientEnv has the path of the inspector where the test binary is what the conformance suite runs
// as its client.
const clientEnv = "E2E_CONFORMANCE_CLIENT"

// metadataDocument is the URL of the client ID metadata document that the suite's authorization
// server expects.
const metadataDocument = "https://conformance-test.local/client-metadata.json"

// conformanceClient has the inspector do what a scenario of the suite wants of a client: list what
// the server offers, and call all of it. The suite passes the server's URL as the last argument,
// and further values in the environment (its README, Client Testing).
type conformanceClient struct {
	inspector, scenario, url string
	flags                    []string
	given                    struct {
		ToolCalls []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		PrivateKey   string `json:"private_key_pem"`
	}
}

// offeredItem is what inspector list --format json prints of an item.
type offeredItem struct {
	Kind   conversation.Kind `json:"kind"`
	Name   string            `json:"name"`
	URI    string            `json:"uri"`
	Schema json.RawMessage   `json:"schema"`
}

func runConformanceClient(path string, args []string) (err error) {
	folder, err := os.MkdirTemp("", "conformance-client-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	c := conformanceClient{inspector: path, scenario: os.Getenv("MCP_CONFORMANCE_SCENARIO"), url: args[len(args)-1]}
	c.flags = []string{"--timeout", "20s", "--sampling", "--roots", "--oauth-wait", "20s", "--transport", "http"}
	if revision := os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION"); revision != "" {
		c.flags = append(c.flags, "--protocol", revision)
	}
	if given := os.Getenv("MCP_CONFORMANCE_CONTEXT"); given != "" {
		if err := json.Unmarshal([]byte(given), &c.given); err != nil {
			return err
		}
	}
	if c.scenario == "auth/basic-cimd" {
		c.flags = append(c.flags, "--oauth-client-metadata-url", metadataDocument)
	}
	if c.given.ClientID != "" {
		c.flags = append(c.flags, "--oauth-client-id", c.given.ClientID)
	}
	for flag, text := range map[string]string{"--oauth-client-secret-file": c.given.ClientSecret, "--oauth-client-key-file": c.given.PrivateKey} {
		if text != "" {
			file := filepath.Join(folder, flag)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				return err
			}
			c.flags = append(c.flags, flag, file)
		}
	}
	answers := filepath.Join(folder, "answers.yaml")
	if err := os.WriteFile(answers, []byte("default: {accept: valid}\n"), 0o600); err != nil {
		return err
	}
	calls, err := c.calls()
	if err != nil {
		return err
	}
	failed := make([]error, len(calls))
	var calling sync.WaitGroup
	for i, call := range calls { // together, to show if messages of one reach another
		calling.Go(func() {
			_, failed[i] = c.run(append([]string{"call", "--answers", answers}, call...)...)
			var exit *exec.ExitError
			if errors.As(failed[i], &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == 4) {
				failed[i] = nil // an error is a response, too
			}
		})
	}
	calling.Wait()
	return errors.Join(failed...)
}

// calls returns the calls to make, as arguments of inspector call: those that the scenario
// prescribes, or else one for each item, with arguments that its schema allows.
func (c *conformanceClient) calls() (calls [][]string, err error) {
	if strings.HasPrefix(c.scenario, "auth/") { // a command signs in anew, and the suite counts
		return [][]string{{"test-tool"}}, nil
	}
	for _, call := range c.given.ToolCalls {
		calls = append(calls, []string{call.Name, "--args", string(call.Arguments)})
	}
	if calls != nil {
		return calls, nil
	}
	printed, listed := c.run("list", "--format", "json")
	var items []offeredItem
	if err := json.Unmarshal(printed, &items); err != nil {
		return nil, errors.Join(listed, err)
	}
	for _, item := range items {
		arguments, err := elicit.Arguments(item.Schema)
		if err != nil || arguments == nil {
			arguments = json.RawMessage("{}") // the server judges them
		}
		if focal := slices.IndexFunc(items, func(i offeredItem) bool { return i.Name == "json_schema_2020_12_tool" }); item.Name == "json_schema_echo" && focal >= 0 {
			arguments = fmt.Appendf(nil, `{"schema":%s}`, items[focal].Schema) // as the scenario requires
		}
		switch item.Kind {
		case conversation.Tool:
			calls = append(calls, []string{item.Name, "--args", string(arguments)})
		case conversation.Prompt:
			calls = append(calls, []string{"--prompt", item.Name, "--args", string(arguments)})
		case conversation.Resource:
			calls = append(calls, []string{"--resource", item.URI})
		case conversation.Template:
			uri, err := conversation.ExpandTemplate(item.URI, arguments)
			if err != nil {
				return nil, err
			}
			calls = append(calls, []string{"--resource", uri})
		}
	}
	return calls, nil
}

// run runs a command of the inspector on the server, opens the address of a sign-in that it prints,
// from which the suite's authorization server sends the browser back at once, and returns what is
// on standard output.
func (c *conformanceClient) run(args ...string) ([]byte, error) {
	cmd := exec.Command(c.inspector, append(append(args, c.flags...), c.url)...)
	said, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var opening sync.WaitGroup
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		fmt.Fprintln(os.Stderr, lines.Text())
		if line := lines.Text(); strings.HasPrefix(line, "http://") || strings.HasPrefix(line, "https://") {
			opening.Go(func() {
				if resp, err := http.Get(line); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
			})
		}
	}
	opening.Wait()
	err = errors.Join(lines.Err(), cmd.Wait()) // all of the output has been copied after it
	return []byte(out.String()), err
}
