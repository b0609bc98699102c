//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/target"
	"elicitation-inspector/bridge/wire"
)

// session is one connection to a server: the link, the SDK's session on it, and
// the tap that sees every unit before the SDK does. The SDK runs the protocol;
// what a person sees and answers is read from the tapped bytes.
type session struct {
	in     *Inspection
	server *server
	name   string // session_id in transcripts
	// settings are those that this connection was made under.
	settings Settings
	recorded string // the revision of a session that a test drives by hand

	ctx    context.Context
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	link     *target.Link
	sdk      *mcp.ClientSession
	outgoing map[string]*outgoing // our requests without a response, by exact id
	incoming map[string]*incoming // the server's requests without a response
	late     []*incoming          // the latest of the server's requests that had their answer
	replies  map[string]reply     // responses that wait to be fetched, by ticket
	stopped  []stopped            // the latest of our requests that ended without a response
	methods  []string             // the handshake so far
	fallback string               // why initialize was tried although server/discover was not refused
	// discovered says that server/discover was answered.
	discovered bool
	shaken     int             // how many of methods were answered
	useless    error           // why the answer to server/discover is of no use, nil if it is
	early      map[string]bool // elicitationIds whose questions are about to come: whether they are completed; guarded by Inspection.mu
	released   bool            // nothing can be asked or answered any more; guarded by Inspection.mu
	strays     int             // responses that nothing asked for; guarded by Inspection.mu
	closing    bool

	listing chan struct{}       // one list request at a time; see list
	listed  map[string]listRoom // what each list takes, by method; of who has that turn
	lists   freshLists          // guarded by Inspection.mu
	outbox  outbox
}

// outgoing is a request of ours that the server has not answered.
type outgoing struct {
	method string
	ticket string // under which the response is kept; "" for requests that the SDK makes by itself
	call   *call
	round  int
	seq    int64
}

// stopped is a request of ours that ended without a response.
type stopped struct {
	id   string
	call *call // nil if it was no call
}

// incoming is a request of the server's.
type incoming struct {
	id       string // exact
	method   string
	question *question // nil for requests that no person answers
	reason   string    // of a notifications/cancelled; guarded by Inspection.mu
}

// remembered is how many requests that are over are still known, on either side:
// over HTTP what is said of them can be overtaken on another stream.
const remembered = 64

// remember adds to a list of which the oldest are forgotten.
func remember[T any](list []T, one T) []T {
	if len(list) == remembered {
		list = list[1:]
	}
	return append(list, one)
}

// reply is a response as it was on the wire.
type reply struct {
	seq     int64
	message wire.Message
}

func newSession(s *server, attempt int, settings Settings) *session {
	ctx, cancel := context.WithCancelCause(s.in.life)
	return &session{
		in: s.in, server: s, name: fmt.Sprintf("%s-%d-%d", s.id, now().UnixMilli(), attempt),
		settings: settings, ctx: ctx, cancel: cancel,
		outgoing: map[string]*outgoing{}, incoming: map[string]*incoming{}, replies: map[string]reply{},
		early:   map[string]bool{},
		listing: make(chan struct{}, 1), listed: map[string]listRoom{},
		outbox: outbox{ready: make(chan struct{}, 1)},
	}
}

// connect opens the link and shakes hands. Its error says why there is no session.
func (s *session) connect() error {
	var failed []string
	for _, candidate := range s.server.spec.Candidates() {
		err := s.connectBy(candidate, s.settings)
		if err != nil && s.diedOfProbe(candidate) {
			s.fellBack("ended the process")
			s.Noted(wire.Frame{Note: &wire.Note{Kind: wire.NoteProbeFatal}})
			s.in.mu.Lock()
			if s.server.session == s {
				s.server.stderr = nil // the last words of the next one are those that count
			}
			s.in.mu.Unlock()
			older := s.settings
			older.Protocol = Revision20251125
			err = s.connectBy(candidate, older)
		}
		if err == nil {
			return nil
		}
		if s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
		failed = append(failed, err.Error())
		if !target.TryNext(err) {
			break
		}
	}
	return errors.New(strings.Join(failed, "; "))
}

