package server

import (
	"encoding/json"
	"fmt"
	"slices"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// Client describes the client that sent a request. Up to 2025-11-25 it tells this once, in initialize, and since
// 2026-07-28 in the _meta of every request.
type Client struct {
	Revision           string
	Info, Capabilities json.RawMessage // nil for nothing
}

// Declared returns the capabilities one by one.
func (c Client) Declared() *conversation.Declared {
	of := func(name string) json.RawMessage { return rawjson.Member(c.Capabilities, name) }
	return &conversation.Declared{Elicitation: of("elicitation"), Sampling: of("sampling"), Roots: of("roots"), Tasks: of("tasks"), Extensions: of("extensions")}
}

// Modes returns the modes in which the client can be asked.
func (c Client) Modes() []string {
	modes, declared := []string{}, c.Declared().Elicitation
	if declared == nil {
		return modes
	}
	form, url := rawjson.Member(declared, "form") != nil, rawjson.Member(declared, "url") != nil
	if form || !url {
		modes = append(modes, "form")
	}
	if url && c.Revision >= mcp.Revision20251125 {
		modes = append(modes, "url")
	}
	return modes
}

// WantsLog reports whether the client wants log messages of this level. Since 2026-07-28 each request sets the least
// one, and without one the client gets no messages; before, it is that of the session.
func (r *Request) WantsLog(level, session string) bool {
	if r.Rounds() {
		session = rawjson.Text(rawjson.Member(r.Params, "_meta", mcp.MetaLogs))
	}
	i := slices.Index(levels, session)
	return i >= 0 && slices.Index(levels, level) >= i
}

// levels lists the log levels, the lowest first.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// Request is a request of a client. It gets one Reply or one Fail.
type Request struct {
	Client
	wire.Message
	Session *Session
	Frame   wire.Frame
	Out     Stream // carries what belongs to it, until its response
}

// Rounds reports whether questions are part of the results to this request.
func (r *Request) Rounds() bool { return mcp.HasRounds(r.Revision) }

// Target returns what the request is about: the name of a tool or prompt, the URI of a resource, or the id of a task.
func (r *Request) Target() string {
	member := "name"
	switch {
	case r.Method == mcp.MethodReadResource:
		member = "uri"
	case mcp.IsTask(r.Method):
		member = "taskId"
	}
	return rawjson.Text(rawjson.Member(r.Params, member))
}

// Reply answers the request with a result.
func (r *Request) Reply(result string) int64 {
	return r.Session.Send(r.Out, `{"jsonrpc":"2.0","id":`+string(r.ID)+`,"result":`+result+`}`, true)
}

// Fail answers the request with a JSON-RPC error; data is JSON, or "".
func (r *Request) Fail(code int64, message, data string) int64 {
	if data != "" {
		data = `,"data":` + data
	}
	return r.Session.Send(r.Out, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s%s}}`, r.ID, code, rawjson.Quoted(message), data), true)
}

// Notify sends a notification beside the request.
func (r *Request) Notify(method, params string) int64 {
	return r.Session.Notify(r.Out, method, json.RawMessage(params))
}

// Notify sends a notification, without params if they are null.
func (s *Session) Notify(out Stream, method string, params json.RawMessage) int64 {
	return s.Send(out, withParams(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method), params), false)
}

// serve answers what every server is asked, and leaves the rest to the peer.
func (s *Session) serve(f wire.Frame, out Stream) (left func()) {
	r := &Request{Message: f.Message, Session: s, Frame: f, Out: out}
	if !s.identifyClient(r) {
		r.Fail(mcp.CodeUnsupportedVersion, "Unsupported protocol version", `{"supported":`+s.server.revisions()+`,"requested":`+string(rawjson.Quoted(r.Revision))+`}`)
		return nil
	}
	switch method := r.Method; {
	case r.Revision == "" && method != mcp.MethodPing:
		r.Fail(mcp.CodeInvalidRequest, "The session begins with initialize, and "+method+" came before", "")
	case method == mcp.MethodInitialize && !r.Rounds():
		r.Reply(fmt.Sprintf(`{%s,"protocolVersion":%q,"serverInfo":%s}`, s.server.offers(r.Revision), r.Revision, s.server.options.Info))
	case method == mcp.MethodDiscover && r.Rounds():
		r.Reply(r.Listed(`"supportedVersions":` + s.server.revisions() + `,` + s.server.offers(r.Revision)))
	case method == mcp.MethodPing && !r.Rounds():
		r.Reply(`{}`)
	case mcp.IsList(method):
		r.Reply(r.Listed(s.peer.List(r)))
	default:
		return s.peer.Serve(r)
	}
	return nil
}

// offers returns the members capabilities and instructions of a handshake in a revision.
func (s *Server) offers(revision string) string {
	offered := ""
	switch {
	case s.options.Offers != nil:
		offered = s.options.Offers(revision)
	case revision == mcp.Revision20251125:
		offered = `"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}},`
	case revision == mcp.Revision20260728:
		offered = `"extensions":{"` + mcp.TasksExtension + `":{}},`
	}
	offered = `"capabilities":{` + offered + s.options.Capabilities + `}`
	if s.options.Instructions != "" {
		offered += `,"instructions":` + string(rawjson.Quoted(s.options.Instructions))
	}
	return offered
}

// revisions returns the revisions that the server speaks, as JSON.
func (s *Server) revisions() string {
	list, _ := rawjson.Encode(s.options.Revisions) // strings always encode
	return string(list)
}

// Listed returns a result with these members. Since 2026-07-28 it says that only this client may cache it.
func (r *Request) Listed(members string) string {
	if r.Rounds() {
		members = fmt.Sprintf(`"resultType":"complete","_meta":%s,"ttlMs":0,"cacheScope":"private",%s`, r.Session.server.Meta(), members)
	}
	return "{" + members + "}"
}

// Meta returns the _meta of results, which name the server since 2026-07-28.
func (s *Server) Meta() string {
	return `{"io.modelcontextprotocol/serverInfo":` + s.options.Info + `}`
}

// identifyClient sets the Client of a request. It reports whether the server speaks the revision of the request.
func (s *Session) identifyClient(r *Request) bool {
	meta, revisions := rawjson.Member(r.Params, "_meta"), s.server.options.Revisions
	if revision := rawjson.Text(rawjson.Member(meta, mcp.MetaProtocol)); mcp.HasRounds(revision) {
		r.Client = Client{revision, rawjson.Member(meta, mcp.MetaClient), rawjson.Member(meta, mcp.MetaCapabilities)}
		return slices.Contains(revisions, revision)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == mcp.MethodInitialize {
		s.client = Client{rawjson.Text(rawjson.Member(r.Params, "protocolVersion")), rawjson.Member(r.Params, "clientInfo"), rawjson.Member(r.Params, "capabilities")}
		if mcp.HasRounds(s.client.Revision) || !slices.Contains(revisions, s.client.Revision) {
			s.client.Revision = mcp.Revision20251125
			if i := slices.IndexFunc(revisions, func(r string) bool { return !mcp.HasRounds(r) }); i >= 0 {
				s.client.Revision = revisions[i] // the newest with initialize
			}
		}
	}
	r.Client = s.client
	return r.Method != mcp.MethodDiscover
}

// Progress sends a progress notification with these members, if the request asks for them.
func (r *Request) Progress(out Stream, members string) {
	if token := rawjson.Member(r.Params, "_meta", "progressToken"); token != nil {
		r.Session.Notify(out, mcp.NotificationProgress, fmt.Appendf(nil, `{"progressToken":%s,%s}`, token, members))
	}
}
