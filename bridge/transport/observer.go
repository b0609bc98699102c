package transport

import (
	"encoding/json"

	"elicitation-inspector/bridge/wire"
)

// Unit is one message that the tap saw, or bytes that are no message. The observer may
// keep the bytes; nobody may change them.
type Unit struct {
	// Frame describes the message: Dir, Raw with Size and Truncated (Raw is only the
	// head of a message over Options.MaxFrame), Kind and Message (for a truncated
	// message only what its two ends tell), Stream, Status, and Answers.
	//
	// Header is that of the HTTP request that carried the message, or of the HTTP
	// response if this is its first message; else nil. HTTPMethod and URL describe the
	// HTTP request; they are set if Header is a request's, or that of the response to a
	// GET. The URL has no user information.
	wire.Frame

	// Related is the JSON-RPC id of the request whose POST was answered with this
	// message; nil for other streams.
	Related json.RawMessage
}

// Observer sees every unit before the SDK does. Its methods are called concurrently,
// and the connection waits until they return.
type Observer interface {
	// Sending is called before the bytes are written. If it returns false they are not
	// written: a response or notification is dropped silently, a request fails.
	Sending(Unit) bool
	// Received returns the bytes that the SDK gets in place of u.Raw: the same bytes,
	// another message, or nil for nothing. The result is ignored for noise and
	// truncated units. A POST needs an answer: if its JSON answer is dropped, the SDK
	// gets an error instead.
	Received(u Unit) (deliver []byte)
	// Undelivered follows Sending if the bytes did not reach the server, or the server
	// refused them (HTTP status 400 and above). A request that the server answers with
	// a JSON-RPC error counts as delivered.
	Undelivered(u Unit, err error)
	// Stderr receives one line of the process's standard error without its end, and its
	// full size in bytes. If truncated, line is only its head.
	Stderr(line []byte, truncated bool, size int64)
	// Noted receives a note about the transport: a frame with Note and, if known,
	// Header, Status and HTTPMethod of the HTTP exchange; Failed for a failure; and
	// Answers, the id of the request that gets no response because of it.
	Noted(wire.Frame)
}
