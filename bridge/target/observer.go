package target

import (
	"encoding/json"

	"elicitation-inspector/bridge/wire"
)

// Unit is one thing that the tap saw: a message, or bytes that are none. Its
// bytes are the observer's to keep, and nobody may change them.
type Unit struct {
	// Frame has what was seen: Dir, Raw with Size and Truncated (where Raw is only
	// the head of what is over Options.MaxFrame), Kind and Message (of what is
	// truncated no more than its ends tell), Stream, Status, and Answers.
	//
	// Header is of the request that carried it, or of the response whose first
	// message it is; nil otherwise. HTTPMethod and URL are those of the request,
	// where Header is a request's or that of the response to a GET. The URL has no
	// user information.
	wire.Frame

	// Related is the JSON-RPC id of the request whose POST was answered with
	// this; nil for what comes on other streams.
	Related json.RawMessage
}

// Observer sees every unit before the SDK does. Its methods are called
// concurrently, and hold up the connection until they return.
type Observer interface {
	// Sent is called before the bytes are written. If it returns false they are
	// not: a response or notification then vanishes, a request fails.
	Sent(Unit) bool
	// Received returns what the SDK is given in place of u.Raw: the same bytes,
	// another message, or nil for nothing at all. What it returns for noise and
	// truncated units does not count. The answer to a POST must be something:
	// where a JSON answer is dropped, the SDK is given an error instead.
	Received(u Unit) (deliver []byte)
	// Undelivered follows Sent where the bytes did not reach the server, or the
	// server refused them (HTTP status 400 and above). A request that the server
	// answers with a JSON-RPC error of its own was delivered.
	Undelivered(u Unit, err error)
	// Stderr has one line of the process's standard error, without its end, and
	// its full size in bytes where only its head is kept.
	Stderr(line []byte, truncated bool, size int64)
	// Noted has what the inspector notes of the transport: a frame with Note, and
	// as far as they are known Header, Status and HTTPMethod of the HTTP exchange,
	// Failed for what went wrong, and Answers, the id of the request that gets no
	// response because of it.
	Noted(wire.Frame)
}
