package main

import (
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/keep/playback"
	"elicitation-inspector/bridge/servers/mock"
)

type mockOptions struct {
	address       string
	pace          string
	failUnmatched bool
}

func newMock() *cobra.Command {
	var o mockOptions
	cmd := &cobra.Command{
		Use:   "mock FILE... [--http ADDR]",
		Short: "Serve recordings in the server's place",
		Long: `Mock is the server of one or more transcripts, for clients that are developed or tested
without it: over stdio, or over Streamable HTTP at http://ADDR/mcp. A call that asked
asks again, for real: the mock waits for the client's answer, checks it against the
schema, and goes on along the recording that has this answer, else along one with the
same action. What is in no recording is answered with an error that names the nearest
one, and listed at the end. Files that change are read again.

Exit codes: 0, or 7 with --fail-unmatched if something was in no recording; 1 when a
file cannot be read, 2 for a command line that cannot be understood.`,
		Example: `  inspector mock flow.jsonl
  inspector mock accepted.jsonl declined.jsonl --http 127.0.0.1:8080
  inspector -- inspector mock flow.jsonl`,
		Args: someFiles,
		RunE: o.run,
	}
	f := cmd.Flags()
	f.StringVar(&o.address, "http", "", "serve Streamable HTTP at `ADDR` instead of stdio")
	f.StringVar(&o.pace, "pace", "fast", "fast, or recorded, which works as long as the server did (`PACE`)")
	f.BoolVar(&o.failUnmatched, "fail-unmatched", false, "exit with 7 if something was in no recording")
	return cmd
}

func (o *mockOptions) run(cmd *cobra.Command, files []string) error {
	if o.pace != "fast" && o.pace != "recorded" {
		return usage("--pace must be fast or recorded, not %q", o.pace)
	}
	options := mock.Options{Paced: o.pace == "recorded"}
	var l net.Listener
	if o.address != "" {
		var err error
		if l, err = listenAt(cmd, o.address); err != nil {
			return err
		}
		options.BaseURL = "http://" + shownAddress(l.Addr())
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	before := stateOf(files)
	var s *mock.Server
	err := withRecordings(cmd, files, func(recordings []mock.Recording) (err error) {
		s, err = mock.New(ctx, recordings, options)
		return err
	})
	if err != nil {
		return err
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(lookEvery):
			}
			now := stateOf(files)
			if slices.Equal(now, before) {
				continue
			}
			before = now
			if err := withRecordings(cmd, files, func(recordings []mock.Recording) error { return s.Read(ctx, recordings) }); err != nil {
				warn(cmd, "the recordings have changed, and cannot be read: %v; what was read before is served", err)
			} else {
				warn(cmd, "the recordings have changed, and were read again")
			}
		}
	})
	if l != nil {
		err = serveMCP(cmd, l, "Mock", s, func() error { s.Close(); return nil })
	} else {
		err = s.ServeLines(ctx, cmd.InOrStdin(), exact(cmd.OutOrStdout()))
	}
	cancel()
	reading.Wait()
	s.Close()
	for _, text := range s.Unmatched() {
		warn(cmd, "in no recording: %s", wording.EscapeLine(text))
	}
	if err == nil && o.failUnmatched && len(s.Unmatched()) > 0 {
		return exitCode(exitUnmet)
	}
	return err
}

// withRecordings opens transcripts, each by itself, and closes them after use.
func withRecordings(cmd *cobra.Command, files []string, use func([]mock.Recording) error) (err error) {
	var recordings []mock.Recording
	for _, name := range files {
		var opened *playback.Opened
		if opened, err = readTranscripts(cmd, name); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, opened.Close()) }()
		recordings = append(recordings, mock.Recording{Name: name, Log: opened.Log})
	}
	return use(recordings)
}

// lookEvery is how often the files are looked at.
const lookEvery = 500 * time.Millisecond

// stateOf tells whether files change: it has their times and sizes.
func stateOf(files []string) (state []any) {
	for _, name := range files {
		if info, err := os.Stat(name); err == nil {
			state = append(state, info.ModTime(), info.Size())
		}
	}
	return state
}
