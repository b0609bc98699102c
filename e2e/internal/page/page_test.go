package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"elicitation-inspector/e2e/internal/page"
)

// form is a small page with one of each control that the driver supports.
const form = `<!doctype html><title>T</title>
<section aria-label="Questions"><article aria-label="Deploy now?">
<label for=a>Change ticket</label> <input id=a value=old>
<fieldset><legend>Environment</legend>
  <label style="position:relative"><input type=radio name=e value=s style="position:absolute;opacity:0;width:0;height:0"><span>Staging</span></label>
  <label><input type=radio name=e value=p>Production</label></fieldset>
<label for=s>Size</label> <select id=s><option>Small<option>Large</select>
<label for=d>Day</label> <input id=d type=date>
<div hidden><button>Accept</button></div><div style="height:3000px"></div>
<button id=ok>Accept</button></article></section>
<output id=o></output>
<script>ok.onclick = () => setTimeout(() => { o.textContent = [a.value, document.querySelector('[name=e]:checked')?.value, s.value, d.value].join() ; o.setAttribute('role','status'); ok.remove() }, 30)</script>`

func TestControls(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, form)
	}))
	defer server.Close()
	browser, err := page.Launch()
	if err != nil {
		t.Fatal(err)
	}
	defer browser.Close()

	p := browser.Open(t, server.URL)
	q := p.Question("Deploy now?")
	q.Field("Change ticket").Fill("CHG-1 “ü” <b>")
	q.Field("Environment").Choose("Staging")
	q.Field("Size").Choose("Large")
	q.Field("Day").Focus()
	p.Type("02291996")
	if got := q.Field("Environment").Choices(); len(got) != 2 || got[1] != "Production" {
		t.Errorf("choices are %q", got)
	}
	q.Button("Accept").Click()
	q.Button("Accept").Gone()
	p.Role("status", "").Contains("CHG-1 “ü” <b>,s,Large,1996-02-29")

	second := p.Tab(server.URL)
	second.Region("Questions").Article("Deploy now?").Field("Change ticket").Type("!")
	if got := second.Question("Deploy now?").Field("Change ticket").Value(); got != "old!" {
		t.Errorf("the second tab's field holds %q", got)
	}
	if got := p.Complaints(); len(got) > 1 { // a missing favicon.ico
		t.Errorf("complaints: %q", got)
	}
}
