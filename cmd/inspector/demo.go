package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/servers/demo"
)

func newDemo() *cobra.Command {
	var address, ask string
	var conforming, verbose bool
	cmd := &cobra.Command{
		Use:   "demo [--http ADDR] [--ask FILE | --conformance]",
		Short: "Run the demo server by itself, for other clients",
		Long: `Demo runs the built-in demo server by itself, over stdio, or over Streamable HTTP
at http://ADDR/mcp.

With --ask its tool ask_this, called without arguments, asks the question in a file: the
params of elicitation/create as JSON, such as the page Compose writes.

With --conformance it offers the tools and the prompt by the names that the official
conformance suite calls in its scenarios about questions and tasks, and passes these.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logger := newLogger(cmd, verbose)
			options := demo.Options{Logger: logger, Exit: os.Exit, Conformance: conforming}
			if ask != "" {
				question, err := readJSON("--ask", "@"+ask)
				if err == nil && conforming {
					err = usage("--ask needs the tool ask_this, which --conformance does not offer")
				}
				if err == nil {
					if _, err = elicit.Parse(question); err != nil {
						err = usage("--ask: %s cannot be asked: %v", ask, err)
					}
				}
				if err != nil {
					return err
				}
				options.Ask = question
			}
			if address != "" {
				return demoHTTP(cmd, address, options)
			}
			s := demo.New(options)
			return errors.Join(s.ServeLines(cmd.Context(), cmd.InOrStdin(), exact(cmd.OutOrStdout())), s.Close())
		},
	}
	cmd.Flags().StringVar(&address, "http", "", "serve Streamable HTTP at `ADDR` instead of stdio")
	cmd.Flags().StringVar(&ask, "ask", "", "have the tool ask_this ask the question in `FILE`")
	cmd.Flags().BoolVar(&conforming, "conformance", false, "offer what the official conformance suite calls")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "log more to standard error")
	return cmd
}

// demoHTTP serves the demo server over HTTP until the command's context ends.
func demoHTTP(cmd *cobra.Command, address string, options demo.Options) error {
	l, err := listenAt(cmd, address)
	if err != nil {
		return err
	}
	options.BaseURL = "http://" + shownAddress(l.Addr())
	s := demo.New(options)
	return serveMCP(cmd, l, "Demo server", s.Handler(), s.Close)
}

// serveMCP serves a server of our own over HTTP until the command's context ends, and then closes it.
func serveMCP(cmd *cobra.Command, l net.Listener, name string, handler http.Handler, closes func() error) (err error) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s ready: http://%s/mcp\n", name, shownAddress(l.Addr())); err != nil {
		return err
	}
	select {
	case err = <-ended:
	case <-cmd.Context().Done():
		err = errors.Join(closes(), server.Close())
		<-ended
	}
	return err
}
