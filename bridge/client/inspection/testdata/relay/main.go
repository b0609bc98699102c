// Command relay connects its standard input and output to the TCP address in its argument. The
// tests of package bridge start it some hundred times, as the process of a server that a test
// plays itself: it starts in a tenth of the time of the test's own binary.
package main

import (
	"fmt"
	"io"
	"net"
	"os"
)

func main() {
	conn, err := net.Dial("tcp", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	go func() {
		_, _ = io.Copy(conn, os.Stdin) // either end may close first
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(os.Stdout, conn)
}
