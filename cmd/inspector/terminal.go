package main

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"charm.land/huh/v2"
	"github.com/mattn/go-isatty"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/base/wording"
	"elicitation-inspector/bridge/client/inspection"
	"elicitation-inspector/bridge/client/live"
	"elicitation-inspector/bridge/meaning/conversation"
	"elicitation-inspector/bridge/meaning/elicit"
	"elicitation-inspector/bridge/meaning/elicit/link"
)

type terminal struct {
	in         *os.File
	out        *os.File
	accessible bool // line by line, for screen readers and simple terminals
	narrator   *narrator
}

// asker asks a person a question, until ctx ends.
type asker func(ctx context.Context, q inspection.Question) (live.Answer, error)

// onTerminal reports whether a person can be asked: standard input and standard error are a
// terminal.
func onTerminal() bool {
	return isatty.IsTerminal(os.Stdin.Fd()) && isatty.IsTerminal(os.Stderr.Fd())
}

// theTerminal is where people are asked on standard input and standard error.
func theTerminal(n *narrator) *terminal {
	return &terminal{in: os.Stdin, out: os.Stderr, narrator: n, accessible: os.Getenv("ACCESSIBLE") != "" || os.Getenv("TERM") == "dumb"}
}

// The choices besides filling in a form.
const (
	choiceSend    = "send"
	choiceBack    = "back"
	choiceDecline = "decline"
	choiceCancel  = "cancel"
)

// ask asks the person a question. After Ctrl-C the person can decline, cancel or go back.
func (t *terminal) ask(ctx context.Context, q inspection.Question) (live.Answer, error) {
	t.narrator.hold()
	defer t.narrator.release()
	t.introduce(&q)
	for {
		answer, err := t.fill(ctx, &q)
		if !errors.Is(err, huh.ErrUserAborted) {
			t.tell(answer, err)
			return answer, err
		}
		choice, err := t.choose(ctx, "Decline or cancel?", choiceDecline, choiceDecline, choiceCancel, choiceBack)
		switch {
		case errors.Is(err, huh.ErrUserAborted): // Ctrl-C again
			choice = choiceCancel
		case err != nil:
			return answer, err
		}
		if choice != choiceBack {
			answer = live.Answer{Action: choice, Actor: conversation.ByPerson}
			t.tell(answer, nil)
			return answer, nil
		}
	}
}

// tell prints the answer of the question, or why there is none.
func (t *terminal) tell(a live.Answer, err error) {
	switch {
	case err != nil:
		fmt.Fprintf(t.out, "Not answered: %v\n", err)
	case a.Action == "":
		fmt.Fprintln(t.out, "Answered.")
	default:
		fmt.Fprintf(t.out, "Answer sent: %s %s\n", a.Action, wording.EscapeLine(wording.FoldFiles(string(a.Content))))
	}
}

func (t *terminal) introduce(q *inspection.Question) {
	what := q.Method
	if q.Request != nil {
		what = q.Request.Message
	}
	in := ""
	if q.CallName != "" {
		in = " in the call of " + q.CallName
	}
	fmt.Fprintf(t.out, "\nQuestion %d%s:\n%s\n", q.Number, wording.EscapeLine(in), wording.Escape(what))
	if q.Request == nil || q.Request.Mode != elicit.ModeURL {
		return
	}
	fmt.Fprintf(t.out, "%s\n", wording.EscapeLine(q.Request.URL))
	for _, warning := range link.Judge(q.Request.URL).Warnings {
		fmt.Fprintf(t.out, "  ! %s\n", wording.EscapeLine(warning.Text))
	}
}

func (t *terminal) fill(ctx context.Context, q *inspection.Question) (live.Answer, error) {
	answer := live.Answer{Action: "accept", Actor: conversation.ByPerson}
	switch {
	case q.Request == nil:
		text := string(q.Suggestion)
		fmt.Fprintf(t.out, "%s\n", wording.Escape(rawjson.Pretty(q.Params)))
		err := t.show(ctx, huh.NewGroup(huh.NewInput().Title("The result, as JSON").Value(&text).Validate(func(text string) error {
			return rawjson.Check([]byte(text))
		})))
		return live.Answer{Result: []byte(text), Actor: conversation.ByPerson}, err
	case q.Request.Mode == elicit.ModeURL:
		choice, err := t.choose(ctx, "Accept means that you open this address yourself.", choiceDecline, "accept", choiceDecline, choiceCancel)
		answer.Action = choice
		return answer, err
	}
	request, choice := q.Request, choiceSend
	in := elicit.Defaults(request.Fields)
	var groups []*huh.Group
	for i := range request.Fields {
		groups = append(groups, huh.NewGroup(field(request, in, i)))
	}
	groups = append(groups, huh.NewGroup(chooser("Send this answer?", &choice, choiceSend, choiceDecline, choiceCancel).
		DescriptionFunc(func() string {
			content, problems, err := elicit.CheckInputs(request.Schema, request.Fields, in)
			lines := []string{wording.FoldFiles(string(content))}
			for _, p := range problems {
				lines = append(lines, "! "+p.Text)
			}
			if err != nil {
				lines = append(lines, "! not checked: "+err.Error())
			}
			return wording.Escape(strings.Join(lines, "\n"))
		}, &in.Fields)))
	if err := t.show(ctx, groups...); err != nil {
		return answer, err
	}
	if choice != choiceSend {
		return live.Answer{Action: choice, Actor: conversation.ByPerson}, nil
	}
	answer.Content, _ = elicit.Content(request.Fields, in)
	return answer, nil
}

