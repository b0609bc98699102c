package diff

import (
	"context"
	"errors"
	"fmt"

	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wire/redact"
)

// Part returns a side that has only some frames of a log, such as those of one session or one call.
// People know its frames by their numbers in that log. The caller closes its Log.
func Part(ctx context.Context, name string, log *wire.Log, seqs []int64, redaction *redact.Redaction) (Side, error) {
	part, err := wire.NewLog(wire.Options{MaxFrame: 1 << 30}) // what is cut is cut already
	if err != nil {
		return Side{}, err
	}
	of := Side{Name: name, Log: part, Redact: redaction}
	for _, seq := range seqs {
		f, err := log.Frame(seq)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return Side{}, errors.Join(fmt.Errorf("reading frame %d: %w", seq, err), part.Close())
		}
		part.Append(f)
		of.Seqs = append(of.Seqs, seq)
	}
	return of, nil
}
