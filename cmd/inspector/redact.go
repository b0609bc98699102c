package main

import (
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// redactOptions are the redaction flags of transcripts and exports.
type redactOptions struct {
	rules  []string
	values []string
	files  []string
}

// register adds the flags. of describes what they redact.
func (o *redactOptions) register(f *pflag.FlagSet, of string) {
	f.StringArrayVar(&o.rules, "redact", nil, "leave the values of this header, JSON member or JSON path (`RULE`) out "+of+", wherever else they stand too (repeat)")
	f.StringArrayVar(&o.values, "redact-value", nil, "leave this `VALUE` out "+of+" (repeat); other users of the machine can see it in the command line")
	f.StringArrayVar(&o.files, "redact-file", nil, "leave the values in this `FILE` out "+of+", one a line (repeat)")
}

func (o *redactOptions) redaction() (*redact.Redaction, error) {
	r, err := redact.New(o.rules...)
	if err != nil {
		return nil, usage("--redact: %w", err)
	}
	if err := r.Values("--redact-value", o.values...); err != nil {
		return nil, usage("--redact-value: %w", err)
	}
	for _, path := range o.files {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("--redact-file: %w", err)
		}
		for i, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
			line = strings.TrimRight(line, "\r")
			if line != "" && r.Values("--redact-file", line) != nil {
				return nil, usage("--redact-file %s, line %d: it has less than %d characters, and would be found where it is not meant", path, i+1, redact.LeastValue)
			}
		}
	}
	return r, nil
}

// reportRemains prints the exported frames that still contain values which a rule redacts
// elsewhere. nil seqs stand for all frames.
func reportRemains(cmd *cobra.Command, r *redact.Redaction, log *wire.Log, seqs iter.Seq[int64]) error {
	if seqs == nil {
		seqs = func(yield func(int64) bool) {
			for seq := int64(1); seq <= log.Len() && yield(seq); seq++ {
			}
		}
	}
	remains, err := r.Remaining(cmd.Context(), log, seqs, false)
	if err != nil {
		return fmt.Errorf("looking for what was not left out: %w", err)
	}
	for _, left := range remains {
		warn(cmd, "%v: it is too short to be left out there", left)
	}
	if n := r.Forgotten(); n > 0 {
		warn(cmd, "%d values were too many or too long to be looked for elsewhere", n)
	}
	return nil
}
