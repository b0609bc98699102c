//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/conversation"
	"elicitation-inspector/bridge/mcp"
	"elicitation-inspector/bridge/signin"
	"elicitation-inspector/bridge/transport"
	"elicitation-inspector/bridge/wire"
	"elicitation-inspector/bridge/wording"
)

// Connect opens the link and performs the handshake. The error says why there is no
// session.
func (s *Session) Connect() (conversation.ServerInfo, error) {
	var failed []string
	for _, candidate := range s.Spec.Candidates() {
		err := s.connectBy(candidate, s.Settings)
		if err != nil && s.diedOfProbe(candidate) {
			s.fellBack("ended the process")
			s.Noted(wire.Frame{Note: &wire.Note{Kind: wire.NoteProbeFatal}})
			s.mu.Lock()
			s.stderr, s.crash = nil, wording.Crash{} // keep only the stderr of the next process
			s.mu.Unlock()
			older := s.Settings
			older.Protocol = mcp.Revision20251125
			err = s.connectBy(candidate, older)
		}
		if err == nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			return conversation.ServerInfo{Presented: s.presented, Protocol: s.revision, Negotiated: Negotiated(s.handshake.methods, s.handshake.fallback), How: s.link.How()}, nil
		}
		if s.ctx.Err() != nil {
			return conversation.ServerInfo{}, context.Cause(s.ctx)
		}
		failed = append(failed, err.Error())
		if !transport.TryNext(err) {
			break
		}
	}
	return conversation.ServerInfo{}, errors.New(strings.Join(failed, "; "))
}

func (s *Session) connectBy(spec transport.Spec, settings conversation.ClientSettings) error {
	link, err := s.open(spec)
	if err != nil {
		return err
	}
	failed, responded := make(chan struct{}), make(chan struct{})
	s.Go(func() {
		defer close(responded)
		s.sendResponses(link, failed)
	})
	own := s.client(settings)
	session, err := own.Connect(s.ctx, link.Transport(), &sdk.ClientSessionOptions{ProtocolVersion: settings.Protocol})
	if err != nil {
		s.owner.Released(s, conversation.ByServer, "the connection that carried it ended")
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), EndTime)
		defer cancel()
		s.mu.Lock()
		if useless := s.handshake.useless; useless != nil {
			err = useless
			if !errors.As(useless, new(*signin.Error)) {
				err = fmt.Errorf("%s: %w", mcp.MethodDiscover, useless)
			}
		}
		s.mu.Unlock()
		close(failed)
		err = errors.Join(unreached{link.How(), err, spec.Header.Get("Authorization") != ""}, link.Close(ctx))
		<-responded
		return err
	}
	res := session.InitializeResult()
	s.mu.Lock()
	s.sdk, s.revision = session, res.ProtocolVersion
	tells := s.presented.Tasks.Offered && settings.TakesCallTasks(s.revision)
	s.mu.Unlock()
	if tells {
		s.Go(s.listenToTasks)
	}
	if !settings.NoLogs && res.Capabilities != nil && res.Capabilities.Logging != nil && res.ProtocolVersion < mcp.Revision20260728 {
		// A server may send no log messages until a level is set, and the inspector
		// shows all of them. A refusal is on the wire already.
		if err := session.SetLoggingLevel(s.ctx, &sdk.SetLoggingLevelParams{Level: "debug"}); err != nil {
			s.Logger.Debug("setting the logging level", "server", s.Spec.Name, "error", err)
		}
	}
	return nil
}

// open opens a link and resets the handshake, except for its fallback.
func (s *Session) open(spec transport.Spec) (*transport.Link, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	// The link must outlive s.ctx, because Close still sends responses over it.
	link, err := transport.Open(context.WithoutCancel(s.ctx), spec, s, transport.Options{MaxFrame: s.MaxFrame, Outgoing: s.outgoingFor})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.link, s.handshake = link, handshake{fallback: s.handshake.fallback}
	killed := s.killed
	s.mu.Unlock()
	if killed {
		return nil, errors.Join(context.Canceled, s.cut(link))
	}
	return link, nil
}

// client makes the SDK's client. It sees no request of the server's, and starts no rounds
// of a call: each round is a RoundTrip of its own.
func (s *Session) client(settings conversation.ClientSettings) *sdk.Client {
	c := sdk.NewClient(&sdk.Implementation{Name: "elicitation-inspector", Title: wording.Product, Version: s.Version}, &sdk.ClientOptions{
		Capabilities: capabilities(settings),
		// With these handlers set, the SDK subscribes to list changes under 2026-07-28.
		ToolListChangedHandler:   func(context.Context, *sdk.ToolListChangedRequest) { s.ListChanged(mcp.MethodListTools) },
		PromptListChangedHandler: func(context.Context, *sdk.PromptListChangedRequest) { s.ListChanged(mcp.MethodListPrompts) },
		ResourceListChangedHandler: func(context.Context, *sdk.ResourceListChangedRequest) {
			s.ListChanged(mcp.MethodListResources, mcp.MethodListTemplates)
		},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		Logger:         s.Logger,
	})
	for _, method := range []string{mcp.MethodGetTask, mcp.MethodTaskResult, mcp.MethodUpdateTask, mcp.MethodCancelTask} {
		if err := sdk.AddSendingCustomMethod[*rawParams, *emptyResult](c, method); err != nil {
			panic(fmt.Sprintf("session: %v", err)) // the SDK has got tasks of its own
		}
	}
	c.AddSendingMiddleware(exactParams, s.probing)
	return c
}

