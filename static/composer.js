// @ts-check
/**
 * The page on which a person writes a question. The server draws the form, the findings and the code
 * of each text, and makes the changes that buttons stand for. This script has the text: what was
 * written before, and the address, which holds the whole draft behind the #.
 */
import { announce, copied, drawn, notice, post } from "./ask.js"
import { send, typed } from "./changes.js"
import { $, all, home, near, on, one } from "./dom.js"
import "./fields.js"
import "./picker.js"

const text = $("draft-text")

// Drawing

/** A text of more characters is drawn, and kept, when nobody has typed for a moment. */
const long = 100_000
let waiting = 0
/** @type {AbortController | undefined} */
let drawing

/** Draws what the text asks. @param {object} [more] values to send with it */
async function draw(more = {}) {
  clearTimeout(waiting)
  drawing?.abort()
  drawing = new AbortController()
  const form = $("draft-form"), body = written({ revision: $("draft-revision").value, sdk: $("draft-sdk").value, ...more }, form)
  for (const field of all(".field:has(.reset:not([hidden]))", form)) body.append("changed", field.dataset.field)
  typed.delete(form)
  const { ok } = await send("/compose", body, { signal: drawing.signal })
  if (!ok) return
  const line = Number($("draft-state").dataset.line)
  text.style.setProperty("--line", line)
  text.ariaInvalid = line ? "true" : null
  clearTimeout(looking)
  looking = setTimeout(look, 200)
}

/** The client whose drawing is on show. */
let client = ""
let looking = 0

/** Draws the question as other clients show it. That takes longer than the form, so it waits until nobody types. */
async function look() {
  await send("/compose/seen", written({ client, revision: $("draft-revision").value }), { signal: drawing?.signal })
}

/** The text as a form to post. @param {object} more @param {HTMLFormElement} [form] */
function written(more, form) {
  const body = new FormData(form ?? undefined)
  for (const [name, value] of Object.entries({ text: text.value, ...more })) body.set(name, value)
  return body
}

const soon = () => {
  clearTimeout(waiting)
  waiting = setTimeout(draw, text.value.length > long ? 400 : 0)
}

// What was written before

/** @type {string[]} */
const past = []
/** @type {string[]} */
const future = []
/** The text as it was last noticed, and when a typed change of it was. */
let now = "", typedAt = -Infinity

/** Notices a change. @param {boolean} [typing] many in a row are undone together */
function changed(typing) {
  if (text.value !== now) {
    if (!typing || performance.now() - typedAt > 800) past.push(now)
    typedAt = typing ? performance.now() : -Infinity
    now = text.value
    past.splice(0, past.length - (now.length > long ? 5 : 200))
    future.length = 0
  }
  after()
}

function after() {
  $("undo").disabled = !past.length
  $("redo").disabled = !future.length
  soon()
  keep()
}

/** @param {string[]} from @param {string[]} to */
function step(from, to) {
  if (!from.length) return
  to.push(now)
  text.value = now = from.pop() ?? ""
  typedAt = -Infinity
  after()
}

/** Writes another text. @param {string} other @param {string} [at] what to select of it */
function write(other, at) {
  text.value = other
  select(at)
  changed()
}

/** Selects a part of the text, and brings it into sight. @param {string | null} [at] from and to */
function select(at) {
  if (!at) return
  const [from, to] = at.split(" ").map(Number)
  text.setSelectionRange(from, to)
  const lines = text.value.slice(0, from).split("\n").length, height = parseFloat(getComputedStyle(text).lineHeight)
  text.scrollTop = Math.max(0, lines * height - text.clientHeight / 2)
}

// The address

/** The most characters of a draft in the address: mail and chats cut longer ones. */
const longest = 30_000
let keeping = 0

/** Keeps the draft in the address and in this browser, when nobody has typed for a moment. */
function keep() {
  clearTimeout(keeping)
  keeping = setTimeout(kept, 300)
  if (text.value.length > long) return
  store()
  if (location.hash) history.replaceState(null, "", "/?compose") // a reload must not bring what was there before
}

/** Keeps the draft in this browser; false if that cannot be. */
function store() {
  try {
    localStorage.setItem("draft", text.value)
    return true
  } catch { return false }
}

async function kept() {
  clearTimeout(keeping)
  const draft = text.value, link = await packed(draft), fits = link.length <= longest
  if (draft !== text.value) return
  const stored = store()
  history.replaceState(null, "", "/?compose" + (fits ? "#" + link : ""))
  $("draft-kept").textContent = fits ? "" : `This draft is too long for a link. ${stored ? "Only this browser keeps it." : "This browser cannot keep it either: it is gone when the page is closed."}`
  $("copy-draft").disabled = !fits
}

/** @param {Blob} data @param {CompressionStream | DecompressionStream} stream */
const through = (data, stream) => new Response(data.stream().pipeThrough(/** @type {any} */ (stream)))

