// Command rude is an MCP server over stdio for tests. It writes its messages by hand,
// byte for byte, so that it can also do what a library would prevent. It logs every
// line that it reads and writes, with the time, and takes orders over HTTP, so that a
// test decides when things happen.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

var (
	logPath     = flag.String("log", "", "write every line read or written to `FILE`, as JSON lines")
	controlPath = flag.String("control", "", "take orders over HTTP, and write the address to `FILE`")
	questions   = flag.String("questions", "", "JSON `FILE`: an array of {name, params}; each becomes a tool that asks with exactly these params")
	name        = flag.String("name", "rude", "the server's `NAME`")
	noise       = flag.Bool("noise", false, "write lines that are not messages between those that are")
	grandchild  = flag.Bool("grandchild", false, "start a process that ignores every polite signal and outlives this one")
	stubborn    = flag.Bool("stubborn", false, "ignore the end of standard input, and TERM")
	talk        = flag.Int("talk", 0, "log `N` messages right after initialize")
	die         = flag.Bool("die", false, "complain on standard error and exit with code 3 at once")
	sleep       = flag.Bool("sleep", false, "be the grandchild")
)

func main() {
	flag.Parse()
	switch {
	case *sleep:
		ignoreSignals()
		for { // the runtime ends a program that has nothing but an empty select, as a deadlock
			time.Sleep(time.Hour)
		}
	case *die:
		fmt.Fprintln(os.Stderr, "reading the settings")
		fmt.Fprintln(os.Stderr, "cannot open the database: no such file")
		os.Exit(3)
	}
	if *grandchild {
		startGrandchild()
	}
	if *stubborn {
		ignoreSignals()
	}

	s := newServer()
	if *logPath != "" {
		f, err := os.OpenFile(*logPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			log.Fatal(err)
		}
		s.log = json.NewEncoder(f)
	}
	if *questions != "" {
		s.loadQuestions(*questions)
	}
	if *controlPath != "" {
		s.takeOrders(*controlPath)
	}
	if *noise {
		s.writeLine([]byte("Loading plug-ins ... done"))
		s.writeLine([]byte(`{"level":"info","msg":"JSON, but no message"}`))
		s.writeLine([]byte(""))
	}

	s.serve(os.Stdin)
	if *stubborn {
		select {}
	}
}

// startGrandchild starts this program again with -sleep, and does not wait for it.
func startGrandchild() {
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	child := exec.Command(self, "-sleep")
	child.Stdout, child.Stderr = os.Stdout, os.Stderr // keeps the pipes open, as careless programs do
	if err := child.Start(); err != nil {
		log.Fatal(err)
	}
}

// serve handles the client's lines until their end.
func (s *server) serve(from io.Reader) {
	in := bufio.NewReaderSize(from, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		at := time.Now()
		if len(line) > 0 && line[len(line)-1] == '\n' {
			line = line[:len(line)-1]
			s.record(at, "in", line)
			s.receive(line)
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}

func ignoreSignals() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
}