func capabilities(s conversation.ClientSettings) *sdk.ClientCapabilities {
	c := &sdk.ClientCapabilities{}
	if declared := s.Declared(); declared != "" {
		if err := json.Unmarshal([]byte(declared), &c.Elicitation); err != nil {
			panic(fmt.Sprintf("session: %v", err)) // the JSON is our own
		}
	}
	if !s.NoTasks {
		c.AddExtension(mcp.TasksExtension, nil) // for 2026-07-28; see declaringTasks
	}
	if s.Apps {
		c.AddExtension(mcp.AppsExtension, map[string]any{"elicitation": map[string]any{}})
	}
	if s.Sampling {
		c.Sampling = &sdk.SamplingCapabilities{}
	}
	if s.Roots {
		c.RootsV2 = &sdk.RootCapabilities{}
	}
	return c
}

// unreached is the error of connecting to a server: how the server was reached, and
// what failed.
type unreached struct {
	how   string
	err   error
	token bool // an Authorization header was sent
}

// Error describes the failure. If the transport failed, it leaves out the SDK's text.
func (u unreached) Error() string {
	failure, ok := transport.FailureOf(u.err)
	switch {
	case !ok:
		return fmt.Sprintf("%s: %s", u.how, conversation.PlainError(u.err.Error()))
	case failure.Status != 0 && failure.Method != "":
		return fmt.Sprintf("over %s, %s was answered with %s%s", u.how, failure.Method, failure.Text, u.access(failure))
	default:
		return fmt.Sprintf("over %s: %s%s", u.how, failure.Text, u.access(failure))
	}
}

// access returns advice on how to pass a token if the server answered 401 or 403, and
// the server's challenge; "" for other failures.
func (u unreached) access(failure *transport.Failure) string {
	advice := map[int]string{http.StatusUnauthorized: "Give a token", http.StatusForbidden: "If it is a token that is missing, give it"}
	if u.token {
		advice[http.StatusUnauthorized] = "The Authorization header that was sent is not accepted. Give another one"
		advice[http.StatusForbidden] = "The Authorization header that was sent does not give access. Give another one"
	}
	if advice[failure.Status] == "" {
		return ""
	}
	said := ". " + advice[failure.Status] + ` with --header 'Authorization: Bearer TOKEN', or in "headers" in mcp.json`
	if failure.Challenge != "" {
		said += ". The server's WWW-Authenticate: " + conversation.ShortError(failure.Challenge)
	}
	return said
}

func (u unreached) Unwrap() error { return u.err }

// DefaultProbe is how long server/discover may stay unanswered. Servers of older
// revisions may ignore requests before initialize, and a process may need some time
// until it reads its input.
const DefaultProbe = 10 * time.Second

// handshake is the progress of the handshake with the server.
type handshake struct {
	methods  []string // methods of the requests sent so far
	answered int      // how many of these requests have a response
	fallback string   // why initialize was tried although server/discover was not refused
	useless  error    // why the handshake cannot go on: the DiscoverResult is unusable, or signing in failed
}

// probing is sending middleware: unless the revision is pinned, it stops waiting for
// the response to server/discover after s.Probe. The SDK then tries initialize on the
// same connection (specification 2026-07-28, Versioning, Backward Compatibility).
func (s *Session) probing(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method != mcp.MethodDiscover || s.Settings.Protocol != "" {
			return next(ctx, method, req)
		}
		patience := s.Probe
		if patience == 0 {
			patience = DefaultProbe
		}
		ctx, giveUp := context.WithCancelCause(ctx)
		defer giveUp(nil)
		s.Go(func() {
			for waiting := true; waiting; {
				select {
				case <-ctx.Done():
					return
				case <-time.After(patience):
					waiting = s.Spec.Access != nil && s.Spec.Access.Busy() // the server has answered, by asking for a token
				}
			}
			giveUp(errProbe)
		})
		res, err := next(ctx, method, req)
		if err != nil && errors.Is(context.Cause(ctx), errProbe) {
			s.fellBack(fmt.Sprintf("had no answer within %s", patience))
			s.Noted(wire.Frame{Note: &wire.Note{Kind: wire.NoteProbeUnanswered, Took: patience.String()}})
		}
		return res, err
	}
}

var errProbe = errors.New("no answer to server/discover")

// fellBack records, in words, why initialize is tried after server/discover.
func (s *Session) fellBack(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handshake.fallback = why
}

// diedOfProbe reports whether a process ended at server/discover without answering it,
// as servers do that only expect initialize. If the client is not pinned to a revision,
// such a server is started again. The SDK may have sent initialize already, while the
// process was still ending.
func (s *Session) diedOfProbe(spec transport.Spec) bool {
	if s.Settings.Protocol != "" || spec.URL != "" || s.ctx.Err() != nil || s.exit() == "" {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.handshake
	return len(h.methods) > 0 && h.methods[0] == mcp.MethodDiscover && h.answered == 0
}

// Negotiated describes, in words, the requests that led to the negotiated revision.
// fallback is why initialize was tried although server/discover was not refused, "" if
// it was refused.
func Negotiated(methods []string, fallback string) string {
	last := len(methods) - 1
	switch {
	case last < 0:
		return ""
	case fallback != "":
		return methods[last] + ", after " + mcp.MethodDiscover + " " + fallback
	case last == 0:
		return methods[0]
	}
	return methods[last] + ", after " + strings.Join(methods[:last], " and ") + " was refused"
}