func (t *terminal) choose(ctx context.Context, title, first string, words ...string) (string, error) {
	choice := first
	err := t.show(ctx, huh.NewGroup(chooser(title, &choice, words...)))
	return choice, err
}

func chooser(title string, choice *string, words ...string) *huh.Select[string] {
	var options []huh.Option[string]
	for _, word := range words {
		options = append(options, huh.NewOption(strings.ToUpper(word[:1])+word[1:], word))
	}
	return huh.NewSelect[string]().Title(title).Options(options...).Value(choice)
}

// show shows groups of fields one after the other, until they are filled in or the person
// aborts.
func (t *terminal) show(ctx context.Context, groups ...*huh.Group) error {
	return huh.NewForm(groups...).WithInput(t.in).WithOutput(t.out).WithAccessible(t.accessible).RunWithContext(ctx)
}

// prompt is a field as it is asked for in the terminal.
type prompt struct {
	elicit.Field
	input              *elicit.Input
	title, description string
	check              func() error // as on the page
}

// controls has the control of a field by its kind. Values of other kinds are typed in one line.
var controls = map[elicit.Kind]func(prompt) huh.Field{
	elicit.Boolean: prompt.yesOrNo, elicit.SingleChoice: prompt.choice, elicit.MultiChoice: prompt.choices, elicit.File: prompt.file,
}

// field returns the control of one field, with the same checks as on the page.
func field(request *elicit.Request, in elicit.Inputs, i int) huh.Field {
	f := request.Fields[i]
	p := prompt{Field: f, input: &in.Fields[i], title: wording.EscapeLine(f.Label), description: wording.EscapeLine(describe(f))}
	if f.Description != "" {
		p.description = wording.Escape(f.Description) + "\n" + p.description
	}
	p.check = func() error {
		_, problems, _ := elicit.CheckInputs(request.Schema, request.Fields, in) // an error of the check is shown in the review
		for _, p := range problems {
			if p.Field == i {
				return errors.New(wording.EscapeLine(p.Text))
			}
		}
		return nil
	}
	if control := controls[f.Kind]; control != nil {
		return control(p)
	}
	text := &p.input.Text
	if f.Kind.Entry() == elicit.Written || p.input.JSON != "" {
		text = &p.input.JSON
	}
	return huh.NewInput().Title(p.title).Description(p.description).Value(text).Validate(func(now string) error {
		*text = now
		return p.check()
	})
}

// file asks for the path of a file, because nobody types a data: URI.
func (p prompt) file() huh.Field {
	path, before := "", *p.input
	return huh.NewInput().Title(p.title).Description(wording.Join("\n", p.description, "The path of the file")).Value(&path).Validate(func(now string) error {
		if *p.input = before; now != "" {
			opened, err := os.Open(now)
			if err != nil {
				return err
			}
			defer opened.Close()
			if *p.input, err = elicit.ReadFile(opened, filepath.Base(now), mime.TypeByExtension(filepath.Ext(now))); err != nil {
				return err
			}
		}
		return p.check()
	})
}

func (p prompt) options() (options []huh.Option[int]) {
	for n, c := range p.Choices {
		options = append(options, huh.NewOption(wording.EscapeLine(c.Title), n))
	}
	return options
}

func (p prompt) yesOrNo() huh.Field {
	return p.pick([]huh.Option[int]{huh.NewOption("Yes", 1), huh.NewOption("No", 0)}, slices.Index([]string{"false", "true"}, p.input.Text), func(n int) elicit.Input {
		return elicit.Input{Text: fmt.Sprint(n == 1)}
	})
}

func (p prompt) choice() huh.Field {
	chosen := leftOut
	if len(p.input.Picks) > 0 {
		chosen = p.input.Picks[0]
	}
	return p.pick(p.options(), chosen, func(n int) elicit.Input { return elicit.Input{Picks: []int{n}} })
}

const leftOut = -1

// pick returns the control of a field with one of several values, which may be omitted unless it
// is required.
func (p prompt) pick(options []huh.Option[int], chosen int, of func(int) elicit.Input) huh.Field {
	if !p.Required {
		options = append(options, huh.NewOption("(leave it out)", leftOut))
	}
	return huh.NewSelect[int]().Title(p.title).Description(p.description).Options(options...).Value(&chosen).Validate(func(n int) error {
		if *p.input = of(n); n == leftOut {
			*p.input = elicit.Input{}
		}
		return p.check()
	})
}

func (p prompt) choices() huh.Field {
	options := p.options()
	for n, o := range options {
		options[n] = o.Selected(slices.Contains(p.input.Picks, n))
	}
	return huh.NewMultiSelect[int]().Title(p.title).Description(p.description).Options(options...).Value(&p.input.Picks).
		Validate(func(picks []int) error {
			p.input.Picks = picks
			return p.check()
		})
}
