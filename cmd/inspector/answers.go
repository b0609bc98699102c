package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/judges/fit"
	"elicitation-inspector/bridge/keep/script"
	"elicitation-inspector/bridge/meaning/conversation"
)

type answersOptions struct {
	output   string
	call     int
	server   string
	scenario bool
	noExpect bool
	loose    bool
}

func newAnswers() *cobra.Command {
	var o answersOptions
	cmd := &cobra.Command{
		Use:   "answers FILE... [--call N] [--scenario [--loose]] [--output FILE]",
		Short: "Write an answers file from a transcript",
		Long: `Answers writes the answers that were given in transcripts as an answers file: what a
person did once by hand, 'inspector call --answers' and the page then do by
themselves. Of a transcript with one call the file also expects its result. With
--scenario it is a file for 'inspector run', which makes the calls again that have a
response: with the command or the address of the server, which the transcript has, and
in the revision of the last of them. A scenario is a contract: it expects each question
as often as it was asked, with all of its fields, their types and choices, and whether
they are required. With --loose it expects the results alone.

What is written is meant to be read and changed: a message that differs from run to
run can have * in its place. What a transcript leaves out is never sent: {$env: NAME}
and ${NAME} stand in its place where an environment variable can, and anything else has
to be filled in before the file can be used.`,
		Example: `  inspector answers flow.jsonl > answers.yaml
  inspector answers flow.jsonl --call 2 --output answers.yaml
  inspector answers flow.jsonl --scenario > scenario.yaml`,
		Args: someFiles,
		RunE: o.run,
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "write to `FILE` instead of standard output (-)")
	f.IntVar(&o.call, "call", 0, "only the answers in the call of this number (`N`)")
	f.StringVar(&o.server, "server", "", "only the answers to the server of this `NAME`")
	f.BoolVar(&o.scenario, "scenario", false, "write a scenario, which makes the calls again")
	f.BoolVar(&o.noExpect, "no-expect", false, "expect nothing of the results and the questions")
	f.BoolVar(&o.loose, "loose", false, "with --scenario: expect nothing of the questions")
	return cmd
}

func (o *answersOptions) run(cmd *cobra.Command, files []string) (err error) {
	if err := sparesInput(o.output, files); err != nil {
		return err
	}
	if o.loose && !o.scenario {
		return usage("--loose goes with --scenario")
	}
	opened, err := readTranscripts(cmd, files...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	talk := conversation.New(opened.Log)
	if err := talk.Update(cmd.Context()); err != nil {
		return err
	}
	calls, err := script.CallsIn(cmd.Context(), talk, o.call, conversation.Reading{})
	switch {
	case err != nil:
		return err
	case len(calls) == 0 && o.call != 0:
		return usage("--call %d: there is no such call", o.call)
	}
	var servers []string
	calls = slices.DeleteFunc(calls, func(c *conversation.Call) bool {
		if o.server != "" && c.Server != o.server {
			return true
		}
		if !slices.Contains(servers, c.Server) {
			servers = append(servers, c.Server)
		}
		return false
	})
	switch {
	case o.server != "" && len(servers) == 0:
		return usage("--server %s: it has no calls in the transcript", o.server)
	case o.scenario && len(servers) > 1:
		return usage("a scenario has one server, and the calls are of %s: choose with --server", wording.Series(servers))
	}
	w := script.Writing{From: namesOf(files), Servers: talk.Servers(), Expect: !o.noExpect, Loose: o.loose}
	var written fmt.Stringer
	if o.scenario {
		written, _ = script.FromCalls(calls, w) // its text says what is missing
	} else {
		written, _ = script.AnswersOf(calls, w)
	}
	return writeTo(cmd.OutOrStdout(), o.output, func(out io.Writer) error {
		_, err := io.WriteString(out, written.String())
		return err
	})
}

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema answers|scenario|plan|client",
		Short: "Print the JSON Schema of answers files, scenarios, plans or profiles of clients",
		Long: `Schema prints the JSON Schema (2020-12) of the files that 'inspector call --answers', 'inspector
run', 'inspector check --plan' or 'inspector fit --client' reads, so that editors complete and check them:

  inspector schema answers > answers.schema.json

and at the top of an answers file

  # yaml-language-server: $schema=answers.schema.json`,
		ValidArgs: []string{"answers", "scenario", "plan", "client"},
		Args:      cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(cmd.ValidArgs, args[0]) {
				return usage("schema needs one of answers, scenario, plan and client")
			}
			text, err := fit.Schema(), error(nil)
			if args[0] != "client" {
				text, err = script.Schema(args[0])
			}
			if err == nil {
				_, err = cmd.OutOrStdout().Write(text)
			}
			return err
		},
	}
}
