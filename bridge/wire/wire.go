// Package wire keeps what was seen on the wire: frames with their exact bytes,
// the append-only log of them and the transcript files that hold it. It knows
// JSON-RPC 2.0 and what MCP's methods are called, but nothing of sessions,
// connections or pages.
package wire
