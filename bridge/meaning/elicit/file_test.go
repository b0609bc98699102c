package elicit

import (
	"mime/multipart"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	testKind(t, File, []kindCase{
		{`{"type":"string","format":"uri","x-mcp-file":{"accept":["image/png","image/jpeg"],"maxSize":2097152}}`, `
limits: a file as a data: URI (x-mcp-file, a draft), of type image/png or image/jpeg, at most 2097152 bytes
hints: a file of image/png or image/jpeg, at most 2.1 MB
missing: Choose a file.
example: "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYA…
spoiled: wrong-type 12345, other-scheme "https://example.com/made-up.png", file-too-large "data:image/png;base64,AAAAAAAAAAAAAAAA…, type-not-accepted "data:application/x-made-up;base64,bWFk…, lying-type "data:image/png;base64,bWFkZSB1cCBieSB0…`},
		{`{"type":["string","null"],"format":"uri","x-mcp-file":{"accept":["text/*",".pdf"]}}`, `
limits: a file as a data: URI (x-mcp-file, a draft), of type text/* or .pdf
hints: a file of text/* or .pdf, at most 15 MB (a limit of this inspector)
missing: Choose a file.
example: "data:text/plain;base64,bWFkZSB1cCBieSB0aGUgaW5zcGVjdG9y"
spoiled: wrong-type 12345, other-scheme "https://example.com/made-up.png", lying-type "data:text/plain;base64,iVBORw0KGgoAAAA…`},
		{`{"type":"string","format":"uri","x-mcp-file":{}}`, `
limits: a file as a data: URI (x-mcp-file, a draft)
hints: a file, at most 15 MB (a limit of this inspector)
missing: Choose a file.
example: "data:text/plain;base64,bWFkZSB1cCBieSB0aGUgaW5zcGVjdG9y"
spoiled: wrong-type 12345, other-scheme "https://example.com/made-up.png", lying-type "data:text/plain;base64,iVBORw0KGgoAAAA…`},
	})
}

// TestFileIsChecked checks files by the SEP, which has x-mcp-file only beside the type string and
// the format uri, and does not want that format asserted.
func TestFileIsChecked(t *testing.T) {
	const photo = `{"type":"string","format":"uri","x-mcp-file":{"accept":["image/*"],"maxSize":4}}`
	for _, c := range []struct{ schema, value, want string }{
		{photo, "data:image/png;base64,AAAA", ""},
		{photo, "data:image/png,%00%01", ""},
		{photo, "DATA:Image/PNG;name=a%20b.png;base64,AAAA", ""},
		{photo, "data:image/png;base64,AAAAAAA=", "At most 4 bytes. The file has 5."},
		{photo, "data:text/plain;base64,AAAA", `Must be image/*. The file is "text/plain".`},
		{photo, "data:,abc", `Must be image/*. The file is "text/plain".`},
		{photo, "data:text/plain;base64,AAAAAAA=", `At most 4 bytes. The file has 5.|Must be image/*. The file is "text/plain".`},
		{photo, "https://example.com/a.png", `Not a data: URI: its scheme is "https".`},
		{photo, "a.png", "Not a data: URI: it has no scheme."},
		{photo, "data:image/png;base64", "Not a data: URI: no comma stands before its data."},
		{photo, "data:image/png;base64,AAA", "Not a data: URI: its data is not base64."},
		{photo, "data:image/png,%zz", "Not a data: URI: a % in its data begins no escape."},
		{`{"type":"string","format":"uri","x-mcp-file":{"accept":["image/png",".pdf"]}}`, "data:application/pdf,a", ""},
		{`{"type":"string","format":"uri","x-mcp-file":{"accept":["*/*"]}}`, "data:application/pdf,a", ""},
		{`{"$ref":"#/$defs/f"}`, "https://example.com/", `Not a data: URI: its scheme is "https".`},
		{`{"type":"string","x-mcp-file":{}}`, "no file", ""},
		{`{"type":"string","format":"uri","x-mcp-file":true}`, "https://example.com/", ""},
	} {
		schema := `{"type":"object","properties":{"x-mcp-file":` + c.schema + `},"$defs":{"f":{"type":"string","format":"uri","x-mcp-file":{}}}}`
		problems, err := Check([]byte(schema), []byte(`{"x-mcp-file":"`+c.value+`"}`))
		var texts []string
		for _, p := range problems {
			texts = append(texts, p.Text)
			if p.Keyword != FileKeyword || p.Field != 0 {
				t.Errorf("%s: %+v", c.value, p)
			}
		}
		if got := strings.Join(texts, "|"); got != c.want || err != nil {
			t.Errorf("%s of %s: %q (%v), want %q", c.value, c.schema, got, err, c.want)
		}
	}
}

// TestPostedFile checks that a chosen file becomes a data: URI with exactly its bytes, that none
// leaves the field as it is, and what is said of it.
func TestPostedFile(t *testing.T) {
	fields, err := FieldsOf([]byte(`{"properties":{"p":{"type":"string","format":"uri","x-mcp-file":{}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, kind, data, kept, want, words string }{
		{"a.txt", "text/plain", "\x00\xff", "", `{"p":"data:text/plain;base64,AP8="}`, "a.txt, text/plain, 2 bytes, sha256 06eb7d6a69ee"},
		{"a", "", "", "data:,kept", `{"p":"data:application/octet-stream;base64,"}`, "a, application/octet-stream, 0 bytes, sha256 e3b0c44298fc"},
		{"", "application/octet-stream", "", "data:;name=x.txt,kept", `{"p":"data:;name=x.txt,kept"}`, "text/plain, 4 bytes, sha256 79f076abdd19"},
		{"", "application/octet-stream", "", "", `{}`, ""},
	} {
		var body strings.Builder
		parts := multipart.NewWriter(&body)
		part, _ := parts.CreatePart(map[string][]string{"Content-Disposition": {`form-data; name="f0"; filename="` + c.name + `"`}, "Content-Type": {c.kind}})
		_, _ = part.Write([]byte(c.data))
		_ = parts.WriteField("f0", c.kept)
		_ = parts.Close()
		r := httptest.NewRequest("POST", "/", strings.NewReader(body.String()))
		r.Header.Set("Content-Type", parts.FormDataContentType())
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			t.Fatal(err)
		}
		in := InputsFrom(fields, r.MultipartForm)
		if got, problems := Content(fields, in); string(got) != c.want || problems != nil {
			t.Errorf("%q: %s, %v, want %s", c.name, got, problems, c.want)
		}
		if got := File.Words(&fields[0], in.Fields[0]); got != c.words {
			t.Errorf("%q: %q, want %q", c.name, got, c.words)
		}
	}
	if got := Digest(fields, []byte(`{"p":"data:text/plain;base64,AP8="}`)); !strings.HasPrefix(got, "text/plain, 2 bytes") {
		t.Errorf("the digest is %q", got)
	}
}
