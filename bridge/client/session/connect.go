//lint:file-ignore SA1019 2026-07-28 deprecates sampling, roots and logging, and servers of every revision still use them.

package session

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/client/transport"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/wire"
)

// Connect opens the link and performs the handshake. The error says why there is no
// session.
func (s *Session) Connect() (conversation.ServerInfo, error) {
	var failed []string
	spec, spans := s.Spec, ""
	if s.Traces != nil && s.Settings.Traces {
		var err error
		if spec, spans, err = s.Traces.Hand(spec); err != nil {
			return conversation.ServerInfo{}, fmt.Errorf("receiving its traces: %w", err)
		}
	}
	for _, candidate := range spec.Candidates() {
		err := s.connectBy(candidate, s.Settings)
		// A process that ends at server/discover, as those do that only expect initialize, is
		// started again, unless the client is pinned to a revision.
		if err != nil && s.Settings.Protocol == "" && candidate.URL == "" && s.ctx.Err() == nil && s.exit() != "" && s.agreed().isUnanswered() {
			s.handshake.update(func(a *agreement) { a.fallback = "ended the process" })
			s.Noted(wire.Frame{Note: &wire.Note{Kind: wire.NoteProbeFatal}})
			s.lastWords.restart()
			older := s.Settings
			older.Protocol = mcp.Revision20251125
			err = s.connectBy(candidate, older)
		}
		if err == nil {
			a := s.agreed()
			return conversation.ServerInfo{Presented: a.presented, Protocol: a.revision, Negotiated: Negotiated(a.methods, a.fallback), How: s.link.Load().How(), Spans: spans}, nil
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

func (s *Session) connectBy(spec target.Spec, settings conversation.ClientSettings) error {
	link, err := s.open(spec)
	if err != nil {
		return err
	}
	failed, responded := make(chan struct{}), make(chan struct{})
	s.Go(func() {
		defer close(responded)
		s.outbox.run(s.ctx, failed, func(r *Response) {
			if err := link.Send(s.life, transport.Outgoing{Frame: wire.Frame{Raw: r.json()}}); err != nil {
				s.Logger.Debug("sending a response", "server", s.Spec.Name, "id", string(r.ID), "error", err)
			}
		})
	})
	session, err := s.client(settings).Connect(s.ctx, link.Transport(), &sdk.ClientSessionOptions{ProtocolVersion: settings.Protocol})
	if err != nil {
		s.owner.Ended(s, conversation.ByServer, "the connection that carried it ended")
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), EndTime)
		defer cancel()
		if useless := s.agreed().useless; useless != nil {
			err = useless
			if !errors.As(useless, new(*signin.Error)) {
				err = fmt.Errorf("%s: %w", mcp.MethodDiscover, useless)
			}
		}
		close(failed)
		failure := unreached{how: link.How(), address: spec.Address(), err: err, token: spec.Header.Get("Authorization") != "", declared: settings.Declared()}
		if a := s.agreed(); s.Refused() {
			failure.refused, failure.refusal = a.methods[len(a.methods)-1], a.refusal
		}
		err = errors.Join(failure, link.Close(ctx))
		<-responded
		return err
	}
	s.sdk.Store(session)
	res := session.InitializeResult()
	s.handshake.update(func(a *agreement) { a.revision = res.ProtocolVersion })
	agreed := s.agreed()
	if agreed.presented.Tasks.Offered && settings.TakesCallTasks(res.ProtocolVersion) {
		s.Go(s.listenToTasks)
	}
	if !settings.NoLogs && agreed.offers("logging") && res.ProtocolVersion < mcp.Revision20260728 {
		// A server may send no log messages until a level is set, and the inspector
		// shows all of them. A refusal is on the wire already.
		s.inAMoment(func() {
			if err := session.SetLoggingLevel(s.ctx, &sdk.SetLoggingLevelParams{Level: "debug"}); err != nil {
				s.Logger.Debug("setting the logging level", "server", s.Spec.Name, "error", err)
			}
		}, nil)
	}
	return nil
}

// open opens a link, and begins the handshake.
func (s *Session) open(spec target.Spec) (*transport.Link, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	// The link must outlive s.ctx, because Close still sends responses over it.
	link, err := transport.Open(context.WithoutCancel(s.ctx), spec, s.Observer(), transport.Options{MaxFrame: s.MaxFrame, Outgoing: s.outgoingFor})
	if err != nil {
		return nil, err
	}
	s.handshake.update(func(a *agreement) { a.methods, a.answers, a.refusal, a.useless = nil, 0, nil, nil })
	s.link.Store(link)
	if err := s.ctx.Err(); err != nil { // Kill may not have seen the link
		s.Kill()
		return nil, err
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
	for _, method := range []string{requestOfOurs, mcp.MethodGetTask, mcp.MethodTaskResult, mcp.MethodUpdateTask, mcp.MethodCancelTask} {
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
	how, address string
	err          error
	token        bool            // an Authorization header was sent
	declared     string          // the elicitation capability, "" for none
	refused      string          // the method of the handshake that the server answered by an error; "" for none
	refusal      json.RawMessage // the error
}

// Error describes the failure. If the transport failed, it leaves out the SDK's text.
func (u unreached) Error() string {
	failure, ok := transport.FailureOf(u.err)
	switch {
	case u.refused != "" && !ok:
		said, err := conversation.ErrorOf(u.refusal)
		if err != nil {
			said.Message = err.Error()
		}
		return fmt.Sprintf("over %s, the server answered %s with error %d: %s%s", u.how, u.refused, said.Code, conversation.ShortError(said.Message), u.leaner(said.Code))
	case !ok:
		return fmt.Sprintf("%s: %s", u.how, conversation.PlainError(u.err.Error()))
	case failure.Status != 0 && failure.Method != "":
		text := failure.Text
		if failure.Status == http.StatusNotFound || failure.Status == http.StatusMethodNotAllowed {
			text += " at " + cmp.Or(failure.Address, u.address)
		}
		if failure.Status == http.StatusBadRequest || failure.Status == http.StatusUnprocessableEntity {
			text += u.leaner(mcp.CodeInvalidParams)
		}
		return fmt.Sprintf("over %s, %s was answered with %s%s", u.how, failure.Method, text, u.access(failure))
	default:
		return fmt.Sprintf("over %s: %s%s", u.how, failure.Text, u.access(failure))
	}
}

// leaner returns advice for a server that may refuse what the client declares, "" if the client
// cannot declare less, or if the code says that the server refuses something else.
func (u unreached) leaner(code int64) string {
	if u.declared == "" || u.declared == "{}" || code == mcp.CodeMethodNotFound || code == mcp.CodeUnsupportedVersion {
		return ""
	}
	return ". If it refuses what the client declares, declare less: with --elicitation empty, or --elicitation form"
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
	if failure.Elsewhere != "" {
		return fmt.Sprintf(". The request was redirected to %s, which is not told the headers that are set for the server: give the address of %[1]s itself if they are meant for it", failure.Elsewhere)
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

// probing is sending middleware: unless the revision is pinned, it stops waiting for
// the response to server/discover after s.Probe, and to a subscription after a moment. The SDK then tries initialize on the
// same connection (specification 2026-07-28, Versioning, Backward Compatibility).
func (s *Session) probing(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if method == mcp.MethodListen && outgoingOf(ctx).ctx == nil { // the SDK's, which over HTTP waits for the response's header
			s.inAMoment(func() { _, _ = next(ctx, method, req) }, nil) // the log has how it went
			return &sdk.SubscriptionsListenResult{}, nil
		}
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
			s.handshake.update(func(a *agreement) { a.fallback = fmt.Sprintf("had no answer within %s", patience) })
			s.Noted(wire.Frame{Note: &wire.Note{Kind: wire.NoteProbeUnanswered, Took: patience.String()}})
		}
		return res, err
	}
}

var errProbe = errors.New("no answer to server/discover")
