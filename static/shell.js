// @ts-check
/** What surrounds the forms: catalog, calls, panes, splitters, clocks and keys. */
import { middleOf, toAddress } from "./address.js"
import { announce, apply, drawn, notice, post, whenChanged } from "./changes.js"
import { $, all, bare, near, on, one, remember, remembered } from "./dom.js"
import { focusFirst } from "./forms.js"
import { nextQuestion } from "./questions.js"
import { showFrame } from "./wire.js"

// What the middle shows stands in the address, so that going back works

/** Notes in the address what the middle shows. @param {string} query */
export function showing(query) {
  toAddress(middleOf(query), true)
  mark()
}

/** @type {AbortController | undefined} */
let fetching

/** Draws what a query of the page's address names; false if that failed. @param {string} query */
async function show(query) {
  const call = new URLSearchParams(query).get("call")
  fetching?.abort()
  fetching = new AbortController()
  const panel = await drawn(call ? "/calls/" + call : "/form" + query, fetching.signal)
  if (panel) apply([{ op: "replace", target: "call", html: panel.html }])
  return !!panel
}

/** Draws the call on show again. */
export function refreshCall() {
  const { call } = one("#call > [data-call]")?.dataset ?? {}
  if (call) show("?call=" + call)
}

addEventListener("popstate", () => {
  const { call, key } = middleOf(location.search)
  if (call || key) show(location.search)
})

/** Marks the item and the call that the middle shows. */
function mark() {
  const { call, server, kind, key } = one("#call > [data-key]")?.dataset ?? {}
  for (const e of all(".item, .call-tab")) {
    const d = e.dataset, on = d.showCall ? d.showCall === call : d.server === server && d.kind === kind && d.key === key
    e.ariaCurrent = on ? "true" : null
  }
}

// Buttons that are drawn again and again are heard from afar

on("click", async e => {
  const item = near(e.target, ".item"), call = near(e.target, "[data-show-call]"), frame = near(e.target, "[data-frame]")
  const server = near(e.target, "[data-do]"), pane = near(e.target, ".panes a")
  if (item || call) {
    const { server, kind, key, showCall } = (item ?? call).dataset
    const query = call ? "?call=" + showCall : "?" + new URLSearchParams({ server, kind, key })
    if (!await show(query)) return
    showing(query)
    showPane("work")
    if (call) return $("call").scrollIntoView({ block: "nearest" })
    $("work").scrollTo(0, 0)
    focusFirst($("call"), one("#call .primary"))
  }
  if (frame) {
    showPane("wire")
    showFrame(Number(frame.dataset.frame))
  }
  if (server) {
    const { server: id, do: what } = server.dataset
    const { ok } = await post(`/servers/${id}/${what}`)
    if (ok) announce(what === "reconnect" ? "Connecting." : "Disconnected.")
  }
  if (pane) {
    e.preventDefault()
    showPane(pane.dataset.pane)
  }
})

// Catalog: the search goes by what can be read of an item

const shelf = () => one(".shelf:not([hidden])")

function search() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean)
  for (const shelf of all(".shelf")) {
    const items = all(".items > li", shelf)
    for (const li of items) li.hidden = !words.every((/** @type {string} */ w) => li.textContent.toLowerCase().includes(w))
    const none = one(".none", shelf)
    none.hidden = !items.length || items.some(li => !li.hidden)
  }
  $("search").placeholder = `Search ${all(".items > li", shelf()).length} ${shelf().id.replace("-panel", "")}`
}

on("input", e => { if (e.target.id === "search") search() })
on("chosen", e => { if (near(e.target, ".catalog")) search() })
on("keydown", e => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[/** @type {string} */ (e.key)]
  if (!step || !bare(e) || !e.target.matches("#search, .item")) return
  const items = all("li:not([hidden]) > .item", shelf())
  const to = items.indexOf(e.target) + step
  ;(to < 0 ? $("search") : items[to])?.focus()
  e.preventDefault()
})

// Panes of a narrow window

/** @param {string} name */
export function showPane(name) {
  document.body.dataset.pane = name
  for (const a of all(".panes a")) a.ariaCurrent = a.dataset.pane === name ? "true" : null
}

// Splitters

for (const bar of all("[role=separator]")) {
  const upright = bar.ariaOrientation === "vertical", name = upright ? "--columns" : "--detail"
  const box = bar.parentElement, pane = bar.nextElementSibling
  const size = () => pane.getBoundingClientRect()[upright ? "width" : "height"]
  /** @param {number} px 0 for what the style sheet says */
  const set = px => {
    const room = upright ? box.clientWidth : box.clientHeight
    px = px && Math.round(Math.max(upright ? 320 : 96, Math.min(px, room - (upright ? 560 : 160))))
    box.style.setProperty(name, px ? px + "px" : "")
    bar.ariaValueNow = Math.round(100 * size() / room)
    remember(name, px ? String(px) : "")
  }
  bar.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
    bar.setPointerCapture(e.pointerId)
    bar.classList.add("moving")
    e.preventDefault()
  })
  bar.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
    const { right, bottom } = pane.getBoundingClientRect()
    if (bar.hasPointerCapture(e.pointerId)) set(upright ? right - e.clientX : bottom - e.clientY)
  })
  bar.addEventListener("lostpointercapture", () => bar.classList.remove("moving"))
  bar.addEventListener("dblclick", () => set(0))
  bar.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    const step = { ArrowLeft: 24, ArrowUp: 24, ArrowRight: -24, ArrowDown: -24, Home: 9999, End: -9999 }[e.key]
    if (!step) return
    e.preventDefault()
    set(size() + step)
  })
  set(Number(remembered(name)))
}

// Clocks: one timer counts every waiting time on the page

/** When each clock started, and the age that it was drawn with. @type {WeakMap<Element, {age: string, since: number}>} */
let started = new WeakMap()
/** What time the page goes by: it was base at the computer's time since, and goes on from there. */
let time = { base: 0, since: 0, rate: 1 }

/** Has the clocks go by the time of a session. @param {number} base in milliseconds @param {number} [rate] how fast it goes on, 0 for not at all */
export function setTime(base, rate = time.rate) {
  if (!time.base || base < time.base) started = new WeakMap()
  time = { base, since: Date.now(), rate }
}

export function tick() {
  const now = time.base + (Date.now() - time.since) * time.rate, two = (/** @type {number} */ n) => String(n).padStart(2, "0")
  for (const e of all("[data-age]")) {
    const { age } = e.dataset, known = started.get(e)
    const since = known && known.age === age ? known.since : now - age
    started.set(e, { age, since })
    const s = Math.max(0, Math.floor((now - since) / 1000)), m = Math.floor(s / 60)
    const text = m < 60 ? `${m}:${two(s % 60)}` : `${Math.floor(m / 60)}:${two(m % 60)}:${two(s % 60)}`
    if (e.textContent !== text) e.textContent = text
  }
}

setInterval(tick, 1000)

whenChanged(() => {
  search()
  mark()
  tick()
})

// Keys

on("keydown", e => {
  if (!bare(e) || e.defaultPrevented || e.target.matches("input:not([type=radio], [type=checkbox]), textarea, select")) return
  if (e.key === "?") $("keys").togglePopover()
  else if (e.key === "/" && near(e.target, "#wire")) $("filter").select()
  else if (e.key === "/") {
    showPane("side")
    $("search").focus()
  } else if (e.key === "w") {
    showPane("wire")
    $("grid").focus()
  } else if (e.key === "q") {
    if (!nextQuestion()) notice("No question waits.", 3)
  } else return
  e.preventDefault()
})
