package e2e

import (
	"errors"
	"flag"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"testing"

	"elicitation-inspector/e2e/internal/look"
)

var screenshots = flag.String("screenshots", "", "write pictures of every state of the page, and a contact sheet of them, into this `FOLDER`")

// TestScreenshots takes the pictures of the task screenshots: every state in every
// window, light and dark, and the page index.html with all of them.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("it makes pictures only with -screenshots FOLDER")
	}
	if err := os.MkdirAll(*screenshots, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, j := range journeys {
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			s := j.start(t)
			for _, state := range j.states {
				state.show(s)
				s.picture(state)
			}
		})
	}
	t.Cleanup(func() {
		if err := errors.Join(writeSheet(), writeMoving()); err != nil {
			t.Error(err)
		}
	})
}

// picture takes the pictures of one state.
func (s *session) picture(state state) {
	s.t.Helper()
	for _, w := range windows {
		w.apply(s.page, state.pane)
		for _, scheme := range []string{"light", "dark"} {
			s.page.Media("prefers-color-scheme", scheme, "prefers-reduced-motion", "reduce")
			s.photograph(filepath.Join(*screenshots, pictureName(state, w, scheme)))
		}
	}
	s.page.Media()
	full.apply(s.page, state.pane)
}

func pictureName(s state, w viewport, scheme string) string {
	return fmt.Sprintf("%s-%d-%s.png", s.name, w.width, scheme)
}

// photograph writes a picture of the page to a file.
func (s *session) photograph(path string) {
	s.t.Helper()
	picture, err := s.page.Screenshot()
	if err == nil {
		err = os.WriteFile(path, picture, 0o644)
	}
	if err != nil {
		s.t.Fatalf("taking a picture of the page: %v", err)
	}
}

var sheet = template.Must(template.New("sheet").Parse(`<!DOCTYPE html>
<meta charset="utf-8">
<title>States of the inspector</title>
<style>
body { font: 14px system-ui; margin: 24px; color-scheme: light dark }
div { display: flex; align-items: flex-start; gap: 12px; overflow-x: auto; padding-bottom: 12px }
img { flex: none; border: 1px solid #8888; zoom: .5 }
</style>
<h1>States of the inspector</h1>
{{range .}}<h2 id="{{.Name}}"><a href="#{{.Name}}">{{.Name}}</a></h2>
{{range .Rows}}<div>{{range .}}<a href="{{.}}"><img loading="lazy" src="{{.}}" alt="{{.}}"></a>{{end}}</div>
{{end}}{{end}}`))

// writeSheet writes the page that shows all pictures.
func writeSheet() error {
	type shown struct {
		Name string
		Rows [2][]string
	}
	var all []shown
	for _, j := range journeys {
		for _, state := range j.states {
			one := shown{Name: state.name}
			for i, scheme := range []string{"light", "dark"} {
				for _, w := range windows {
					one.Rows[i] = append(one.Rows[i], pictureName(state, w, scheme))
				}
			}
			all = append(all, one)
		}
	}
	f, err := os.Create(filepath.Join(*screenshots, "index.html"))
	if err != nil {
		return err
	}
	defer f.Close()
	return sheet.Execute(f, all)
}

// moving are the states that the moving picture shows.
var moving = []string{"tool-chosen", "question", "question-filled", "result", "ladder"}

// writeMoving writes the moving picture of a deployment.
func writeMoving() error {
	var pictures [][]byte
	for _, name := range moving {
		picture, err := os.ReadFile(filepath.Join(*screenshots, pictureName(state{name: name}, windows[1], "light")))
		if err != nil {
			return err
		}
		pictures = append(pictures, picture)
	}
	f, err := os.Create(filepath.Join(*screenshots, "deploy.gif"))
	if err != nil {
		return err
	}
	defer f.Close()
	return look.GIF(f, pictures, 180)
}
