package lint

import (
	"encoding/json"
	"slices"

	"elicitation-inspector/bridge/elicit"
	"elicitation-inspector/bridge/wording"
)

// IDState is what is known of an elicitationId when a server says that its
// elicitation is complete.
type IDState int

// What can be known of an elicitationId.
const (
	IDUnknown    IDState = iota // no elicitation of the session has it
	IDOpen                      // an elicitation in URL mode that is not complete
	IDOfForm                    // an elicitation in another mode
	IDCompleted                 // its completion was notified before
	IDTurnedDown                // an elicitation in URL mode that was declined or cancelled
)

// Completion judges notifications/elicitation/complete. offered is asked
// for what is known of its elicitationId. Pointers lead into the frame.
func Completion(params json.RawMessage, revision string, offered func(id string) IDState) []Finding {
	l := newLinter(revision)
	if l.revision == rev2026July {
		l.find("completion-removed", "/method", "notifications/elicitation/complete is gone since 2026-07-28; the client learns the outcome by retrying.")
		return l.findings
	}
	if l.revision == rev2025June {
		l.find("completion-early", "/method", "Revision 2025-06-18 has no URL mode, and so nothing that notifications/elicitation/complete could be about.")
		return l.findings
	}
	if t := typeOf(params); t != typeObject {
		at := "/params"
		if t == typeNone {
			at = ""
		}
		l.find("completion-malformed", at, "The notification has no params that name an elicitation, so nobody can tell which one is complete.")
		return l.findings
	}
	raw := elicit.ValueAt(params, "elicitationId")
	id, isString := elicit.StringAt(params, "elicitationId")
	const at = "/params/elicitationId"
	switch {
	case raw == nil:
		l.find("completion-malformed", "/params", "The notification has no elicitationId, so nobody can tell which elicitation is complete.")
		return l.findings
	case !isString:
		l.find("completion-malformed", at, "The elicitationId is %s, not a string.", withArticle(typeOf(raw)))
		return l.findings
	}
	switch offered(id) {
	case IDUnknown:
		l.find("completion-unknown", at, "No elicitation so far in this session has the id %s; clients ignore the notification.", wording.Quoted(id))
	case IDOfForm:
		l.find("completion-of-form", at, "The elicitation %s is not in URL mode; it is complete with its answer, and has no completion to notify.", wording.Quoted(id))
	case IDCompleted:
		l.find("completion-repeated", at, "The elicitation %s was complete already; clients ignore the second notification.", wording.Quoted(id))
	case IDTurnedDown:
		l.find("completion-declined", at, "The user did not accept the elicitation %s, and yet it is said to be complete.", wording.Quoted(id))
	}
	return l.findings
}

// CompletedID judges that an elicitation has the id of one that is complete.
// The pointer leads into the params.
func CompletedID(id, revision string) []Finding {
	l := newLinter(revision)
	l.find("id-reused", "/elicitationId", "The elicitation %s is complete; another one needs an id of its own.", wording.Quoted(id))
	return l.findings
}

// ServerRequest judges that a server sends a request at all.
func ServerRequest(method, revision string) []Finding {
	l := newLinter(revision)
	switch {
	case l.revision != rev2026July || method == "elicitation/create": // of which Elicitation says so
	case slices.Contains(inputMethods, method):
		l.find("request-removed", "/method", "Since 2026-07-28 a server asks inside an input-required result; %s is no longer a request of its own.", method)
	default:
		l.find("server-request-removed", "/method", "Since 2026-07-28 servers send no requests; this one is %s.", wording.Quoted(method))
	}
	return l.findings
}

// ServerCancelled judges a notifications/cancelled of a server's. listens
// reports whether a request with that id is a subscription of the client's.
func ServerCancelled(params json.RawMessage, revision string, listens func(id string) bool) []Finding {
	l := newLinter(revision)
	id := elicit.ValueAt(params, "requestId")
	if l.revision == rev2026July && !listens(string(id)) {
		l.find("cancelled-by-server", "/method", "Since 2026-07-28 a server sends notifications/cancelled only to end a subscriptions/listen of the client's.")
	}
	return l.findings
}

// Notification judges a notification whose method is that of a request.
func Notification(method, revision string) []Finding {
	l := newLinter(revision)
	if method == "ping" || slices.Contains(inputMethods, method) {
		l.find("request-without-id", "", "%s is a request and has no id, so nothing can answer it.", method)
	}
	return l.findings
}

// Unasked judges a response that answers no request of the client's. alike
// is the id of an open request that differs in its type only, such as 4 for
// "4"; nil where there is none.
func Unasked(id, alike json.RawMessage, revision string) []Finding {
	l := newLinter(revision)
	switch {
	case alike != nil:
		l.find("response-unasked", "/id", "No request has the id %s; that of the request is %s, of another type.", wording.Shorten(string(id), 60), wording.Shorten(string(alike), 60))
	default:
		l.find("response-unasked", "/id", "No request of the client's has the id %s, so this response answers nothing.", wording.Shorten(string(id), 60))
	}
	return l.findings
}

// NamelessResponse judges a response without an id, or with the id null.
func NamelessResponse(response json.RawMessage, revision string) []Finding {
	l := newLinter(revision)
	at := ""
	if elicit.ValueAt(response, "id") != nil {
		at = "/id"
	}
	if elicit.ValueAt(response, "error") != nil {
		l.find("error-without-id", at, "The error has no id, so nobody can tell which request failed; only where the request's own id could not be read is there none to give.")
	} else {
		l.find("response-unasked", at, "The response has no id, so nobody can tell which request it answers.")
	}
	return l.findings
}
