// Command headless is the inspector without a page, as a client for the official
// conformance suite. It connects to the URL in its last argument, calls every item of
// the server, answers each question with values that its schema suggests, and ends when
// every call has ended. It fails if a call has no response; an error response counts as
// a response.
//
// The suite passes further values in the environment (its README, Client Testing):
// MCP_CONFORMANCE_PROTOCOL_VERSION is the revision to use, MCP_CONFORMANCE_SCENARIO the
// name of the scenario, MCP_CONFORMANCE_CONTEXT the scenario's own data.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"elicitation-inspector/bridge"

	"elicitation-inspector/bridge/live"

	"elicitation-inspector/bridge/conversation"

	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire"
)

// Time limits of a run. The suite only ends the shell around a slow client, so the
// client must end itself.
const (
	runTime = 20 * time.Second
	endTime = 5 * time.Second
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), runTime)
	defer cancel()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "headless:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	if len(args) == 0 {
		return errors.New("want the server's URL as the last argument")
	}
	settings, err := conversation.ParseClientSettings(os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION"), "")
	if err != nil {
		return fmt.Errorf("MCP_CONFORMANCE_PROTOCOL_VERSION: %w", err)
	}
	settings.Sampling, settings.Roots = true, true
	given, err := givenCalls(os.Getenv("MCP_CONFORMANCE_CONTEXT"))
	if err != nil {
		return err
	}
	log, err := wire.NewLog(wire.Options{})
	if err != nil {
		return fmt.Errorf("making the wire log: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	access, err := signInConfig(os.Getenv("MCP_CONFORMANCE_SCENARIO"), os.Getenv("MCP_CONFORMANCE_CONTEXT"))
	if err != nil {
		return err
	}
	desk := newDesk()
	defer func() { err = errors.Join(err, desk.Close()) }()
	in := bridge.New(bridge.Config{
		Targets:  []transport.Spec{{Name: "suite", URL: args[len(args)-1], Transport: transport.TransportHTTP, SignIn: access}},
		SignIns:  desk,
		Log:      log,
		Logger:   slog.New(slog.NewTextHandler(os.Stderr, nil)),
		Settings: settings,
		Version:  "headless",
	})
	defer func() {
		closing, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		err = errors.Join(err, in.Close(closing))
	}()
	return makeCalls(ctx, in, given)
}

// makeCalls makes the calls of the scenario, and answers their questions.
func makeCalls(ctx context.Context, in *bridge.Inspection, given []live.Request) error {
	changes := in.Subscribe()
	defer changes.Close()
	in.Start()
	server := in.Servers()[0].ID
	catalog, err := connected(ctx, in, changes, server)
	if err != nil {
		return err
	}
	for _, problem := range catalog.Errors {
		fmt.Fprintln(os.Stderr, problem)
	}
	requests, err := callsFor(os.Getenv("MCP_CONFORMANCE_SCENARIO"), catalog.Items, given)
	if err != nil {
		return err
	}
	// All calls run at once, to show if messages of one reach another.
	for _, r := range requests {
		r.Server = server
		if _, err := in.Begin(r); err != nil {
			return fmt.Errorf("calling %s: %w", r.Name, err)
		}
	}
	return converse(ctx, in, changes)
}

// connected waits until the server's catalog is read.
func connected(ctx context.Context, in *bridge.Inspection, changed *live.Subscription, id string) (conversation.Catalog, error) {
	for {
		server, err := in.Server(id)
		if err != nil {
			return conversation.Catalog{}, err
		}
		offers, err := in.Catalog(id)
		if err != nil {
			return conversation.Catalog{}, err
		}
		switch server.State {
		case conversation.ServerReady:
			if !offers.Loading {
				return offers, nil
			}
		case conversation.ServerFailed, conversation.ServerEnded:
			return offers, fmt.Errorf("the server is %s: %s", server.State, server.Reason)
		case conversation.ServerDisconnected, conversation.ServerConnecting:
		}
		if err := next(ctx, changed); err != nil {
			return offers, fmt.Errorf("connecting: the server is %s: %w", server.State, err)
		}
	}
}

// converse answers questions until every call has ended. It answers the first one only
// after every call has been sent.
func converse(ctx context.Context, in *bridge.Inspection, changed *live.Subscription) error {
	for {
		running, sent := 0, true
		for _, c := range in.Calls() {
			if !c.State.Over() {
				running++
				sent = sent && c.LastRequest() != 0
			}
		}
		if running == 0 {
			return outcome(in.Calls())
		}
		for _, q := range in.Questions() {
			if !sent || q.State != conversation.Pending {
				continue
			}
			if _, err := in.Answer(q.Number, answerTo(q)); err != nil && !errors.Is(err, live.ErrSettled) {
				return fmt.Errorf("answering question %d: %w", q.Number, err)
			}
		}
		if err := next(ctx, changed); err != nil {
			return fmt.Errorf("%d calls have not ended: %w", running, err)
		}
	}
}

// next waits for a change.
func next(ctx context.Context, changed *live.Subscription) error {
	select {
	case <-changed.Ready():
		changed.Take()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// outcome returns an error that names the calls without a response.
func outcome(calls []bridge.Call) error {
	var lost []error
	for _, c := range calls {
		fmt.Printf("%s %s: %s after %d rounds\n", c.Request.Kind, c.Request.Name, c.State, len(c.Rounds))
		if c.ResultSeq == 0 {
			lost = append(lost, fmt.Errorf("%s %s has no response: %s", c.Request.Kind, c.Request.Name, c.Failure))
		}
	}
	return errors.Join(lost...)
}

// givenCalls reads the tool calls that the scenario prescribes with exact arguments;
// nil if it prescribes none.
func givenCalls(context string) ([]live.Request, error) {
	if context == "" {
		return nil, nil
	}
	var c struct {
		ToolCalls []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
	}
	if err := json.Unmarshal([]byte(context), &c); err != nil {
		return nil, fmt.Errorf("MCP_CONFORMANCE_CONTEXT: %w", err)
	}
	var out []live.Request
	for _, t := range c.ToolCalls {
		out = append(out, live.Request{Kind: conversation.Tool, Name: t.Name, Key: t.Name, Arguments: t.Arguments})
	}
	return out, nil
}
