// Faulty serves, over stdio, the server whose tools each do one thing wrong.
package main

import (
	"context"
	"os"

	"elicitation-inspector/e2e/check/faulty"
)

func main() {
	faulty.Serve(context.Background(), faulty.Options{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Exit: os.Exit, Ledger: os.Getenv(faulty.LedgerVariable)})
}
