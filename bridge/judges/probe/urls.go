package probe

import (
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/mcp"
	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/wire"
)

// address returns the params of a question in URL mode, and its elicitationId.
func (r *run) address(message, address string) (params, id string) {
	id = strings.ToLower(rand.Text())
	params = `{"mode":"url","message":` + string(rawjson.Quoted(message)) + `,"url":` + string(rawjson.Quoted(address))
	if !r.Rounds() {
		params += `,"elicitationId":"` + id + `"`
	}
	if r.probe.enter != "" {
		params += `,"_meta":{"` + Enter + `":` + r.probe.enter + `}`
	}
	return params + "}", id
}

// consented judges an answer to a question in URL mode. The finding is zero for an accept after
// which nothing is wrong. A page that is opened before the accept proves nothing, since a client
// may open it between the consent and its answer (specification, URL Mode Flow); one that is
// fetched and declined does.
func (r *run) consented(a answer, p *page) finding {
	action, wrong := a.action()
	switch {
	case wrong.verdict != "":
		return wrong
	case action != "accept" && r.opened(p):
		return finding{verdict: Fails, how: "The URL was fetched, and never accepted: " + p.fetches()[0].words() + ".", cause: causePrefetched, frames: []int64{p.fetches()[0].seq}}
	case action != "accept":
		return otherwise("The answer is " + action + ", and the message asks to accept.").because(causeDeclined)
	case rawjson.Member(a.result, "content") != nil:
		return partly("The accept has content, which only that of a form has.").because(causeURLContent)
	}
	return finding{}
}

func urlProbes() []*Probe {
	return []*Probe{
		{Name: "url-consent", Group: URLs, Title: "Consent comes first", Do: "Look at the address, and accept. Only then the page may open.", Since: november, Mode: elicit.ModeURL, Looks: []string{"Was the whole URL shown before you accepted?", "Was its host easy to see?"}, run: func(r *run) finding {
			p := r.session.server.page(r)
			params, _ := r.address(r.probe.Do, p.url)
			a := r.ask(params)
			if wrong := r.consented(a, p); wrong.verdict != "" {
				return wrong
			}
			switch {
			case !r.opened(p):
				return works("The page was not opened before the accept, and not soon after it.")
			case p.fetches()[0].seq < a.answered:
				return works("The page was opened before the accept came, as it may be once a person has agreed; url-decline shows whether it is opened without that.")
			}
			return works("The page was opened after the accept, and not before.")
		}},
		{Name: "url-decline", Group: URLs, Title: "A URL that is declined", Do: "Decline to open this address.", Since: november, Mode: elicit.ModeURL, enter: `{"action":"decline"}`, run: func(r *run) finding {
			p := r.session.server.page(r)
			params, _ := r.address(r.probe.Do, p.url)
			a := r.ask(params)
			switch wrong := r.consented(a, p); {
			case wrong.verdict == "", wrong.cause == causeURLContent:
				return a.unread()
			case wrong.cause != causeDeclined:
				return wrong
			}
			return works("The answer is " + rawjson.Text(rawjson.Member(a.result, "action")) + ", and the page was not opened.")
		}},
		{Name: "url-punycode", Group: URLs, Title: "A host that looks like another", Do: "Look whether the client warns of this address, and decline.", Since: november, Mode: elicit.ModeURL, OnlyLooks: true, Looks: []string{"Did the client warn, or show the host as xn--…?"}, run: func(r *run) finding {
			p := r.session.server.page(r)
			u, _ := url.Parse(p.url) // made by the server itself
			u.Host = "xn--pple-43d.localhost:" + u.Port()
			params, _ := r.address(r.probe.Do, u.String())
			a := r.ask(params)
			if wrong := r.consented(a, p); wrong.verdict != "" && wrong.cause != causeDeclined {
				return wrong
			}
			return notSeen("It is answered, and no frame shows how the address was drawn.")
		}},
		{Name: "url-complete", Group: URLs, Title: "The server says that it is done", Do: "Accept, and look whether the client shows that the page is done. That is said a moment later.", Since: november, Until: november, Mode: elicit.ModeURL, OnlyLooks: true, Looks: []string{"Did the client show that the page is done?"}, run: func(r *run) finding {
			p := r.session.server.page(r)
			params, id := r.address(r.probe.Do, p.url)
			if wrong := r.consented(r.ask(params), p); wrong.verdict != "" {
				return wrong
			}
			r.opened(p)
			r.saw(r.Notify(mcp.NotificationElicitComplete, `{"elicitationId":"`+id+`"}`))
			r.rest()
			return notSeen("The client was told, and no frame shows what it did.")
		}},
		{Name: "url-unknown-id", Group: URLs, Title: "An elicitationId that nobody knows", Do: "The server says that something unknown is done. Then accept any text.", Since: november, Until: november, Mode: elicit.ModeForm, run: func(r *run) finding {
			r.saw(r.Notify(mcp.NotificationElicitComplete, `{"elicitationId":"of-nobody"}`))
			_, wrong := r.ask(r.form(r.probe.Do, text)).checked()
			if wrong.cause == causeSilent {
				wrong.how, wrong.cause = "After notifications/elicitation/complete with an unknown id: "+wrong.how, nil
			}
			return or(wrong, works("It went on as if nothing had come."))
		}},
		{Name: "url-required", Group: URLs, Title: "Error -32042, and the retry", Do: "The call fails because a page must be opened first. Open it, and have the call made again.", Since: november, Until: november, Mode: elicit.ModeURL, Apart: true, run: urlRequired},
	}
}

