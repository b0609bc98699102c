package judge

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"elicitation-inspector/bridge/base/rawjson"
	"elicitation-inspector/bridge/meaning/elicit"
)

const schema = `"properties":{"name":{"type":"string","minLength":2},"size":{"type":"integer","maximum":9,"default":3}},"required":["name"]`

const confirms = `"properties":{"confirm":{"type":"boolean"}},"required":["confirm"]`

// greet asks for a name, and answers with what says returns for an accepted answer.
func greet(says func(s *tasted, content json.RawMessage) (string, string)) taste {
	return func(s *tasted) (string, string) {
		answer, failure := s.ask("Who is it?", schema)
		switch {
		case failure != nil:
			return failed("The client could not ask: %s", rawjson.Text(rawjson.Member(failure, "message"))), ""
		case s.action(answer) != "accept":
			return text("Nobody is greeted."), ""
		}
		return says(s, rawjson.Member(answer, "content"))
	}
}

// problemsOf lists the problems of content.
func problemsOf(content json.RawMessage) []elicit.Problem {
	if content == nil {
		return []elicit.Problem{{Text: "there is none"}}
	}
	problems, err := elicit.Check(json.RawMessage(`{"type":"object",`+schema+`}`), content)
	if err != nil {
		return []elicit.Problem{{Text: err.Error()}}
	}
	return problems
}

// checked is greet for valid content.
func checked(says func(s *tasted, name, size string) string) taste {
	return greet(func(s *tasted, content json.RawMessage) (string, string) {
		if problems := problemsOf(content); len(problems) > 0 {
			return failed("That does not fit: %s", problems[0].Text), ""
		}
		return says(s, rawjson.Text(rawjson.Member(content, "name")), string(rawjson.Member(content, "size"))), ""
	})
}

func hello(_ *tasted, name, size string) string { return text("Hello %s, size %s!", name, size) }

