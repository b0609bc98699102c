package main

import (
	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/script"
)

func newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema answers|scenario|plan",
		Short: "Print the JSON Schema of answers files, scenarios or plans",
		Long: `Schema prints the JSON Schema (2020-12) of the files that 'inspector call --answers', 'inspector
run' or 'inspector check --plan' reads, so that editors complete and check them:

  inspector schema answers > answers.schema.json

and at the top of an answers file

  # yaml-language-server: $schema=answers.schema.json`,
		ValidArgs: []string{"answers", "scenario", "plan"},
		Args:      cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := script.AnswersSchema(), error(nil)
			switch {
			case len(args) == 1 && args[0] == "answers":
			case len(args) == 1 && args[0] == "scenario":
				text, err = script.ScenarioSchema()
			case len(args) == 1 && args[0] == "plan":
				text, err = script.PlanSchema()
			default:
				return usage("schema needs one of answers, scenario and plan")
			}
			if err == nil {
				_, err = cmd.OutOrStdout().Write(text)
			}
			return err
		},
	}
}
