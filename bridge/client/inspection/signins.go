package inspection

import (
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/client/signin"
	"elicitation-inspector/bridge/client/target"
	"elicitation-inspector/bridge/wire"
)

// useDesk gives the servers that are reached by a URL their flows, unless they have a
// token already or want none, and keeps the secrets of all sign-ins out of the log.
func (in *servers) useDesk() {
	if in.signIns = in.config.SignIns; in.signIns == nil {
		in.signIns = signin.NewDesk(signin.DeskConfig{Headless: true})
	}
	in.log.Mask(in.signIns.Masked)
	targets := make([]target.Spec, len(in.config.Targets))
	for i, spec := range in.config.Targets {
		targets[i] = in.withAccess(spec)
	}
	in.config.Targets = targets
}

// withAccess returns a server with its flow, if it can have one.
func (in *servers) withAccess(spec target.Spec) target.Spec {
	if spec.URL == "" || spec.Problem != nil || spec.Header.Get("Authorization") != "" {
		return spec
	}
	spec.Access = in.signIns.Flow(spec.Key()+" "+spec.Name, spec.Name, spec.URL, spec.SignIn)
	return spec
}

func (in *calls) signInChanged(flow *signin.Flow) {
	for _, s := range in.servers.live.All() {
		if own, err := in.servers.SignIn(s.ID); err == nil && own == flow {
			in.live.SigningIn(s.ID, flow.Busy())
			in.changes.Mark(live.Change{Kind: live.SignInChanged, Server: s.ID})
		}
	}
}

// RefreshToken begins to refresh the token of a server. It does not wait for the end,
// because the authorization server may take long; the sign-in says how it ended.
func (in *servers) RefreshToken(flow *signin.Flow) error {
	if !flow.Status().Refreshable {
		return signin.ErrNoRefresh
	}
	if !in.spawn(func() { _ = flow.Refresh(in.life) }) {
		return live.ErrClosed
	}
	return nil
}

// SignIn returns the flow that signs in to a server; nil if the server has none, because
// it is not a URL, has a token of its own, or the inspection is a replay.
func (in *servers) SignIn(server string) (*signin.Flow, error) {
	if in.replay != nil {
		return nil, nil
	}
	t, err := in.Target(server)
	return t.Access, err
}

// SignInFrames returns the frames of a sign-in, by the label of its server and its number.
func (in *servers) SignInFrames(server string, number int) (out []*wire.Frame, err error) {
	for seq := int64(1); seq <= in.log.Len(); seq++ {
		if head := in.log.Head(seq); head.Kind != wire.NoteFrame || head.Server != server {
			continue
		}
		f, err := in.log.Frame(seq)
		if err != nil {
			return nil, err
		}
		if f.Note != nil && f.Note.SignIn != nil && f.Note.SignIn.Number == number {
			out = append(out, &f)
		}
	}
	return out, nil
}
