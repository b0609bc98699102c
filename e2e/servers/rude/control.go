package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
)

// takeOrders serves the test's orders on a loopback port:
//
//	POST /go      lets one waiting tool go on; waits until there is one
//	POST /cancel  cancels the newest open question
//	POST /return  ends every running call with a result, its questions still open
//	POST /change  adds a tool and says that the list has changed
//	POST /write   writes the body to standard output, as one line
//	POST /stderr  writes the body to standard error, as it is
//	POST /exit?code=N
func (s *server) takeOrders(path string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /go", func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.gate <- struct{}{}:
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("POST /cancel", func(w http.ResponseWriter, r *http.Request) {
		q := s.newest()
		if q == nil {
			http.Error(w, "no question is open", http.StatusConflict)
			return
		}
		s.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"the maintenance window is over"}}`, q.id)
	})
	mux.HandleFunc("POST /return", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		var ids []string
		for id := range s.calls {
			ids = append(ids, id)
		}
		s.mu.Unlock()
		for _, id := range ids {
			s.end(id, "return")
		}
	})
	mux.HandleFunc("POST /change", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.extra = true
		s.mu.Unlock()
		s.write(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	})
	mux.HandleFunc("POST /write", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.writeLine(body)
	})
	mux.HandleFunc("POST /stderr", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(os.Stderr, r.Body)
	})
	mux.HandleFunc("POST /exit", func(w http.ResponseWriter, r *http.Request) {
		code, err := strconv.Atoi(r.FormValue("code"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintln(os.Stderr, "fatal: the licence has run out")
		os.Exit(code)
	})
	go func() { log.Fatal(http.Serve(l, mux)) }()
	// The file is renamed into place, so that a reader never sees a part of it.
	if err := os.WriteFile(path+".new", []byte(l.Addr().String()), 0o600); err != nil {
		log.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		log.Fatal(err)
	}
}
