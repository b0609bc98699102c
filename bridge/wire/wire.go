// Package wire stores the traffic between client and server: frames with their
// exact bytes, an append-only log of them, and transcript files that hold it.
// It knows JSON-RPC 2.0 and the names of MCP's methods, but nothing about
// sessions, connections or pages.
package wire
