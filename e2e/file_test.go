package e2e

import (
	"encoding/base64"
	"strings"
	"testing"

	"elicitation-inspector/e2e/internal/look"
	"elicitation-inspector/e2e/internal/page"
	"elicitation-inspector/e2e/internal/servers"
)

// pixel is a PNG of one pixel, in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNkYGBgAAAABQABWaDDsAAAAABJRU5ErkJggg=="

// chooseFile chooses a file in a control, as a person does in the dialog of the browser.
func chooseFile(control *page.Control, name, mediaType, data string) {
	page.Call[any](control, `function(name, type, data) {
		const given = new DataTransfer()
		given.items.add(new File([Uint8Array.from(atob(data), c => c.charCodeAt(0))], name, { type }))
		this.files = given.files
		for (const kind of ["input", "change"]) this.dispatchEvent(new Event(kind, { bubbles: true }))
	}`, name, mediaType, data)
}

// A file for x-mcp-file (SEP-2356, a draft) is chosen by its label. The server gets its bytes as a
// data: URI, and people read its type, size and hash.
func TestFile(t *testing.T) {
	t.Parallel()
	rude := servers.NewRude(t, []servers.Question{{
		Name:   "ask_file",
		Params: `{"message":"Which picture?","requestedSchema":` + properties(`"p":{"type":"string","format":"uri","title":"Picture","x-mcp-file":{"accept":["image/png"],"maxSize":99}},"n":{"type":"integer","title":"Copies"}`, "p", "n") + `}`,
	}})
	s := openOn(t, rude.Command)
	s.call("ask_file")
	q := s.question("Which picture?")
	picture, sends := q.Button("Picture").HasAttr("accept", "image/png"), q.Role("group", "Will send")
	q.Contains("A file of image/png, at most 99 bytes")

	chooseFile(picture, "large.png", "image/png", base64.StdEncoding.EncodeToString(make([]byte, 100)))
	q.Contains("large.png, image/png, 100 bytes, sha256 cd00e292c597")
	q.Button("Accept").Click()
	q.Button("Send anyway").Wait()
	q.Contains("At most 99 bytes. The file has 100.")
	if sent := rude.Answers(); len(sent) > 0 {
		t.Fatalf("%q was sent", sent)
	}
	chooseFile(picture, "dot.png", "image/png", pixel)
	q.Contains("dot.png, image/png, 70 bytes, sha256")
	q.Button("Accept").Click() // for want of the number: the form is drawn again, and has the file
	q.Contains("1 field needs attention")
	q.TabNamed("JSON").Click()
	q.Field("Content").Matches("has the bytes", func(string) bool { return strings.Contains(q.Field("Content").Value(), pixel) })
	q.TabNamed("Form").Click()
	q.Field("Copies").Fill("2")
	sends.Contains("data:image/png;base64,[70 bytes, sha256")
	if found := look.Axe(t, s.page); len(found) > 0 {
		t.Errorf("axe-core finds %v", found)
	}
	q.Button("Accept").Click()
	s.result("received: ")
	want := `{"action":"accept","content":{"p":"data:image/png;base64,` + pixel + `","n":2}}`
	if sent := rude.Answers(); len(sent) != 1 || !strings.HasSuffix(sent[0], `"result":`+want+"}") {
		t.Errorf("%q was sent, want the result %s", sent, want)
	}
	row := s.rowWith("accept p: data:image/png;base64,[70 bytes, sha256")
	row.Click()
	frame := s.page.Role("group", "Frame")
	frame.Contains("[70 bytes, sha256")
	frame.TabNamed("Raw").Click()
	frame.Contains(pixel)
	if got := s.page.Complaints(); len(got) > 0 {
		t.Errorf("the browser complains: %q", got)
	}
}