func (s *session) connectBy(spec target.Spec, settings Settings) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	// The link outlasts s.ctx by the last words that go over it: see close.
	link, err := target.Open(context.WithoutCancel(s.ctx), spec, s, target.Options{MaxFrame: s.in.config.MaxFrame, Outgoing: s.reworded})
	if err != nil {
		return err
	}
	if !s.in.links.add(link) {
		s.in.links.kill(killedTime)
		return ErrClosed
	}
	s.mu.Lock()
	s.link = link
	s.methods, s.shaken, s.useless = nil, 0, nil
	s.mu.Unlock()
	failed, responded := make(chan struct{}), make(chan struct{})
	s.in.running.Go(func() {
		defer close(responded)
		s.sendResponses(link, failed)
	})

	client := mcp.NewClient(&mcp.Implementation{Name: "elicitation-inspector", Title: "Elicitation Inspector", Version: s.in.config.Version}, &mcp.ClientOptions{
		Capabilities: settings.capabilities(),
		// The handlers are what makes the SDK subscribe to list changes under 2026-07-28.
		ToolListChangedHandler:   func(context.Context, *mcp.ToolListChangedRequest) { s.listChanged(methodTools) },
		PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) { s.listChanged(methodPrompts) },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {
			s.listChanged(methodResources, methodTemplates)
		},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
		Logger:         s.in.logger,
	})
	client.AddReceivingMiddleware(s.undeclared)
	client.AddSendingMiddleware(exactParams, s.probing)
	sdk, err := client.Connect(s.ctx, link.Transport(), &mcp.ClientSessionOptions{ProtocolVersion: settings.Protocol})
	if err != nil {
		s.in.mu.Lock()
		s.in.withdraw(ByServer, "the connection that carried it ended", func(q *question) bool { return q.session == s })
		s.in.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), endTime)
		defer cancel()
		s.mu.Lock()
		if s.useless != nil {
			err = fmt.Errorf("%s: %w", methodDiscover, s.useless)
		}
		s.mu.Unlock()
		close(failed)
		err = errors.Join(unreached{link.How(), err, spec.Header.Get("Authorization") != ""}, s.in.links.close(ctx, link))
		<-responded
		return err
	}
	s.mu.Lock()
	s.sdk = sdk
	s.mu.Unlock()
	if res := sdk.InitializeResult(); res.Capabilities != nil && res.Capabilities.Logging != nil && res.ProtocolVersion < Revision20260728 {
		// A server may keep its log to itself until a level is set. An inspector
		// wants all of it; one that refuses has said so on the wire.
		if err := sdk.SetLoggingLevel(s.ctx, &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil {
			s.in.logger.Debug("setting the logging level", "server", s.server.label(), "error", err)
		}
	}
	return nil
}

// unreached is why no session could be made, in words.
type unreached struct {
	how   string
	err   error
	token bool // an Authorization header was sent
}

// Error leaves the SDK's words out where it was the transport that failed.
func (u unreached) Error() string {
	fault, ok := target.FaultOf(u.err)
	switch {
	case !ok:
		return fmt.Sprintf("%s: %s", u.how, plainly(u.err.Error()))
	case fault.Status != 0 && fault.Method != "":
		return fmt.Sprintf("over %s, %s was answered with %s%s", u.how, fault.Method, fault.Text, u.access(fault))
	default:
		return fmt.Sprintf("over %s: %s%s", u.how, fault.Text, u.access(fault))
	}
}

// access says how a token is given, where the server wants one.
func (u unreached) access(fault *target.Fault) string {
	var said string
	switch {
	case fault.Status == http.StatusUnauthorized && u.token:
		said = "The Authorization header that was sent is not accepted. Give another one"
	case fault.Status == http.StatusUnauthorized:
		said = "Give a token"
	case fault.Status == http.StatusForbidden && u.token:
		said = "The Authorization header that was sent does not give access. Give another one"
	case fault.Status == http.StatusForbidden:
		said = "If it is a token that is missing, give it"
	default:
		return ""
	}
	said = ". " + said + ` with --header 'Authorization: Bearer TOKEN', or in "headers" in mcp.json`
	if fault.Challenge != "" {
		said += ". The server's WWW-Authenticate: " + shortened(fault.Challenge)
	}
	return said
}

func (u unreached) Unwrap() error { return u.err }

