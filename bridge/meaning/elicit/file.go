package elicit

import (
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
var File Kind = file{common{name: "file", json: rawjson.String, takes: "a data: URI", demand: "Choose a file."}}

type file struct{ common }

func (file) reads(t string, k Keywords) bool {
	return t == string(rawjson.String) && k.Text("format") == "uri" && rawjson.KindOf(k[FileKeyword]) == rawjson.Object
}

func (file) read(f *Field, k Keywords, r *references) error {
	says := KeywordsOf(k[FileKeyword])
	f.Accept, f.MaxSize = stringsOf(says["accept"]), says.Count("maxSize")
	return Text.read(f, k, r)
}

// posted reads the chosen file. A form that is drawn again has a chosen file as text.
func (file) posted(_ *Field, in *Input, form *multipart.Form, name string) {
	values := url.Values(form.Value)
	in.Text, in.Name = values.Get(name), values.Get(name+".name")
	for _, part := range form.File[name] {
		if part.Filename == "" {
			continue // none is chosen
		}
		data, err := contentsOf(part)
		if err != nil {
			in.Text = fmt.Sprintf("%s: %v", part.Filename, err) // which the check refuses, and shows
			continue
		}
		*in = FileInput(part.Filename, part.Header.Get("Content-Type"), data)
	}
}

func contentsOf(part *multipart.FileHeader) ([]byte, error) {
	opened, err := part.Open()
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	return io.ReadAll(opened)
}

// FileInput returns the input of a file of a name. mediaType is "" if nobody knows it.
func FileInput(name, mediaType string, data []byte) Input {
	return Input{Text: fileURI(mediaType, data), Name: name}
}

// fileURI writes a file as SEP-2356 has it: without its name, and of type application/octet-stream
// if nobody knows a type.
func fileURI(mediaType string, data []byte) string {
	known, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		known = "application/octet-stream"
	}
	return "data:" + known + ";base64," + base64.StdEncoding.EncodeToString(data)
}

func (file) value(_ *Field, in Input) (json.RawMessage, *Problem) {
	if in.Text == "" {
		return nil, nil
	}
	return rawjson.Quoted(in.Text), nil
}

func (file) input(_ *Field, value json.RawMessage) (Input, bool) {
	text, exact := rawjson.Unquote(value)
	_, err := wording.ReadDataURI(text)
	return Input{Text: text}, exact && err == nil
}

func (file) Words(_ *Field, in Input) string {
	uri, err := wording.ReadDataURI(in.Text)
	if err != nil {
		return in.Text
	}
	if in.Name != "" {
		uri.Name = in.Name
	}
	return uri.Words()
}

func (file) Hints(f *Field) []string {
	most := "at most " + wording.Size(FileMost) + " (a limit of this inspector)"
	if f.MaxSize != nil && *f.MaxSize <= FileMost {
		most = "at most " + wording.Size(int64(*f.MaxSize))
	}
	if len(f.Accept) == 0 {
		return []string{"a file", most}
	}
	return []string{"a file (" + wording.Alternatives(f.Accept) + ")", most}
}

func (file) limits(f *Field) []string {
	out := words{"a file as a data: URI (x-mcp-file, a draft)"}
	out.add("of type ", wording.Alternatives(f.Accept))
	out.count("at most ", f.MaxSize, "byte")
	return out
}

// pixel is a PNG of one pixel.
var pixel, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNkYGBgAAAABQABWaDDsAAAAABJRU5ErkJggg==")

// sample returns a type that the field takes, and a small file that goes by it: a PNG, or else a text.
func (file) sample(f *Field) (mediaType string, data []byte) {
	mediaType = "text/plain"
	for _, pattern := range slices.Backward(f.Accept) {
		switch kind, sub, _ := strings.Cut(pattern, "/"); {
		case pattern == "image/*":
			mediaType = "image/png"
		case sub == "*" && kind != "*" && kind != "text":
			mediaType = kind + "/x-made-up"
		case sub != "" && sub != "*":
			mediaType = pattern
		}
	}
	if mediaType == "image/png" {
		return mediaType, pixel
	}
	return mediaType, []byte("made up by the inspector\n")
}

func (k file) examples(f *Field) []json.RawMessage {
	kind, data := k.sample(f)
	return []json.RawMessage{rawjson.Quoted(fileURI(kind, data)), rawjson.Quoted(fileURI(kind, nil))}
}

func (k file) Others(f *Field, n int) (list []json.RawMessage) {
	kind, data := k.sample(f)
	return []json.RawMessage{rawjson.Quoted(fileURI(kind, fmt.Appendf(slices.Clip(data), "%s-%d\n", animals[n%len(animals)], unlikely(n))))}
}

func (k file) spoiled(f *Field, how Breach) json.RawMessage {
	kind, data := k.sample(f)
	switch {
	case how == OtherScheme:
		return rawjson.Quoted("https://example.com/made-up.png")
	case how == FileTooLarge && f.MaxSize != nil && *f.MaxSize < FileMost:
		return rawjson.Quoted("data:" + kind + ";base64," + strings.Repeat("AAAA", *f.MaxSize/3+1))
	case how == TypeNotAccepted:
		if value := rawjson.Quoted(fileURI("application/x-made-up", data)); f.Refuses(value) {
			return value
		}
	case how == LyingType && kind == "image/png":
		return rawjson.Quoted(fileURI(kind, []byte("made up by the inspector, and no image\n")))
	case how == LyingType:
		return rawjson.Quoted(fileURI(kind, pixel))
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

// fileLimits is FileKeyword for the validator.
type fileLimits struct {
	accept  []string
	maxSize *int
}

func compileFile(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
	if schema["format"] != FileKeyword {
		return nil, nil
	}
	says, err := rawjson.Encode(schema[FileKeyword])
	if err != nil {
		return nil, err
	}
	k := KeywordsOf(says)
	return fileLimits{stringsOf(k["accept"]), k.Count("maxSize")}, nil
}

func (l fileLimits) Validate(ctx *jsonschema.ValidatorContext, value any) {
	text, ok := value.(string)
	if !ok {
		return // the type says so
	}
	uri, err := wording.ReadDataURI(text)
	switch most := l.maxSize; {
	case err != nil:
		ctx.AddError(notAFile("not a data: URI: " + err.Error()))
		return
	case most != nil && len(uri.Data) > *most:
		ctx.AddError(notAFile(fmt.Sprintf("at most %s bytes. The file has %s", wording.Grouped(int64(*most)), wording.Grouped(int64(len(uri.Data))))))
	}
	if !l.accepts(uri.Type) {
		ctx.AddError(notAFile(fmt.Sprintf("must be %s. The file is %s", wording.Alternatives(l.accept), wording.Quoted(uri.Type))))
	}
}

// accepts reports whether a file may have a media type. File name extensions only help to choose a
// file, so that a field that names one may have any type.
func (l fileLimits) accepts(mediaType string) bool {
	for _, pattern := range l.accept {
		pattern = strings.ToLower(pattern)
		all, wild := strings.CutSuffix(pattern, "*")
		if pattern == mediaType || wild && strings.HasPrefix(mediaType, strings.TrimPrefix(all, "*/")) || strings.HasPrefix(pattern, ".") {
			return true
		}
	}
	return len(l.accept) == 0
}

// notAFile says why a value is not the file that a field takes. It is an error of the validator.
type notAFile string

func (notAFile) KeywordPath() []string                     { return []string{FileKeyword} }
func (n notAFile) LocalizedString(*message.Printer) string { return string(n) }
