package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/demo"
	"elicitation-inspector/bridge/demo/faulty"
	"elicitation-inspector/bridge/demo/protected"
)

func newDemo() *cobra.Command {
	var address string
	var behindOAuth, broken, conforming, verbose bool
	cmd := &cobra.Command{
		Use:   "demo [--http ADDR [--protected] [--conformance] | --faulty]",
		Short: "Run the demo server by itself, for other clients",
		Long: `Demo runs the built-in demo server by itself, over stdio, or over Streamable HTTP
at http://ADDR/mcp. With --protected it is behind OAuth there, with an authorization
server of its own; docs/protected.md lists the paths at which a step of the sign-in is
wrong.

With --faulty it is another server, over stdio, whose tools each do one thing wrong:
something to find for whoever looks for defects.

With --conformance it offers the tools and the prompt by the names that the official
conformance suite calls in its scenarios about questions, and passes these.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger := newLogger(cmd, verbose)
			if broken && address != "" {
				return usage("--faulty is served over stdio only: leave out --http")
			}
			if behindOAuth && address == "" {
				return usage("--protected is served over HTTP only: add --http ADDR")
			}
			if broken && !conforming {
				faulty.Serve(cmd.Context(), faulty.Options{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Exit: os.Exit})
				return nil
			}
			if broken && conforming {
				return usage("--faulty and --conformance are different servers: leave out one of them")
			}
			options := demo.Options{Logger: logger, Exit: os.Exit, Conformance: conforming}
			if address != "" {
				return demoHTTP(cmd, address, behindOAuth, options)
			}
			s := demo.New(options)
			err := s.MCP().Run(cmd.Context(), &mcp.StdioTransport{})
			if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
				err = nil
			}
			return errors.Join(err, s.Close())
		},
	}
	cmd.Flags().StringVar(&address, "http", "", "serve Streamable HTTP at `ADDR` instead of stdio")
	cmd.Flags().BoolVar(&behindOAuth, "protected", false, "ask for a sign-in with OAuth (with --http)")
	cmd.Flags().BoolVar(&broken, "faulty", false, "serve tools that each have one fault, over stdio")
	cmd.Flags().BoolVar(&conforming, "conformance", false, "offer what the official conformance suite calls")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "log more to standard error")
	return cmd
}

// demoHTTP serves the demo server over HTTP until the command's context ends.
func demoHTTP(cmd *cobra.Command, address string, behindOAuth bool, options demo.Options) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--http %s: %w", address, err)
	}
	base := "http://" + shownAddress(l.Addr())
	options.BaseURL = base
	s := demo.New(options)
	handler := s.Handler()
	if behindOAuth {
		handler = protected.Handler(s, protected.Options{BaseURL: base})
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "Demo server ready: %s/mcp\n", base); err != nil {
		return err
	}
	select {
	case err = <-ended:
	case <-cmd.Context().Done():
		err = errors.Join(s.Close(), server.Close())
		<-ended
	}
	return err
}
