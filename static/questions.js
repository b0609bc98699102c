// @ts-check
/**
 * The list of questions: waiting ones stay on top, a new one is announced and gets
 * the focus if nobody types, and title and icon show the number of waiting ones.
 */
import { inAddress } from "./address.js"
import { announce } from "./ask.js"
import { fetched, parse, update, whenChanged } from "./changes.js"
import { $, all, focusFirst, near, on, one, pulse, remember, remembered } from "./dom.js"
import { bring, left, lookAt } from "./latest.js"
import { showPane } from "./panes.js"
import { pointOut } from "./wire.js"

const cards = () => all("#questions > article")
const signIns = () => all("#sign-ins > article")
const waits = (/** @type {any} */ card) => /^(pending|waiting)$/.test(card.dataset.state)
const awaited = () => all("#questions > .awaits")
const title = (/** @type {any} */ card) => $(card.id + "-message")?.textContent.slice(0, 300)

/** Questions that this page has answered, but that are still drawn as pending. @type {Set<string>} */
const answered = new Set()

/** Moves to the next question, once this one is drawn as settled. @param {string} n the question's number */
export function goOnAfter(n) {
  answered.add(n)
  look()
}

/** The outcome of every question at the last look. */
let known = new Map([...cards(), ...signIns()].map(c => [c.id, c.dataset.outcome]))

/** New questions that have not had the focus, with the time of their arrival. @type {Map<string, number>} */
const arrived = new Map()

/** Handles new and settled questions. */
function look() {
  const now = new Map()
  for (const card of [...cards(), ...signIns()]) {
    const { server, outcome } = card.dataset, before = known.get(card.id)
    now.set(card.id, outcome)
    if (before === outcome) continue
    if (waits(card)) {
      arrived.set(card.id, performance.now())
      announce(`${server} asks: ${title(card)}`)
      tell(card)
      pulse(card)
      pointOut(Number(one(".asks [data-frame]", card)?.dataset.frame))
    } else if (before && outcome !== "running") announce(`${outcome}: ${title(card)}`)
  }
  known = now
  if (document.body.matches(".gone")) count(0, 0, 0)
  else count(cards().filter(waits).length, awaited().length, signIns().filter(waits).length)
  for (const n of answered) if (!$("q" + n) || !waits($("q" + n))) goOn(n)
  welcome()
  fetchMore()
}

let fetching = false

/** Fetches the questions that did not fit into the page. */
async function fetchMore() {
  const panel = $("questions")
  if (fetching || !panel.dataset.more) return
  fetching = true
  await fetched("/questions?have=" + cards().map(c => c.dataset.number), ({ html, headers }) => {
    fetching = false
    if (headers.get("X-More") !== "true") delete panel.dataset.more
    for (const card of [...parse(html).children]) $(card.id) ? update($(card.id), card) : panel.append(card)
  })
  fetching = false
}

/** The call that the middle shows: "0" for the form of a new call, "" for neither. */
const shown = () => one("#call > [data-key]") && (one("#call > [data-call]")?.dataset.call ?? "0") || ""

/**
 * Puts the questions of the call on show first, and folds the settled ones of other
 * calls. The server has ranked the cards.
 */
function arrange() {
  const call = shown(), panel = $("questions"), line = $("elsewhere"), fold = $("earlier")
  const sorted = cards().toSorted((a, b) => a.dataset.rank - b.dataset.rank), open = (/** @type {any} */ c) => c.dataset.rank < 0
  const others = sorted.filter(c => call && c.dataset.call !== "0" && c.dataset.call !== call)
  const own = sorted.filter(c => !others.includes(c)), waiting = others.filter(open), earlier = others.filter(c => !open(c))
  line.hidden = !waiting.length
  fold.hidden = !earlier.length
  fold.textContent = `Earlier (${earlier.length})`
  ;[...own, line, ...waiting, fold, ...earlier].forEach((e, i) => { if (e !== panel.children[i]) (panel.moveBefore ?? panel.insertBefore).call(panel, e, panel.children[i] ?? null) })
}

$("earlier").addEventListener("click", () => { $("earlier").ariaExpanded = String($("earlier").ariaExpanded === "false") })