// tastes holds the servers under test, by name.
var tastes = map[string]taste{
	"right: greets": checked(hello),
	"right: thanks whatever is said": func(s *tasted) (string, string) {
		s.ask("How was it?", schema)
		return text("Thanks."), ""
	},
	"right: asks until the content is valid": func(s *tasted) (string, string) {
		for {
			answer, failure := s.ask("Who is it?", schema)
			switch content := rawjson.Member(answer, "content"); {
			case failure != nil || s.action(answer) != "accept":
				return text("Nobody is greeted."), ""
			case len(problemsOf(content)) == 0:
				return text("Hello %s!", rawjson.Text(rawjson.Member(content, "name"))), ""
			}
		}
	},
	"right: names the invalid value without isError": greet(func(s *tasted, content json.RawMessage) (string, string) {
		if problems := problemsOf(content); len(problems) > 0 {
			return text("No: %s is not what was asked for (%s).", content, problems[0].Text), ""
		}
		return text("%s", rawjson.Text(rawjson.Member(content, "name"))), ""
	}),
	"right: counts calls": checked(func(s *tasted, name, _ string) string { return text("Hello %s, you are number %d.", name, s.calls) }),
	"right: prints the time": checked(func(_ *tasted, name, _ string) string {
		return text("%s: hello %s", time.Now().Format(time.RFC3339Nano), name)
	}),
	"right: prints random words": checked(func(s *tasted, name, _ string) string {
		return text("Hello %s%s", name, strings.Repeat(" and so on", s.chance.IntN(5)))
	}),
	"right: ignores content": func(s *tasted) (string, string) {
		if answer, _ := s.ask("Continue?", schema); s.action(answer) == "accept" {
			return text("It goes on."), ""
		}
		return text("It stops here."), ""
	},
	"right: stores extra fields under their name": checked(func(_ *tasted, name, _ string) string { return text("Hello %s", name) }),
	"right: keeps whatever is sent": greet(func(_ *tasted, content json.RawMessage) (string, string) {
		if problems := problemsOf(content); len(problems) > 0 {
			return failed("Invalid."), ""
		}
		return fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"structuredContent":%s}`, rawjson.Quoted(string(content)), content), ""
	}),
	"right: repeats the answer as it came": func(s *tasted) (string, string) {
		answer, failure := s.ask("Who is it?", schema)
		if s.action(answer) == "accept" && len(problemsOf(rawjson.Member(answer, "content"))) > 0 {
			return failed("Invalid: %s", answer), ""
		}
		return text("The answer was %s%s", answer, failure), ""
	},
	"right: answers by chance": func(s *tasted) (string, string) {
		words := []string{"Well.", "Fine.", "Indeed.", "So be it."}
		answer, _ := s.ask("How was it?", schema)
		if content := rawjson.Member(answer, "content"); s.action(answer) == "accept" && len(problemsOf(content)) > 0 {
			return failed("Invalid."), ""
		}
		return text("%s", words[s.chance.IntN(len(words))]), ""
	},
	"right: fails by chance": func(s *tasted) (string, string) {
		s.ask("How was it?", schema)
		if s.chance.IntN(4) == 0 {
			return failed("The weather service does not answer."), ""
		}
		return text("Thanks."), ""
	},
	"right: prints the second": func(s *tasted) (string, string) {
		s.ask("How was it?", schema)
		return text("Thanks. It is %s", time.Now().Format("15:04:05.000")), ""
	},
	"right: has isError after a decline": func(s *tasted) (string, string) {
		answer, _ := s.ask("Who is it?", schema)
		if s.action(answer) != "accept" || len(problemsOf(rawjson.Member(answer, "content"))) > 0 {
			return failed("The person did not want to."), ""
		}
		return text("Hello."), ""
	},
	"right: has an error after a decline": func(s *tasted) (string, string) {
		answer, _ := s.ask("Who is it?", schema)
		if s.action(answer) != "accept" || len(problemsOf(rawjson.Member(answer, "content"))) > 0 {
			return "", `{"code":-32000,"message":"The person did not want to."}`
		}
		return text("Hello."), ""
	},
	"right: remembers a decline": func() taste {
		declined := false
		return func(s *tasted) (string, string) {
			if declined {
				return failed("You have declined before."), ""
			}
			answer, _ := s.ask("Who is it?", schema)
			if declined = s.action(answer) == "decline"; s.action(answer) != "accept" || len(problemsOf(rawjson.Member(answer, "content"))) > 0 {
				return text("Nobody is greeted."), ""
			}
			return text("Hello."), ""
		}
	}(),
	"right: asks once in a session": func() taste {
		name := ""
		return func(s *tasted) (string, string) {
			if name == "" {
				answer, _ := s.ask("Who is it?", schema)
				content := rawjson.Member(answer, "content")
				if s.action(answer) != "accept" || len(problemsOf(content)) > 0 {
					return text("Nobody is greeted."), ""
				}
				name = rawjson.Text(rawjson.Member(content, "name"))
			}
			return text("Hello %s", name), ""
		}
	}(),
	"right: works only once": func() taste {
		used := false
		return func(s *tasted) (string, string) {
			if used {
				return "", `{"code":-32603,"message":"The ticket was used."}`
			}
			answer, _ := s.ask("Who is it?", schema)
			content := rawjson.Member(answer, "content")
			if s.action(answer) != "accept" || len(problemsOf(content)) > 0 {
				return text("Nobody is let in."), ""
			}
			used = true
			return text("Come in, %s", rawjson.Text(rawjson.Member(content, "name"))), ""
		}
	}(),
	"right: has defaults of its own": func(s *tasted) (string, string) {
		size := "3"
		answer, _ := s.ask("Which size?", schema)
		if content := rawjson.Member(answer, "content"); s.action(answer) == "accept" && len(problemsOf(content)) == 0 {
			size = string(rawjson.Member(content, "size"))
		}
		return text("Made in size %s.", size), ""
	},
	"right: explains a stack trace": func(s *tasted) (string, string) {
		answer, _ := s.ask("Which trace?", schema)
		if s.action(answer) == "accept" && len(problemsOf(rawjson.Member(answer, "content"))) > 0 {
			return failed("That is no trace."), ""
		}
		return text("Traceback (most recent call last):\nis how Python begins a trace."), ""
	},

	"right: fails once by chance": func(s *tasted) (string, string) {
		answer, _ := s.ask("How was it?", schema)
		if s.action(answer) == "decline" && rawjson.Member(answer, "content") == nil {
			return failed("The weather service does not answer."), ""
		}
		return text("Thanks."), ""
	},
	"right: shows the log": func(s *tasted) (string, string) {
		lines := []string{"09:00 started", "09:05 ready", "09:10 panic: runtime error: index out of range [1]"}
		answer, failure := s.ask("How many lines of the log?", `"properties":{"lines":{"type":"integer","minimum":1,"maximum":2}},"required":["lines"]`)
		switch n := string(rawjson.Member(answer, "content", "lines")); {
		case failure != nil || s.action(answer) == "accept" && n != "1" && n != "2":
			return failed("Only one or two lines."), ""
		case s.action(answer) == "accept":
			return text("%s", strings.Join(lines[:n[0]-'0'], "\n")), ""
		}
		return text("%s", strings.Join(lines, "\n")), ""
	},

	"uses whatever comes": greet(func(_ *tasted, content json.RawMessage) (string, string) {
		name, size := rawjson.Member(content, "name"), rawjson.Member(content, "size")
		shown := func(raw json.RawMessage) string {
			if raw == nil {
				return "undefined"
			}
			if rawjson.KindOf(raw) == rawjson.String {
				return rawjson.Text(raw)
			}
			return string(raw)
		}
		return text("Hello %s, size %s! It is %s.", shown(name), shown(size), time.Now().Format("15:04:05.000000")), ""
	}),
	"stores whatever comes": greet(func(_ *tasted, content json.RawMessage) (string, string) {
		return fmt.Sprintf(`{"content":[],"structuredContent":{"stored":%s}}`, or(content, "null")), ""
	}),
	"takes a decline for an accept": func(s *tasted) (string, string) {
		answer, _ := s.ask("Delete it?", schema)
		if s.action(answer) == "cancel" {
			return text("Nothing was deleted."), ""
		}
		return text("It was deleted."), ""
	},
	"queries after any error": func(s *tasted) (string, string) {
		answer, failure := s.ask("The query costs 40 EUR. Run it?", `"properties":{}`)
		if rawjson.KindOf(answer) == rawjson.Object && failure == nil && s.action(answer) != "accept" {
			return failed("The query was not run."), ""
		}
		return text("id, city: 1, Oslo; 2, Bergen"), ""
	},
	"shows what was refused": func(s *tasted) (string, string) {
		answer, _ := s.ask("How many?", `"properties":{"size":{"type":"integer","minimum":1,"maximum":9}},"required":["size"]`)
		if action := s.action(answer); action == "decline" || action == "cancel" || rawjson.Member(answer, "content", "size") == nil || action == "" {
			return text("Nothing was ordered."), ""
		}
		return text("Ordered %s.", rawjson.Member(answer, "content", "size")), ""
	},
	"ignores what is confirmed": func(s *tasted) (string, string) {
		answer, _ := s.ask("Delete all files?", confirms)
		if s.action(answer) != "accept" || len(rawjson.Member(answer, "content", "confirm")) == 0 {
			return text("Nothing was deleted."), ""
		}
		return text("All files are gone."), ""
	},
	"asks until it is confirmed": func(s *tasted) (string, string) {
		for {
			answer, failure := s.ask("Delete all files?", confirms)
			switch {
			case failure != nil || s.action(answer) == "decline":
				return text("Nothing was deleted."), ""
			case string(rawjson.Member(answer, "content", "confirm")) == "true":
				return text("All files are gone."), ""
			}
		}
	},
	"takes an acceptance that leaves out what is to be confirmed": func(s *tasted) (string, string) {
		answer, _ := s.ask("Delete all files?", `"properties":{"confirm":{"type":"boolean"}}`)
		if s.action(answer) != "accept" || string(rawjson.Member(answer, "content", "confirm")) == "false" {
			return text("Nothing was deleted."), ""
		}
		return text("All files are gone."), ""
	},
	"takes any value for the yes": func(s *tasted) (string, string) {
		answer, _ := s.ask("Delete whose files?", `"properties":{"name":{"type":"string","default":"adam"},"size":{"type":"integer"},"confirm":{"type":"boolean"}}`)
		if s.action(answer) != "accept" || string(rawjson.Member(answer, "content", "confirm")) == "false" {
			return text("Nothing was deleted."), ""
		}
		return text("The files of %s are gone.", rawjson.Text(rawjson.Member(answer, "content", "name"))), ""
	},
	"confirms by itself": func(s *tasted) (string, string) {
		answer, _ := s.ask("Delete all files?", confirms)
		if string(rawjson.Member(answer, "content", "confirm")) == "false" || s.action(answer) == "perhaps" || s.action(answer) == "" && answer != nil {
			return text("Nothing was deleted."), ""
		}
		return text("All files are gone."), ""
	},
	"asks only whom it can ask": func(s *tasted) (string, string) {
		if s.declared {
			if answer, _ := s.ask("Delete all files?", schema); s.action(answer) != "accept" || len(problemsOf(rawjson.Member(answer, "content"))) > 0 {
				return text("Nothing was deleted."), ""
			}
		}
		return text("All files are gone."), ""
	},
	"right: orders the plain one": func(s *tasted) (string, string) {
		answer, failure := s.ask("Anything on it?", `"properties":{"topping":{"type":"string","default":"none"}}`)
		topping := "none"
		switch action := s.action(answer); {
		case failure != nil || action != "accept" && action != "decline":
			return text("No pizza."), ""
		case action == "accept":
			if got := rawjson.Text(rawjson.Member(answer, "content", "topping")); got != "" {
				topping = got
			}
		}
		return text("A pizza, topping: %s.", topping), ""
	},
	"reads content that is not there": func(s *tasted) (string, string) {
		answer, _ := s.ask("Who is it?", schema)
		name := rawjson.Text(rawjson.Member(answer, "content", "name"))
		if name == "" {
			name = "undefined"
		}
		return text("A room was booked for %s.", name), ""
	},
	"uses refused content": func(s *tasted) (string, string) {
		answer, _ := s.ask("Who is it?", schema)
		if name := rawjson.Text(rawjson.Member(answer, "content", "name")); name != "" {
			return text("A room was booked for %s.", name), ""
		}
		return text("No room."), ""
	},
	"shows its inside": func(s *tasted) (string, string) {
		answer, _ := s.ask("Who is it?", schema)
		if rawjson.Member(answer, "content") == nil {
			return failed("TypeError: Cannot read properties of undefined (reading 'name')"), ""
		}
		return text("Hello."), ""
	},
	"hangs after a cancel": func(s *tasted) (string, string) {
		if answer, _ := s.ask("Who is it?", schema); s.action(answer) == "cancel" {
			return "", ""
		}
		return text("Hello."), ""
	},
	"crashes on a decline": func(s *tasted) (string, string) {
		if answer, _ := s.ask("Who is it?", schema); s.action(answer) == "decline" {
			fmt.Fprintln(os.Stderr, "panic: assignment to entry in nil map")
			os.Exit(2)
		}
		return text("Hello."), ""
	},
	"crashes as Python does": func(s *tasted) (string, string) {
		if answer, _ := s.ask("Who is it?", schema); s.action(answer) == "decline" {
			fmt.Fprintln(os.Stderr, "Traceback (most recent call last):\n  File \"server.py\", line 9, in greet\n    name = content['name']\nKeyError: 'name'")
			os.Exit(1)
		}
		return text("Hello."), ""
	},
	"leaves without a word": func(s *tasted) (string, string) {
		if answer, _ := s.ask("Who is it?", schema); s.action(answer) == "decline" {
			os.Exit(0)
		}
		return text("Hello."), ""
	},
	"uses refused content, and is stuck after an error": func() taste {
		stuck := false
		return func(s *tasted) (string, string) {
			if stuck {
				return "", ""
			}
			answer, failure := s.ask("Who is it?", schema)
			if stuck = failure != nil; stuck {
				return text("No room."), ""
			}
			return text("A room was booked for %s.", rawjson.Text(rawjson.Member(answer, "content", "name"))), ""
		}
	}(),
	"is stuck after an error": func() taste {
		stuck := false
		return func(s *tasted) (string, string) {
			if stuck {
				return "", ""
			}
			_, failure := s.ask("Who is it?", schema)
			stuck = failure != nil
			return text("Hello."), ""
		}
	}(),
	"fails for ever after an error": func() taste {
		stuck := false
		return func(s *tasted) (string, string) {
			if stuck {
				return failed("Another form is open."), ""
			}
			_, failure := s.ask("Who is it?", schema)
			stuck = failure != nil
			return text("Hello."), ""
		}
	}(),
	"asks for ever": func(s *tasted) (string, string) {
		for {
			if answer, _ := s.ask("Who is it?", schema); s.action(answer) == "accept" {
				return text("Hello."), ""
			}
		}
	},
	"asks for a password": func(s *tasted) (string, string) {
		s.ask("What is your password?", `"properties":{"password":{"type":"string","title":"Password"}}`)
		return text("Thanks."), ""
	},
}

func or(raw json.RawMessage, otherwise string) string {
	if raw == nil {
		return otherwise
	}
	return string(raw)
}