// info reads what the server said of itself in the handshake.
func (s *session) info() ServerInfo {
	res := s.sdk.InitializeResult()
	info := ServerInfo{Protocol: res.ProtocolVersion, Instructions: res.Instructions, How: s.link.How(), Negotiated: s.negotiated()}
	if res.ServerInfo != nil {
		info.Name, info.Title, info.Version = res.ServerInfo.Name, res.ServerInfo.Title, res.ServerInfo.Version
	}
	if c := res.Capabilities; c != nil {
		add := func(is bool, name string, changes bool) {
			if is && changes {
				name += " (list changes)"
			}
			if is {
				info.Capabilities = append(info.Capabilities, name)
			}
		}
		add(c.Tools != nil, "tools", c.Tools != nil && c.Tools.ListChanged)
		add(c.Prompts != nil, "prompts", c.Prompts != nil && c.Prompts.ListChanged)
		add(c.Resources != nil, "resources", c.Resources != nil && c.Resources.ListChanged)
		add(c.Completions != nil, "completions", false)
		add(c.Logging != nil, "logging", false)
	}
	return info
}

// negotiated says by which requests the revision was agreed on.
func (s *session) negotiated() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.methods) - 1
	if s.fallback != "" && last >= 0 {
		return s.methods[last] + ", after " + methodDiscover + " " + s.fallback
	}
	if last <= 0 {
		return strings.Join(s.methods, "")
	}
	return s.methods[last] + ", after " + strings.Join(s.methods[:last], " and ") + " was refused"
}

// answeredAll reports whether the server answered all of the handshake so far, so
// that its end is no reason why there is no session.
func (s *session) answeredAll() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.methods) > 0 && s.shaken == len(s.methods) || s.useless != nil
}

func (s *session) modern() bool {
	return s.sdk.InitializeResult().ProtocolVersion >= Revision20260728
}

// revision is the negotiated protocol revision, "" before it is.
func (s *session) revision() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sdk == nil {
		return s.recorded
	}
	return s.sdk.InitializeResult().ProtocolVersion
}

// watch waits for the end of a ready connection.
func (s *session) watch() {
	ended := make(chan error, 1)
	s.in.running.Go(func() { ended <- s.sdk.Wait() })
	reason := "the connection ended"
	select {
	case <-s.link.Done():
	case err := <-ended:
		if err != nil {
			reason += ": " + err.Error()
		}
		select {
		case <-s.link.Done():
		case <-time.After(exitGrace):
		}
	}
	s.mu.Lock()
	closing := s.closing
	s.mu.Unlock()
	if closing {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), endTime)
	defer cancel()
	if exit := s.exit(); exit != "" {
		reason = exit
	}
	s.release(ByServer, reason)
	s.server.ended(s, reason)
	s.close(ctx, reason)
}

// exitGrace is how long a process whose output has ended may take to exit
// before it is ended.
const exitGrace = 500 * time.Millisecond

// lost is why a request has no response. Where the connection is gone, the
// reason for that says more than the error of the request, which comes first.
func (s *session) lost(ctx context.Context, err error) error {
	var fault *target.Fault
	var rpc *jsonrpc.Error
	if ctx.Err() == nil && !errors.As(err, &fault) && !errors.As(err, &rpc) {
		select {
		case <-s.ctx.Done():
		case <-time.After(2 * exitGrace):
		}
	}
	if cause := context.Cause(s.ctx); cause != nil {
		return cause
	}
	return err
}

// exit says in words how the process ended; "" where there is none, or it runs.
func (s *session) exit() string {
	s.mu.Lock()
	link := s.link
	s.mu.Unlock()
	if link == nil {
		return ""
	}
	exit, ok := link.Exit()
	if !ok {
		return ""
	}
	return exit.String()
}

// release withdraws the session's pending questions and fails its calls.
func (s *session) release(by Actor, reason string) {
	s.in.mu.Lock()
	s.released = true
	s.in.withdraw(by, reason, func(q *question) bool { return q.session == s })
	s.in.mu.Unlock()
	s.cancel(errors.New(reason))
}

// close ends the session from our side: questions that wait are answered with
// cancel, calls stopped, the connection and the process ended. It is safe to
// call more than once.
func (s *session) close(ctx context.Context, reason string) {
	s.mu.Lock()
	first := !s.closing
	s.closing = true
	sdk, link := s.sdk, s.link
	s.mu.Unlock()
	var unsaid []*call
	if first && sdk != nil {
		s.dismiss(ctx, reason)
		unsaid = s.unanswered()
	}
	s.release(ByPolicy, reason)
	s.awaitCancelled(ctx, unsaid)
	if sdk != nil {
		closed := make(chan struct{})
		go func() {
			if err := sdk.Close(); err != nil {
				s.in.logger.Debug("closing the session", "server", s.server.label(), "error", err)
			}
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(sdkGrace): // the link's end below unblocks it
		case <-ctx.Done():
		}
	}
	if link != nil {
		if err := s.in.links.close(ctx, link); err != nil {
			s.in.logger.Warn("ending the connection", "server", s.server.label(), "error", err)
		}
	}
}