/** Focuses a new question, if this does not disturb the person. */
function welcome() {
  for (const [id, since] of arrived) if (since < performance.now() - 2000 || !$(id) || !waits($(id))) arrived.delete(id)
  const [id] = arrived.keys()
  if (!id || !free() || left() || !$(id).checkVisibility() || near($(id), ".read-only")) return
  arrived.clear()
  enter($(id))
}

/** Tells whether nobody is typing, choosing, or reading by keyboard. */
function free() {
  const at = document.activeElement
  return !at || at === document.body || !!near(at, "form[aria-busy=true]")
    || !at.matches("input, textarea, select, [role=grid], [role=separator]") && !near(at, "[data-state=pending], [popover]")
}

on("focusout", () => setTimeout(welcome))

/** @param {any} card */
function enter(card) {
  focusFirst(card, $(card.id + "-message"))
  bring(card)
}

/** Moves to the next waiting question, after the one with the focus; false if there is none. */
export function nextQuestion() {
  const waiting = [...signIns(), ...cards()].filter(waits)
  if (!waiting.length) return false
  showPane("work")
  enter(waiting[(waiting.indexOf(near(document.activeElement, "article")) + 1) % waiting.length])
  return true
}

/**
 * Moves the focus on after an answer, unless something has it: to the next waiting question; to
 * the answered one if there is none, or if its call waits for that alone.
 * @param {string} n the number of the answered question
 */
function goOn(n) {
  answered.delete(n)
  const row = one(`#q${n} :is(.foot button, summary)`), call = $("q" + n)?.dataset.call
  const awaits = near(row, ".awaits") && !cards().some(c => waits(c) && c.dataset.call === call)
  if (document.activeElement !== document.body || !awaits && nextQuestion()) return
  ;(row?.checkVisibility() ? row : $("earlier")).focus({ preventScroll: true })
}

const plain = $("icon").href
let counted = ""

/** @param {number} questions that wait @param {number} open URLs whose outcome is awaited @param {number} signIns that wait */
function count(questions, open, signIns) {
  const now = `${questions} ${open} ${signIns}`, n = questions + signIns
  if (now === counted || $("playback")) return // nobody waits in a transcript
  counted = now
  document.title = (n ? `(${n}) ` : "") + document.title.replace(/^\(\d+\) /, "")
  $("badge").hidden = !n
  $("waiting").hidden = !n && !open
  const asked = questions === 1 ? "1 question waiting" : questions ? `${questions} questions waiting` : ""
  const asks = signIns === 1 ? "1 sign-in waiting" : signIns ? `${signIns} sign-ins waiting` : ""
  $("waiting").textContent = n ? [asks, asked].filter(Boolean).join(", ") : open === 1 ? "1 URL is open" : `${open} URLs are open`
  $("badge").textContent = n
  $("icon").href = n ? "data:image/svg+xml," + encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#9a5b00"/><text x="16" y="23.5" font-family="system-ui,sans-serif" font-size="21" font-weight="700" text-anchor="middle" fill="#fff">${Math.min(n, 99)}</text></svg>`) : plain
}

$("waiting").addEventListener("click", () => {
  if (nextQuestion()) return
  const [card] = awaited()
  if (!card) return
  showPane("work")
  card.scrollIntoView({ block: "nearest" })
  one(".foot button", card)?.focus({ preventScroll: true })
})

// Notifications of the desktop

const notify = $("notify")
notify.hidden = !("Notification" in window)
notify.ariaChecked = String(!notify.hidden && remembered("notify") === "on" && Notification.permission === "granted")

notify.addEventListener("click", async () => {
  const on = notify.ariaChecked === "false" && await Notification.requestPermission() === "granted"
  if (!on && notify.ariaChecked === "false") announce("The browser does not allow notifications here.")
  notify.ariaChecked = String(on)
  remember("notify", on ? "on" : "")
})

/** @param {any} card */
function tell({ id, dataset }) {
  if (notify.ariaChecked !== "true" || document.hasFocus()) return
  const note = new Notification(`${dataset.server} asks`, { body: title({ id }), tag: `${location.host} ${id}` })
  note.onclick = () => {
    focus()
    note.close()
    showPane("work")
    if ($(id)) enter($(id))
  }
}

whenChanged(arrange, true)
whenChanged(look)

// A link to a question: the server has drawn its call, and unfolded it

const linked = $("q" + inAddress("question"))
if (linked) {
  if (waits(linked)) enter(linked)
  else one("summary, .message", linked).focus({ preventScroll: true })
  lookAt(linked)
}
