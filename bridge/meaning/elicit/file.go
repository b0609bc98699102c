package elicit

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/message"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
)

// FileKeyword makes a text of the format uri a file. It comes from SEP-2356, which is a draft: in
// the published revisions it binds nobody, and clients that do not know it show a text.
const FileKeyword = "x-mcp-file"

// FileMost is the size of the largest file that can be chosen. The limit is the inspector's own.
const FileMost = 15_000_000

// File is a file, sent as a data: URI.
var File Kind = file{text{common{name: "file", json: rawjson.String, takes: "a data: URI", demand: "Choose a file."}}}

type file struct{ text }

func (file) reads(t string, k Keywords) bool {
	return t == string(rawjson.String) && k.Text("format") == "uri" && rawjson.KindOf(k[FileKeyword]) == rawjson.Object
}

func (file) read(f *Field, k Keywords, r *references) error {
	f.fileLimits = limitsOfFile(k[FileKeyword])
	return Text.read(f, k, r)
}

// posted reads the chosen file. A form that is drawn again has a chosen file as text.
func (file) posted(_ *Field, in *Input, form *multipart.Form, name string) {
	in.Text, in.Name = cmp.Or(form.Value[name]...), url.Values(form.Value).Get(name+".name") // the file control has an empty value
	for _, part := range form.File[name] {
		if part.Filename == "" {
			continue // none is chosen
		}
		opened, err := part.Open()
		if err == nil {
			*in, err = ReadFile(opened, part.Filename, part.Header.Get("Content-Type"))
			opened.Close()
		}
		if err != nil {
			in.Text = err.Error() // which is no file, so that the check refuses and the page shows it
		}
	}
}

// ReadFile returns the input of a file, as SEP-2356 has it: without its name, and of the type
// application/octet-stream if nobody knows its media type.
func ReadFile(r io.Reader, name, mediaType string) (Input, error) {
	data, err := io.ReadAll(io.LimitReader(r, FileMost+1))
	if err == nil && len(data) > FileMost {
		err = fmt.Errorf("at most %s, which is a limit of the inspector", wording.Size(FileMost))
	}
	known, _, _ := mime.ParseMediaType(mediaType) // "" for none that can be read
	return Input{Text: "data:" + cmp.Or(known, "application/octet-stream") + ";base64," + base64.StdEncoding.EncodeToString(data), Name: name}, err
}

func (file) input(_ *Field, value json.RawMessage) (Input, bool) {
	text, exact := rawjson.Unquote(value)
	_, _, err := wording.ReadDataURI(text)
	return Input{Text: text}, exact && err == nil
}

func (file) Words(_ *Field, in Input) string {
	mediaType, data, err := wording.ReadDataURI(in.Text)
	if err != nil {
		return in.Text
	}
	return wording.Join(", ", in.Name, mediaType, wording.Measured(data))
}

func (file) Hints(f *Field) []string {
	most, whose := FileMost, " (a limit of this inspector)"
	if f.MaxSize != nil && *f.MaxSize <= most {
		most, whose = *f.MaxSize, ""
	}
	return []string{wording.Join(" of ", "a file", wording.Alternatives(f.Accept)), "at most " + wording.Size(int64(most)) + whose}
}

func (file) limits(f *Field) []string {
	out := words{"a file as a data: URI (x-mcp-file, a draft)"}
	out.add("of type ", wording.Alternatives(f.Accept))
	out.count("at most ", f.MaxSize, "byte")
	return out
}

// pixel is a PNG of one pixel, in base64, and madeUp a text.
const (
	pixel  = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNkYGBgAAAABQABWaDDsAAAAABJRU5ErkJggg=="
	madeUp = "bWFkZSB1cCBieSB0aGUgaW5zcGVjdG9y" // made up by the inspector
)

