package views

import (
	"net/url"
	"strings"
	"testing"

	"elicitation-inspector/bridge/meaning/conversation"
)

func TestReadIsTheInverseOfQuery(t *testing.T) {
	for _, target := range []Link{
		{Kind: conversation.Tool, Key: "deploy"},
		{Kind: conversation.Prompt, Key: "a & b", Server: "my server", Arguments: `{"a":"1+1=2 & ü#?"}`},
		{Kind: conversation.Resource, Key: "note://1?x=%20"},
		{Kind: conversation.Template, Key: "note://{n}/page/{+rest}", Arguments: `[`},
	} {
		query, err := url.ParseQuery(strings.TrimPrefix(target.Query(), "?"))
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := ReadLink(query); !ok || got != target {
			t.Errorf("%s leads to %+v", target.Query(), got)
		}
	}
	if got, ok := ReadLink(url.Values{"call": {"3"}, "server": {"x"}}); ok {
		t.Errorf("the address of a call leads to %+v", got)
	}
}
