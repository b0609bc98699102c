package main

// Hostile is text that would do harm as markup: elements that run scripts, that close
// the element around them or that load from a host, terminal escapes, bidi overrides,
// and links that run scripts.
const Hostile = "</script></title></textarea><script>window.pwned=1</script>" +
	`<img src=x onerror="window.pwned=2"><svg onload="window.pwned=3">` +
	`<a href="javascript:window.pwned=4">click</a><style>*{display:none}</style>` +
	`<iframe src="http://127.0.0.1:9/"></iframe>` + "\"'><b>bold</b>" +
	"\x1b[2J\x1b[31mred\x1b]8;;http://127.0.0.1:9/\x07link\x1b]8;;\x07" +
	"\u202Egnp.exe\u202C\u2066\u0000 &amp; {{7*7}} ${7*7}"

const hostileTitle = "<i>Hostile</i> \u202Eeltit\u202C"

// hostile sends this text in every place where a server may send text.
func hostile(s *server, c *call) {
	q := quote(Hostile)
	asked := s.request("elicitation/create", `{"message":`+q+`,"requestedSchema":{"type":"object","properties":{`+
		`"a\"><script>window.pwned=5</script>":{"type":"string","title":`+q+`,"description":`+q+`,"default":`+q+`},`+
		`"pick":{"type":"string","title":"Pick","oneOf":[{"const":`+q+`,"title":`+q+`},{"const":"javascript:window.pwned=6","title":"javascript:window.pwned=6"}]},`+
		`"many":{"type":"array","title":"Many","items":{"type":"string","enum":[`+q+`,"plain"]}},`+
		`"odd":{"type":"object","title":`+q+`,"properties":{"x":{"const":`+q+`}}},`+
		`"home":{"type":"string","format":"uri","title":"Home","default":"javascript:window.pwned=7"}}}}`)
	s.write(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","logger":%s,"data":%s}}`, q, q)
	s.writeLine([]byte("noise " + Hostile))
	select {
	case line := <-asked.answer:
		s.reply(c.id, `{"content":[{"type":"text","text":`+q+`},`+
			`{"type":"text","text":`+quote("received: "+answered(line))+`},`+
			`{"type":"resource_link","uri":"javascript:window.pwned=8","name":`+q+`},`+
			`{"type":"resource_link","uri":"data:text/html,<script>window.pwned=9</script>","name":"data"},`+
			`{"type":"image","data":"PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0iYWxlcnQoMSkiLz4=","mimeType":"image/svg+xml"},`+
			`{"type":"image","data":"PHNjcmlwdD53aW5kb3cucHduZWQ9MTA8L3NjcmlwdD4=","mimeType":"text/html"},`+
			`{"type":"resource","resource":{"uri":"javascript:window.pwned=11","mimeType":"text/html","text":`+q+`}}`+
			`],"structuredContent":{"x":`+q+`}}`)
	case <-c.ended:
	}
}
