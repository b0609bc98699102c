package main

import (
	"encoding/json"
	"fmt"
)

const prompts = `{"prompts":[` +
	`{"name":"plain_prompt","description":"Takes nothing."},` +
	`{"name":"letter","description":"Writes a letter.","arguments":[{"name":"to","title":"Recipient","required":true},{"name":"tone","description":"formal or warm"}]}]}`

const resources = `{"resources":[` +
	`{"uri":"note://1","name":"first note","mimeType":"text/plain"},` +
	`{"uri":"note://pixel","name":"a pixel","mimeType":"image/png"}]}`

const templates = `{"resourceTemplates":[{"uriTemplate":"note://{number}/page/{page}","name":"any note","description":"By its number"}]}`

// getPrompt returns the arguments unchanged as the prompt's text.
func (s *server) getPrompt(id string, params json.RawMessage) {
	var p struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal(params, &p)
	s.reply(id, fmt.Sprintf(`{"description":"ready","messages":[{"role":"user","content":{"type":"text","text":%s}},{"role":"assistant","content":{"type":"text","text":"Certainly."}}]}`,
		quote(p.Name+" with "+string(p.Arguments))))
}

// readResource returns the URI unchanged as the resource's text.
func (s *server) readResource(id string, params json.RawMessage) {
	var p struct {
		URI string `json:"uri"`
	}
	_ = json.Unmarshal(params, &p)
	if p.URI == "note://pixel" {
		s.reply(id, `{"contents":[{"uri":"note://pixel","mimeType":"image/png","blob":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="}]}`)
		return
	}
	s.reply(id, fmt.Sprintf(`{"contents":[{"uri":%s,"mimeType":"text/plain","text":%s}]}`, quote(p.URI), quote("the text of "+p.URI)))
}