// How long a polite end may take before it becomes a rude one.
const (
	sdkGrace    = 2 * time.Second
	answerGrace = 500 * time.Millisecond
)

// dismiss answers the session's pending requests with cancel, and waits for a
// moment until the answers are on the wire.
func (s *session) dismiss(ctx context.Context, reason string) {
	var waiting []*question
	s.in.mu.Lock()
	for _, q := range slices.Clone(s.in.pending) {
		if q.session == s && q.origin == OriginRequest {
			q.answer = Answer{Action: "cancel", Actor: ByPolicy}
			s.in.settle(q, Answered, ByPolicy, reason)
			waiting = append(waiting, q)
		}
	}
	s.in.mu.Unlock()
	s.awaitSent(ctx, func() bool {
		return !slices.ContainsFunc(waiting, func(q *question) bool { return q.answerSeq == 0 && q.state == Answered })
	})
}

// unanswered are the calls whose requests wait for a response.
func (s *session) unanswered() []*call {
	if s.ctx.Err() != nil {
		return nil // it was the server that ended
	}
	var calls []*call
	for _, out := range s.running() {
		calls = append(calls, out.call)
	}
	return calls
}

// awaitCancelled waits for a moment until the server is told that calls which
// have just been released are cancelled.
func (s *session) awaitCancelled(ctx context.Context, calls []*call) {
	s.awaitSent(ctx, func() bool {
		return !slices.ContainsFunc(calls, func(c *call) bool { return !c.told && c.reply == 0 })
	})
}

// awaitSent waits for a moment until something stands in the log. Whether it
// does is asked with in.mu held.
func (s *session) awaitSent(ctx context.Context, does func() bool) {
	ctx, cancel := context.WithTimeout(ctx, answerGrace)
	defer cancel()
	for {
		grown := s.in.log.Grown()
		s.in.mu.Lock()
		sent := does()
		s.in.mu.Unlock()
		if sent {
			return
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return
		}
	}
}

// frame is what all frames of the session have in common.
func (s *session) frame(d wire.Direction) wire.Frame { return s.labelled(wire.Frame{}, d) }

// labelled is a frame with the server and the session that it is of.
func (s *session) labelled(f wire.Frame, d wire.Direction) wire.Frame {
	f.Server, f.Session, f.Dir, f.Transport = s.server.label(), s.name, d, s.transport()
	return f
}

func (s *session) transport() string {
	switch s.server.spec.How() {
	case "stdio":
		return "stdio"
	case "SSE":
		return "sse"
	case "in process":
		return "memory"
	default:
		return "http"
	}
}

// Stderr implements [target.Observer].
func (s *session) Stderr(line []byte, truncated bool, size int64) {
	s.in.mu.Lock()
	if s.server.session == s {
		if len(s.server.stderr) == stderrKept {
			s.server.stderr = s.server.stderr[1:]
		}
		s.server.stderr = append(s.server.stderr, string(line[:min(len(line), stderrLineMost)]))
	}
	s.in.mu.Unlock()
	s.in.log.Append(s.labelled(wire.Frame{Raw: line, Truncated: truncated, Size: size}, wire.Stderr))
}

// Noted implements [target.Observer].
func (s *session) Noted(f wire.Frame) {
	f = s.labelled(f, wire.Meta)
	s.mu.Lock()
	if out := s.outgoing[string(f.Answers)]; out != nil && out.call != nil {
		f.Call, f.Round = out.call.number, out.round
	}
	s.mu.Unlock()
	s.in.log.Append(f)
}

// rpcErrorOf reads a JSON-RPC error object from its bytes.
func rpcErrorOf(raw json.RawMessage) (code int64, message string, data json.RawMessage, err error) {
	var e struct {
		Code    *int64          `json:"code"`
		Message *string         `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if err := decode(raw, &e); err != nil {
		return 0, "", nil, fmt.Errorf("the error object cannot be read: %w", err)
	}
	if e.Code == nil || e.Message == nil {
		return 0, "", e.Data, errors.New("the error object lacks its code or message")
	}
	return *e.Code, *e.Message, e.Data, nil
}