// opened reports whether a page is opened within the pause of the server.
func (r *run) opened(p *page) bool {
	select {
	case <-p.first:
		return true
	case <-r.pause():
	case <-r.ctx.Done():
	}
	return false
}

// retriesMost is how often a call may be made again before its page is opened.
const retriesMost = 3

// urlRequired fails the call with error -32042 until the page is opened, and waits for another
// call of the same tool, which then succeeds.
func urlRequired(r *run) finding {
	p := r.session.server.page(r)
	params, id := r.address(r.probe.Do, p.url)
	r.awaits = true
	refuse := func() {
		r.session.expect(r)
		r.over = true
		r.saw(r.Fail(mcp.CodeURLElicitationRequired, "A page must be opened first.", `{"elicitations":[`+params+`]}`))
	}
	defer r.session.unexpect(r)
	refuse()
	patience := time.After(r.session.server.options.Patience)
	first, fetched, again := p.first, "", 0
	for {
		select {
		case <-first:
			first, fetched = nil, p.fetches()[0].words()
			r.saw(p.fetches()[0].seq, r.session.Notify(r.session.Outside(), mcp.NotificationElicitComplete, []byte(`{"elicitationId":"`+id+`"}`)))
			if again > 0 {
				patience = r.pause()
			}
		case next := <-r.retries:
			r.saw(next.Frame.Seq)
			same := wire.IDKey(next.ID) == wire.IDKey(r.ID)
			r.Request, r.over = next, false
			switch again++; {
			case same:
				return fails("The call was made again under the same id.")
			case len(p.fetches()) > 0:
				return works("The page was opened " + p.fetches()[0].words() + ", and the call made again.")
			case again == retriesMost:
				return fails(fmt.Sprintf("The call was made again %d times, and nobody opened the page.", again))
			}
			refuse()
			patience = r.pause()
		case <-r.ctx.Done():
			return r.leftURL(fetched, again)
		case <-patience:
			return r.leftURL(fetched, again)
		}
	}
}

// leftURL is the finding for a call that was not made again after its page was opened.
func (r *run) leftURL(fetched string, again int) finding {
	switch {
	case fetched != "" && again > 0:
		return works("The call was made again, and the page opened " + fetched + ".")
	case fetched != "":
		return may("The page was opened " + fetched + ", and the call was not made again, which the specification leaves to the client.")
	case again > 0:
		return partly("The call was made again, and nobody opened the page: it could not succeed.")
	}
	return notSeen("Neither was the page opened nor the call made again.")
}
