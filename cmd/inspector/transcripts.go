package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/playback"
	"elicitation-inspector/bridge/wire"
)

// readTranscripts opens transcripts, reads them to their end, and prints which parts
// could not be read. It fails if nothing could be read. The caller must close the result.
func readTranscripts(cmd *cobra.Command, files ...string) (*playback.Opened, error) {
	opened, err := playback.Open(files...)
	if err != nil {
		return nil, err
	}
	if err = opened.Wait(cmd.Context()); err == nil {
		for _, p := range opened.Problems {
			warn(cmd, "%s", p)
		}
		err = reportDamage(cmd, opened.Log)
	}
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// reportDamage prints the lines that could not be read. It fails if the log has no other
// lines.
func reportDamage(cmd *cobra.Command, log *wire.Log) error {
	list, total := log.Damage()
	if total > 0 && log.Len() == 0 {
		return fmt.Errorf("%w; there is no frame in it: it is no transcript", &list[0])
	}
	for _, d := range list {
		warn(cmd, "%v", &d)
	}
	if more := total - int64(len(list)); more > 0 {
		warn(cmd, "%d more damaged lines", more)
	}
	return nil
}