// sample returns the beginning of the URI of a small file that the field takes, and its data: a PNG,
// or else a text. other is data of another type.
func (file) sample(f *Field) (head, data, other string) {
	for _, mediaType := range slices.Concat(f.Accept, []string{"text/plain", "image/png", "audio/wav", "video/mp4", "application/pdf"}) {
		if head == "" && strings.Contains(mediaType, "/") && !strings.Contains(mediaType, "*") && f.accepts(strings.ToLower(mediaType)) {
			head = "data:" + mediaType + ";base64,"
		}
	}
	if head == "data:image/png;base64," {
		return head, pixel, madeUp
	}
	return head, madeUp, pixel
}

func (k file) examples(f *Field) []json.RawMessage {
	head, data, _ := k.sample(f)
	return []json.RawMessage{rawjson.Quoted(head + data), rawjson.Quoted(head)}
}

func (k file) spoiled(f *Field, how Breach) json.RawMessage {
	head, _, other := k.sample(f)
	switch {
	case how == OtherScheme:
		return rawjson.Quoted("https://example.com/made-up.png")
	case how == FileTooLarge && f.MaxSize != nil && *f.MaxSize < FileMost:
		return rawjson.Quoted(head + strings.Repeat("AAAA", *f.MaxSize/3+1))
	case how == TypeNotAccepted && !f.accepts("application/x-made-up"):
		return rawjson.Quoted("data:application/x-made-up;base64," + madeUp)
	case how == LyingType:
		return rawjson.Quoted(head + other)
	}
	return nil
}

// asFile gives a decoded schema of a file a format of its own: the SEP does not want the format uri
// to be asserted.
func asFile(schema map[string]any) {
	_, is := schema[FileKeyword].(map[string]any)
	if is && schema["format"] == "uri" && strings.Contains(fmt.Sprint(schema["type"]), "string") {
		schema["format"] = FileKeyword
	}
}

func compileFile(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
	if schema["format"] != FileKeyword {
		return nil, nil
	}
	says, err := rawjson.Encode(schema[FileKeyword])
	return fileCheck{limitsOfFile(says)}, err
}

// fileLimits are the limits of a file that the keyword FileKeyword sets.
type fileLimits struct {
	Accept  []string // media types, "image/*" or ".pdf"; none if it may be any
	MaxSize *int     // in bytes; nil if there is no limit
}

func limitsOfFile(says json.RawMessage) fileLimits {
	k := KeywordsOf(says)
	return fileLimits{stringsOf(k["accept"]), k.Count("maxSize")}
}

// fileCheck checks values for the validator.
type fileCheck struct{ fileLimits }

func (l fileCheck) Validate(ctx *jsonschema.ValidatorContext, value any) {
	text, ok := value.(string)
	if !ok {
		return // the type says so
	}
	mediaType, data, err := wording.ReadDataURI(text)
	if err != nil {
		ctx.AddError(notAFile("not a data: URI: " + err.Error()))
		return
	}
	if most, size := l.MaxSize, len(data); most != nil && size > *most {
		ctx.AddError(notAFile(fmt.Sprintf("at most %s bytes. The file has %s", wording.Grouped(int64(*most)), wording.Grouped(int64(size)))))
	}
	if !l.accepts(mediaType) {
		ctx.AddError(notAFile(fmt.Sprintf("must be %s. The file is %s", wording.Alternatives(l.Accept), wording.Quoted(mediaType))))
	}
}

// accepts reports whether a file may have a media type. File name extensions only help to choose a
// file, so that a field that names one may have any type.
func (l fileLimits) accepts(mediaType string) bool {
	return len(l.Accept) == 0 || slices.ContainsFunc(l.Accept, func(pattern string) bool {
		kind, wild := strings.CutSuffix(strings.ToLower(pattern), "*")
		return kind == mediaType || wild && strings.HasPrefix(mediaType, strings.TrimPrefix(kind, "*/")) || kind != "" && kind[0] == '.'
	})
}

// notAFile says why a value is not the file that a field takes. It is an error of the validator.
type notAFile string

func (notAFile) KeywordPath() []string                     { return []string{FileKeyword} }
func (n notAFile) LocalizedString(*message.Printer) string { return string(n) }