/** Compresses a text into characters of an address (RFC 1951, RFC 4648 section 5). @param {string} plain */
async function packed(plain) {
  const bytes = new Uint8Array(await through(new Blob([plain]), new CompressionStream("deflate-raw")).arrayBuffer())
  if (bytes.length > longest) return " ".repeat(longest + 1)
  return btoa(Array.from(bytes, b => String.fromCharCode(b)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")
}

/** @param {string} link */
async function unpacked(link) {
  const bytes = Uint8Array.from(atob(link.replaceAll("-", "+").replaceAll("_", "/")), c => c.charCodeAt(0))
  return through(new Blob([bytes]), new DecompressionStream("deflate-raw")).text()
}

const start = `{
  "mode": "form",
  "message": "What do you want to know, and why?",
  "requestedSchema": {
    "type": "object",
    "properties": {}
  }
}`

/** Takes the draft of the address: a copy of a question, or what is behind the #; else the latest of this browser. */
async function open() {
  const of = new URLSearchParams(location.search).get("compose"), link = location.hash.slice(1)
  const copy = of ? (await drawn("/compose/questions/" + encodeURIComponent(of)))?.html : undefined
  const linked = link && !of ? await unpacked(link).catch(() => notice("This link does not hold a whole draft.")) : undefined
  let latest = null
  try { latest = localStorage.getItem("draft") } catch { /* no storage */ }
  const draft = copy ?? linked ?? latest ?? start
  if (past.length || now) return write(draft)
  text.value = now = draft
  after()
}

// What a person does

text.addEventListener("input", () => changed(true))
on("keydown", (/** @type {any} */ e) => {
  if (!(e.ctrlKey || e.metaKey) || !/^[zy]$/i.test(e.key)) return
  if (e.target !== text && e.target.matches("textarea, input:not([type=checkbox], [type=radio])") &&
    !(near(e.target, "#draft-fields") && e.target.value === e.target.defaultValue)) return // these undo their own typing
  e.preventDefault()
  e.shiftKey || /y/i.test(e.key) ? step(future, past) : step(past, future)
})
$("undo").onclick = () => step(past, future)
$("redo").onclick = () => step(future, past)

/** The change that is made: the next one has its text. */
let editing = Promise.resolve()

/** Has the server change the form, and leads to what is new. @param {any} control @param {string} [value] */
async function edit(control, value = control.dataset.value ?? control.value) {
  const { edit: what } = control.dataset, field = near(control, "[data-field]")?.dataset.field ?? ""
  const rows = () => all("#draft-fields li"), place = rows().findIndex(li => li.dataset.field === field)
  const { ok, text: edited, headers } = await post("/compose/edit", written({ do: what, field, value }))
  if (!ok) return soon()
  write(edited, headers.get("X-At") ?? "")
  await draw()
  const row = rows().find(li => li.dataset.field === (what === "rename" ? value : field)) ?? rows()[place] ?? rows().at(-1)
  const here = [control, document.body].includes(document.activeElement) // else the person has gone on to another control
  if (what === "insert") one("#draft-fields li:last-child input")?.select()
  else if (field && here) (row ? all("[data-edit]", row).find(e => e.dataset.edit === what && !e.disabled) ?? one("input", row) : text).focus()
  announce(control.ariaLabel ?? control.textContent + " is added.")
}

/** @param {any} control */
const change = control => { editing = editing.then(() => edit(control)) }

on("click", async e => {
  const seen = near(e.target, "[data-seen]")?.dataset.seen
  if (seen) {
    client = client === seen ? "" : seen
    look()
  }
  const does = near(e.target, "button[data-edit]"), at = near(e.target, "[data-at]"), reset = near(e.target, "#draft-form .reset")
  if (does) change(does)
  if (at) {
    text.focus()
    select(at.dataset.at)
  }
  if (reset) {
    reset.hidden = true
    draw()
  }
  if (near(e.target, "#try-answer")) draw({ check: 1 })
  if (near(e.target, "#copy-draft")) {
    await kept()
    if (await copied(home + "/" + location.search + location.hash)) announce("The link is copied.")
  }
  if (near(e.target, "#copy-code")) {
    const { ok, text: code } = await post("/compose/code", written({ sdk: $("draft-sdk").value }))
    if (ok && await copied(code)) announce("The code is copied.")
  }
  if (near(e.target, "#ask-it")) {
    await kept()
    const { ok, text: call } = await post("/compose/ask", written({}))
    if (ok) location.assign("/?call=" + call)
  }
})

on("change", async e => {
  const { target } = e
  if (target.matches("[data-edit]") && (target.value || target.localName !== "select")) change(target)
  if (target.matches("#draft-revision, #draft-sdk")) draw()
  if (target.id !== "sample" || !target.value) return
  const sample = await drawn("/compose/samples/" + target.value)
  target.value = ""
  if (sample) write(sample.html)
})

// What is typed into the list of fields stays while a change that was made there before is drawn.
on("input", e => {
  const list = near(e.target, "#draft-fields")
  if (list) typed.add(list)
})
on("focusout", e => typed.delete(near(e.target, "#draft-fields")))

on("input", e => {
  const form = near(e.target, "#draft-form"), reset = one(".reset", near(e.target, ".field"))
  if (!form || near(e.target, ".several")) return
  if (reset) reset.hidden = false
  typed.add(form)
  soon()
})

on("submit", e => e.preventDefault())
addEventListener("hashchange", open)
addEventListener("focus", () => draw()) // a server may have come, or gone
await open()
performance.mark("ready")
