package conversation

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// Content is one content block of a result (specification, Tools, Tool Result; Prompts;
// Resources). Bytes holds the decoded data of images, audio and blobs.
type Content struct {
	Type        string // text, image, audio, resource, resource_link, or another type from the server
	Role        string // role of a prompt's message
	Text        string
	Bytes       []byte
	MIME        string
	Name        string
	URI         string
	Description string
	Problem     string // what is wrong with the block
	Raw         json.RawMessage
}

// Result is the result of a call, as received.
type Result struct {
	IsError    bool
	Content    []Content
	Structured json.RawMessage // nil if absent
	Raw        json.RawMessage
}

// ReadResult reads the result of tools/call, prompts/get or resources/read.
func ReadResult(raw json.RawMessage) (Result, error) {
	var r struct {
		Type       string            `json:"resultType"`
		IsError    bool              `json:"isError"`
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
		Messages   []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Contents []json.RawMessage `json:"contents"`
	}
	out := Result{Raw: raw}
	if err := DecodeResult(raw, &r); err != nil {
		return out, fmt.Errorf("the result cannot be read: %w", err)
	}
	out.IsError, out.Structured = r.IsError, r.Structured
	if r.Type == inputRequiredType {
		why := "in this protocol revision no call has further rounds"
		if required, err := ReadInputRequired(raw); err != nil {
			why = err.Error()
		} else if required.Empty() {
			why = "it asks for nothing, and has no state to come back with"
		}
		out.Content = append(out.Content, Content{Problem: "The result says that input is required, and cannot be answered: " + why + ".", Raw: raw})
	}
	for _, c := range r.Content {
		out.Content = append(out.Content, readContent(c, ""))
	}
	for _, m := range r.Messages {
		out.Content = append(out.Content, readContent(m.Content, m.Role))
	}
	for _, c := range r.Contents {
		out.Content = append(out.Content, readContents(c))
	}
	return out, nil
}

func readContent(raw json.RawMessage, role string) Content {
	var b struct {
		Type        string          `json:"type"`
		Text        string          `json:"text"`
		Data        string          `json:"data"`
		MIME        string          `json:"mimeType"`
		Name        string          `json:"name"`
		URI         string          `json:"uri"`
		Description string          `json:"description"`
		Resource    json.RawMessage `json:"resource"`
	}
	if err := DecodeResult(raw, &b); err != nil {
		return Content{Role: role, Problem: "the block cannot be read: " + err.Error(), Raw: raw}
	}
	if b.Type == "resource" && b.Resource != nil {
		c := readContents(b.Resource)
		c.Role, c.Raw = role, raw
		return c
	}
	c := Content{
		Type: b.Type, Role: role, Text: b.Text, MIME: b.MIME, Name: b.Name, URI: b.URI,
		Description: b.Description, Raw: raw,
	}
	c.decode(b.Data)
	return c
}

// readContents reads the contents of a resource, embedded or from resources/read.
func readContents(raw json.RawMessage) Content {
	var r struct {
		URI  string `json:"uri"`
		MIME string `json:"mimeType"`
		Text string `json:"text"`
		Blob string `json:"blob"`
	}
	if err := DecodeResult(raw, &r); err != nil {
		return Content{Type: "resource", Problem: "the contents cannot be read: " + err.Error(), Raw: raw}
	}
	c := Content{Type: "resource", URI: r.URI, MIME: r.MIME, Text: r.Text, Raw: raw}
	c.decode(r.Blob)
	return c
}

func (c *Content) decode(data string) {
	if data == "" {
		return
	}
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		c.Problem = "the data is not Base64"
		var at base64.CorruptInputError
		if errors.As(err, &at) {
			c.Problem += fmt.Sprintf(", from character %d on", int64(at)+1)
		}
		return
	}
	c.Bytes = decoded
}
