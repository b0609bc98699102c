package faulty

// leaking lists the tools that show internals of the server.
var leaking = []*tool{
	{
		name: "adopt_dog", title: "Adopt a dog", does: "It shows a stack trace of Go on a decline.",
		asks: []question{{message: "Which dog?", fields: `"dog":{"type":"string","title":"Dog","enum":["Rex","Bella"]}`}},
		says: "{dog} comes to live with you.", slips: on(declined, say(goTrace)),
		plants: onDecline("fail", "leaks-internals"),
	},
	{
		name: "plan_menu", title: "Plan the menu", does: "It shows a stack trace of Node in the data of an error, on an answer without content.",
		asks: []question{{message: "How many courses?", fields: `"courses":{"type":"integer","title":"Courses","minimum":1,"maximum":7}`}},
		says: "A menu of {courses} courses is planned.", slips: on(withoutContent, refuse("The menu could not be planned", map[string]string{"stack": nodeTrace})),
		plants: found("fail", "leaks-internals", "no-content"),
	},
	{
		name: "rent_skis", title: "Rent skis", does: "It shows a stack trace of Python on a value of another type.",
		asks: []question{{message: "How tall are you, in cm?", fields: `"height":{"type":"integer","title":"Height","minimum":60,"maximum":230}`}},
		says: "Skis for {height} cm are at the counter.", slips: on(breaking("type"), fail(pythonTrace)),
		plants: found("fail", "leaks-internals", "wrong-type", "fraction", "number-as-text"),
	},
	{
		name: "pick_carpet", title: "Pick a carpet", does: "It shows an internal error of JavaScript on an answer without content.",
		asks: []question{{message: "Which colour?", fields: `"colour":{"type":"string","title":"Colour","enum":["Red","Blue"]}`}},
		says: "The {colour} carpet is delivered on Monday.", slips: on(withoutContent, fail("Cannot read properties of undefined (reading 'colour')")),
		plants: found("fail", "leaks-internals", "no-content"),
	},
	{
		name: "hire_band", title: "Hire a band", does: "It shows a stack trace of Java on an action that it does not know.",
		asks: []question{{message: "Which music?", fields: `"music":{"type":"string","title":"Music","enum":["Jazz","Folk"]}`}},
		says: "A band for {music} is hired.", slips: on(unknownAction, refuse(javaTrace, nil)),
		plants: found("fail", "leaks-internals", "unknown-action"),
	},
	{
		name: "sharpen_knives", title: "Have knives sharpened", does: "It shows a panic of Rust on a cancel.",
		asks: []question{{message: "How many knives?", fields: `"knives":{"type":"integer","title":"Knives","minimum":1,"maximum":30}`}},
		says: "{knives} knives are sharp tomorrow.", slips: on(cancelled, fail(rustPanic)),
		plants: onCancel("fail", "leaks-internals"),
	},
	{
		name: "wash_car", title: "Wash the car", does: "It shows an internal error of Python on content that is null.",
		asks: []question{{message: "Which programme?", fields: `"programme":{"type":"string","title":"Programme","enum":["Short","Long"]}`}},
		says: "{programme} programme: done in ten minutes.", slips: on(withNull, fail("'NoneType' object is not subscriptable")),
		plants: found("fail", "leaks-internals", "null-content"),
	},
}

// Texts of language runtimes.
const (
	goTrace = "panic: runtime error: index out of range [1] with length 1\n\ngoroutine 34 [running]:\n" +
		"main.(*shelter).adopt(0xc0000b2000, {0xc00001a0e0, 0x7})\n\t/srv/shelter/adopt.go:81 +0x1d4\n" +
		"created by main.main in goroutine 1\n\t/srv/shelter/main.go:29 +0x85"
	nodeTrace = "TypeError: Cannot read properties of undefined (reading 'courses')\n" +
		"    at planMenu (/app/dist/tools/menu.js:42:31)\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)\n" +
		"    at async Server.handleRequest (/app/node_modules/menu-server/dist/server.js:118:24)"
	pythonTrace = "Traceback (most recent call last):\n  File \"/app/rental/skis.py\", line 57, in rent\n    length = round(answer[\"height\"] * 0.92)\n" +
		"TypeError: can't multiply sequence by non-int of type 'float'"
	javaTrace = "java.lang.IllegalArgumentException: No enum constant com.example.bands.Action.PERHAPS\n" +
		"\tat java.base/java.lang.Enum.valueOf(Enum.java:293)\n\tat com.example.bands.HireTool.call(HireTool.java:64)"
	rustPanic = "thread 'tokio-runtime-worker' panicked at src/tools/knives.rs:48:27:\ncalled `Option::unwrap()` on a `None` value\n" +
		"note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"
	unreadable = "Traceback (most recent call last):\n  File \"/app/meter/server.py\", line 18, in serve\n    message = json.loads(line)\n" +
		"json.decoder.JSONDecodeError: Expecting ',' delimiter: line 1 column 84 (char 83)"
)
