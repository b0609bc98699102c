package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/headless"
	"elicitation-inspector/bridge/judges/check/report"
	"elicitation-inspector/bridge/meaning/conversation"
)

type listOptions struct {
	headlessOptions
	format string
}

func newList() *cobra.Command {
	var o listOptions
	cmd := &cobra.Command{
		Use:   "list [flags] [URL | -- COMMAND [ARG...]]",
		Short: "List what a server offers",
		Long: `List connects to a server and prints its tools, prompts, resources and resource
templates: as a table, or with --format json as an array of objects with kind, name,
title, description and the schema of the arguments. Standard output has nothing else; the
lines of the server's standard error are printed on standard error, each after "stderr: ".

Exit codes: 0 done; 2 a command line that cannot be understood; 3 the server could not be
reached, or asks for a sign-in that nobody made (--oauth-wait); 4 one of its lists could
not be read.`,
		Example: `  inspector list -- ./my-server
  inspector list --format json https://example.com/mcp`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "text", "`FORMAT` to print: text or json")
	o.headlessOptions.register(f)
	return cmd
}

type offered struct {
	Kind        conversation.Kind `json:"kind"`
	Name        string            `json:"name"`
	URI         string            `json:"uri,omitempty"`
	Title       string            `json:"title,omitempty"`
	Description string            `json:"description,omitempty"`
	MIME        string            `json:"mimeType,omitempty"`
	Schema      json.RawMessage   `json:"schema,omitempty"` // schema of the arguments
}

func (o *listOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.readArguments(args, cmd.ArgsLenAtDash()); err != nil {
		return err
	}
	if o.format != "text" && o.format != "json" {
		return usage("--format must be text or json, not %q", o.format)
	}
	var offers conversation.Catalog
	n := &narrator{out: cmd.ErrOrStderr(), quiet: o.quiet}
	err := o.converse(cmd, n, nil, false, func(s *headless.Session) (err error) {
		ctx, cancel := cmd.Context(), func() {}
		if o.timeout > 0 {
			ctx, cancel = context.WithTimeout(ctx, o.timeout)
		}
		defer cancel()
		offers, err = s.Catalog(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			warn(cmd, "the lists take more than %v%s", o.timeout, wording.After(": no response to ", offers.Waits))
			err = exitCode(exitRPC)
		}
		return err
	})
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	list := []offered{}
	for _, item := range offers.Items {
		one := offered{Kind: item.Kind, Name: item.Name, Title: item.Title, Description: item.Description, MIME: item.MIME, Schema: item.Schema}
		if item.Kind == conversation.Resource || item.Kind == conversation.Template {
			one.URI = item.Key
		}
		list = append(list, one)
		var arguments []string
		for argument := range rawjson.Members(rawjson.Member(one.Schema, "properties")) {
			arguments = append(arguments, argument)
		}
		first, _, _ := strings.Cut(one.Description, "\n")
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", one.Kind, wording.EscapeLine(cmp.Or(one.URI, one.Name)), wording.EscapeLine(strings.Join(arguments, ", ")), wording.EscapeLine(cmp.Or(one.Title, first)))
	}
	if o.format == "json" {
		err = report.WriteIndented(cmd.OutOrStdout(), list)
	} else {
		err = table.Flush()
	}
	if err != nil {
		return fmt.Errorf("printing the list: %w", err)
	}
	for _, problem := range offers.Errors {
		warn(cmd, "%s", wording.EscapeLine(problem))
	}
	if len(offers.Errors) > 0 {
		return exitCode(exitRPC)
	}
	return nil
}
