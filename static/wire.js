// @ts-check
/**
 * The wire log's window. Only the rows in sight exist; they are fetched by their
 * place in the view, one request at a time. The scroll bar covers all rows; if these
 * are higher than an element can be, it is scaled down. During a flood of frames the
 * page only receives their number a few times a second.
 *
 * The view holds the frames after `since` that match the filter. The server filters
 * frames from the first on, so the view grows at its end only.
 */
import { inAddress } from "./address.js"
import { announce, drawn, notice } from "./ask.js"
import { parse, whenChanged } from "./changes.js"
import { tick } from "./clock.js"
import { closeFrame, comparing, frameOnShow, openFrame } from "./detail.js"
import { $, all, bare, grouped, near, one, pulse } from "./dom.js"
import { showPane } from "./panes.js"

const grid = $("grid"), box = $("rows"), newer = $("newer"), status = $("view-status")

/** A height in pixels that every browser supports for an element. */
const tallest = 8e6
/** The maximum number of kept rows. */
const most = 1500

let frames = Number($("frames").dataset.frames)
/** Frames up to this one are hidden by Clear view. */
let since = 0
/** The filter line that is in force; and the server's number of the view, "" while unknown. */
let filter = "", number = ""
/** What a person wants to see; and the filter line of the log with the polls folded. */
let typed = ""
/** How rows are sorted: by "took", by "-took" with the longest first, or "" as they came. */
let order = ""
/** Tells whether only the server knows the places of frames. */
const placed = () => !!(filter || order)
const folded = "-is:repeat"
/** Frames that the server has filtered; frames in the log at the last request. */
let judged = frames, asked = frames
/** Rows of the view; the last frame when following stopped, and the number of rows after that frame. */
let total = frames, left = frames, fresh = 0
let following = true
/** The upper edge of the window among all rows, and the last known position of the scroll bar, in pixels. */
let top = 0, bar = 0
/** The chosen row and its frame; -1 and 0 for none. The frame is also 0 until the row is fetched. */
let selected = -1, selectedSeq = 0
/**
 * A frame whose place is being fetched, and what to do once it is known.
 * @type {{seq: number, select?: boolean, open?: boolean} | undefined}
 */
let anchor

/** Rows by their place in the view, from 0. @type {Map<number, HTMLElement>} */
const rows = new Map()
/** Places whose row may have changed since it was fetched. @type {Set<number>} */
const stale = new Set()

/** The height of the grid at the last measurement. */
let measured = 0
let rowHeight = 24, height = 0, scale = 1

const lowest = () => Math.max(0, total * rowHeight - height)

/** Measures the rows, and sets the height of the scrolled area. */
function measure() {
  rowHeight = one(".names", grid).offsetHeight || 24
  measured = grid.clientHeight
  height = Math.max(0, measured - rowHeight)
  const full = total * rowHeight
  $("spacer").style.height = Math.min(full, tallest) + rowHeight + "px"
  scale = full > tallest ? (full - height) / (tallest - height) : 1
}

/** Moves the window, and the scroll bar with it. @param {number} to */
function moveTo(to) {
  top = Math.max(0, Math.min(lowest(), to))
  if (Math.abs(grid.scrollTop - top / scale) >= 1) grid.scrollTop = top / scale
  bar = grid.scrollTop
  paintSoon()
}

let settling = 0

/**
 * Takes it up if a person has scrolled: at the event, and before the window is moved, as
 * frames or another height can come between the scroll and its event.
 */
function scrolled() {
  const at = grid.scrollTop, by = at - bar, now = grid.clientHeight
  if (Math.abs(by) < 1 || !now || !measured) return
  // The browser scrolls a grid that gets higher at its end: the person did nothing.
  if (now > measured && at >= grid.scrollHeight - now - 1) return
  bar = at
  anchor = undefined
  // A wheel or a finger moves the rows by pixels, not by the scale.
  const fine = scale > 1 && Math.abs(by) < 2 * height
  top = Math.max(0, Math.min(lowest(), fine ? top + by : at * scale))
  if (fine) {
    clearTimeout(settling)
    settling = setTimeout(() => moveTo(top), at < 1 || at > tallest - height - 1 ? 0 : 150)
  }
  follow(!order && top >= lowest() - rowHeight / 2)
  paintSoon()
}

grid.addEventListener("scroll", scrolled, { passive: true })

/** @param {boolean} on */
function follow(on) {
  if (on !== following) {
    following = on
    interrupted = false
    left = frames
    fresh = 0
    $("follow").ariaPressed = String(on)
  }
  if (!filter) fresh = frames - Math.max(left, since)
  newer.hidden = following || fresh <= 0
  if (!newer.hidden) newer.textContent = `${grouped(fresh)} new ${order ? "to sort" : "↓"}`
}

/** Goes to the last row, and follows the log from there on; sorted rows have no end to follow. */
export function toEnd() {
  if (order) return
  follow(true)
  moveTo(lowest())
}

// Opening a frame interrupts following; closing it resumes following.
let interrupted = false
$("detail").addEventListener("closed", () => { if (interrupted) toEnd() })

newer.addEventListener("click", () => {
  order ? sortBy(order) : toEnd()
  grid.focus()
})

$("follow").addEventListener("click", () => {
  if (following) follow(false)
  else if (order) sortBy("")
  else toEnd()
})

/** Called when the log has grown. @param {number} n number of frames @param {string} [kept] description of how much is kept where */
export function grown(n, kept) {
  if (kept) $("kept").textContent = kept
  if (n === frames) return
  if (n < frames) {
    // A playback that goes back starts another log, which the server filters again.
    for (const i of rows.keys()) stale.add(i)
    judged = asked = Math.min(judged, n - 1)
    left = Math.min(left, n)
  }
  frames = n
  $("frames").textContent = grouped(n)
  if (placed()) {
    follow(following)
    fetchRows()
  } else resize(n - since)
}

/** @param {number} n rows of the view */
function resize(n) {
  scrolled()
  total = Math.max(0, n)
  grid.ariaRowCount = total
  grid.style.setProperty("--seq", Math.max(3, String(frames).length) * 0.47 + 0.1 + "rem")
  waitNoMore()
  say()
  measure()
  follow(following)
  moveTo(following ? lowest() : top)
}

/** Marks rows as stale of requests that may have a response now, or that count more polls. */
function waitNoMore() {
  for (const [i, row] of rows) if (row.matches(".pending, :has(.polls)")) stale.add(i)
}

/** Shows the progress of the filter and the number of matches. */
function say() {
  const cleared = since ? " since cleared" : ""
  status.textContent = !typed ? since ? grouped(total) + cleared : ""
    : `${grouped(total)} match${cleared}` + (judged < asked ? `, searched ${grouped(judged)} of ${grouped(asked)} so far` : "")
  status.classList.toggle("wait", judged < asked)
  $("no-match").hidden = !typed || !number || total > 0 || judged < asked
}

/** A new frame to point out, and until when. */
let pointed = { seq: 0, until: 0 }

/** Points out the row of a new frame, as soon as the log shows it. @param {number} seq */
export function pointOut(seq) {
  pointed = { seq, until: performance.now() + 2000 }
  paintSoon()
}

function pulseRow() {
  const row = box.querySelector(`[data-seq="${pointed.seq}"]`)
  if (!row || performance.now() > pointed.until) return
  pointed.seq = 0
  pulse(row)
}

let painting = 0

function paintSoon() {
  painting ||= requestAnimationFrame(paint)
}

/** The rows in sight. @returns {[number, number]} first, and one past the last */
function sight() {
  const first = Math.floor(top / rowHeight)
  return [first, Math.min(total, first + Math.ceil(height / rowHeight) + 1)]
}

/** Since when old rows are shown while new ones are fetched; 0 if none are. */
let held = 0

function paint() {
  painting = 0
  const [first, end] = sight(), shown = []
  // While following, keep the rows in sight until all of the new ones are fetched.
  const some = following && box.querySelector("[data-seq]"), now = performance.now()
  let lacks = false
  for (let i = first; i < end; i++) lacks ||= !rows.has(i)
  if (!some || !lacks) held = 0
  else if (now - (held ||= now) < 500) return fetchRows()
  for (let i = first; i < end; i++) {
    const row = rows.get(i) ?? blank(i)
    row.style.transform = `translateY(${i * rowHeight - top}px)`
    row.ariaSelected = String(i === selected)
    shown.push(row)
  }
  const keep = new Set(shown)
  for (const e of [...box.children]) if (!keep.has(e)) e.remove()
  shown.forEach((row, i) => { if (box.children[i] !== row) box.insertBefore(row, box.children[i] ?? null) })
  const active = rows.get(selected)
  if (active?.isConnected) grid.setAttribute("aria-activedescendant", active.id)
  else grid.removeAttribute("aria-activedescendant")
  fall(shown)
  tick()
  pulseRow()
  fetchRows()
}

/** A placeholder for a row that is being fetched. @param {number} i */
function blank(i) {
  const row = document.createElement("div")
  Object.assign(row, { className: "row blank", role: "row", ariaRowIndex: String(i + 1), ariaBusy: "true" })
  row.append(Object.assign(document.createElement("span"), { role: "gridcell", textContent: "Loading…" }))
  return row
}

/** Draws the waterfall, on a scale from the first to the last moment of the rows in sight. @param {HTMLElement[]} shown */
function fall(shown) {
  const bars = shown.flatMap(row => all("[data-at]", row)).map(({ style, dataset }) => ({ style, at: Number(dataset.at), took: Number(dataset.took) }))
  const from = Math.min(...bars.map(b => b.at)), whole = Math.max(1, ...bars.map(b => b.at + b.took - from))
  for (const { style, at, took } of bars) {
    style.left = `min(${(at - from) / whole * 100}%, 100% - 2px)`
    style.width = took / whole * 100 + "%"
  }
}

/** @type {{from: number, end: number, control: AbortController} | undefined} */
let asking
let again = 0

/** Aborts the present request. */
function forget() {
  asking?.control.abort()
  asking = undefined
  clearTimeout(again)
}

/**
 * Fetches missing rows in and near sight; and with a filter, the number of matches.
 */
async function fetchRows() {
  const [first, end] = sight(), page = end - first
  const due = placed() && (!number || judged < frames || asked < frames)
  if (asking && (placed() && !number || asking.from < end && asking.end > first)) return
  const lacks = (/** @type {number} */ i) => !rows.has(i) || stale.has(i)
  // While following, also fetch the rows that match meanwhile.
  let from = Math.max(0, first - page), to = following && due ? end + page : Math.min(total, end + page)
  while (from < to && !lacks(from)) from++
  while (to > from && !lacks(to - 1)) to--
  // Rows more than half a window away can wait until more of them are missing.
  const later = from >= to || from >= end + page / 2 || to <= first - page / 2
  if (later && (!due || asking)) return
  if (later || placed() && !number) to = from = first
  asking?.control.abort()
  clearTimeout(again)
  const control = new AbortController()
  asking = { from, end: to, control }
  const query = new URLSearchParams({ from: String(from), count: String(to - from), since: String(since), sort: order, upto: String(left) })
  if (filter) query.set("filter", filter)
  if (anchor) query.set("near", String(anchor.seq))
  if (!following) query.set("after", String(left))
  const answer = await drawn("/wire/rows?" + query, control.signal)
  if (asking?.control !== control) return
  asking = undefined
  if (!answer) return
  take(answer.headers)
  let i = from
  for (const row of [...parse(answer.html).children]) {
    rows.set(i, /** @type {HTMLElement} */ (row))
    stale.delete(i++)
  }
  if (rows.size > most) for (const i of rows.keys()) if (Math.abs(i - first) > most / 3) rows.delete(i)
  if (selected >= 0 && !selectedSeq && rows.has(selected)) choose(selected)
  if (i > from) paintSoon()
  if (placed() && judged < frames) again = setTimeout(fetchRows, frames - judged > 20000 ? 0 : 150)
}

/** Takes the state of the view from a response. @param {Headers} headers */
function take(headers) {
  const n = (/** @type {string} */ name) => Number(headers.get(name))
  const before = number, wasJudging = !number || judged < asked
  number = headers.get("X-View") ?? ""
  if (!placed()) return
  if (before && number !== before) {
    rows.clear()
    stale.clear()
    anchor ??= selectedSeq ? { seq: selectedSeq, select: true } : undefined
    selected = -1
  }
  // Following may have stopped since the request.
  if (headers.has("X-New") && !following) fresh = n("X-New")
  judged = n("X-Judged")
  asked = n("X-Frames")
  waitNoMore()
  if (asked > frames) grown(asked)
  if (n("X-Total") !== total || !before) resize(n("X-Total"))
  else {
    follow(following)
    say()
  }
  settleAnchor(headers)
  if (wasJudging && judged >= asked) announce(status.textContent ?? "")
}

/** Goes to the anchor, once the server knows its place. @param {Headers} headers */
function settleAnchor(headers) {
  if (!anchor || !headers.has("X-Near")) return
  const { seq, select: pick, open } = anchor, found = headers.get("X-Near-Found") === "true", at = Number(headers.get("X-Near"))
  if (!found && filter && judged < seq) return
  anchor = undefined
  if (!following || pick) moveTo(at * rowHeight - height / 3)
  if (pick && found) {
    selected = at
    selectedSeq = seq
    reveal(at)
  }
  if (!open || found) return
  notice(`Frame ${seq} is ${typed ? "hidden by the filter" : "folded with other polls"}. It is shown below the log.`, 6)
}

/** Called when the log's size on the page has changed. A chosen row in sight stays in sight. */
function resized() {
  scrolled()
  const at = selected * rowHeight, inSight = selected >= 0 && at >= top && at + rowHeight <= top + height
  measure()
  if (following) moveTo(lowest())
  else if (inSight) reveal(selected)
  else moveTo(top)
}

new ResizeObserver(resized).observe(grid)
$("detail").addEventListener("resized", resized)

// The view

/** Applies another filter line. The row in sight, or the chosen one, stays in sight if it matches. @param {string} line */
export function lookThrough(line) {
  typed = line
  if (!line && !fold.hidden && fold.ariaPressed === "true") line = folded
  if (line === filter) return
  const inSight = rows.get(Math.ceil(top / rowHeight))?.dataset.seq
  const seq = selectedSeq || (following ? 0 : Number(inSight))
  filter = line
  startOver()
  anchor = seq ? { seq, select: !!selectedSeq } : undefined
  if (placed()) fetchRows()
  else if (anchor) showAt(anchor)
}

/** Forgets all rows. */
function startOver() {
  forget()
  rows.clear()
  stale.clear()
  selected = -1
  number = ""
  judged = placed() ? 0 : frames
  asked = frames
  if (!placed()) resize(frames - since)
  else say()
}

/** Goes to a frame of a view without a filter. @param {{seq: number, select?: boolean}} to */
function showAt({ seq, select: pick }) {
  anchor = undefined
  const i = seq - since - 1
  if (i < 0 || i >= total) return
  if (!following || pick) moveTo(i * rowHeight - height / 3)
  if (pick) choose(i)
  paintSoon()
}

/** Fetches all rows again, and shows the old ones meanwhile. */
function refresh() {
  for (const i of rows.keys()) stale.add(i)
  paintSoon()
}

// Polls of tasks are folded once there are any, unless the person filters the log.
const fold = $("fold")

fold.addEventListener("click", () => {
  fold.ariaPressed = String(fold.ariaPressed !== "true")
  lookThrough(typed)
})

/** Offers to unfold the polls if there are any. */
function foldable() {
  const none = $("log-state").dataset.repeats === undefined
  if (none === fold.hidden) return
  fold.hidden = none
  lookThrough(typed)
}

let state = $("log-state").dataset.state

whenChanged(() => {
  foldable()
  const now = $("log-state").dataset.state
  if (now === state) return
  state = now
  // New findings or notes may be in any row, and may change the matches.
  asked = Math.min(asked, frames - 1)
  refresh()
})

/** @param {number} seq frames up to this one are hidden */
function showFrom(seq) {
  since = seq
  selectedSeq = 0
  $("clear").textContent = since ? "Show all" : "Clear view"
  startOver()
  toEnd()
  if (placed()) fetchRows()
}

$("clear").addEventListener("click", () => {
  showFrom(since ? 0 : frames)
  announce(since ? "The view is cleared. The log keeps every frame." : "All frames are shown.")
})

/** Sorts the frames that are there now. @param {string} way */
function sortBy(way) {
  order = way
  $("took").ariaSort = order && (order === "took" ? "ascending" : "descending") || null
  left = frames
  follow(false)
  startOver()
  moveTo(0)
  toEnd()
  if (placed()) fetchRows()
}

one("button", $("took")).addEventListener("click", () => {
  sortBy({ "": "-took", "-took": "took", took: "" }[order] ?? "")
})

// Choosing a row

/** Scrolls a row into sight. @param {number} i */
function reveal(i) {
  const at = i * rowHeight
  moveTo(Math.min(at, Math.max(top, at + rowHeight - height)))
}

/** Chooses a row, and shows its frame if one is on show. @param {number} i */
function choose(i) {
  selected = i
  selectedSeq = placed() ? Number(rows.get(i)?.dataset.seq ?? 0) : since + i + 1
  // A frame for a comparison is only chosen by a click or Enter.
  if (selectedSeq && frameOnShow() && !comparing()) openSoon()
}

/** @param {number} i */
function select(i) {
  if (!total) return
  anchor = undefined
  const before = following || interrupted
  choose(Math.max(0, Math.min(total - 1, i)))
  follow(following && selected === total - 1)
  interrupted = before && !following
  reveal(selected)
}

grid.addEventListener("click", (/** @type {Event} */ e) => {
  const row = near(e.target, ".window > .row")
  if (!row?.dataset.seq) return
  select(row.ariaRowIndex - 1)
  selectedSeq = Number(row.dataset.seq)
  openSelected()
})

/** @param {boolean} [focus] */
function openSelected(focus) {
  clearTimeout(opening)
  if (selectedSeq) openFrame(selectedSeq, { focus })
}

let opening = 0

/** Shows the chosen frame after a short pause of the keys. */
function openSoon() {
  clearTimeout(opening)
  if (selectedSeq !== frameOnShow()) opening = setTimeout(openSelected, 80)
}

grid.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
  if (!bare(e) || e.target !== grid) return
  const page = Math.max(1, Math.floor(height / rowHeight) - 1)
  const at = selected < 0 ? sight()[1] : selected
  const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: total - 1 }[e.key]
  if (to !== undefined) select(to)
  if (e.key === "End") toEnd()
  else if (e.key === "Enter" && selected >= 0) openSelected(true)
  else if (e.key === "Escape" && frameOnShow()) closeFrame()
  else if (e.key === "f") $("follow").click()
  else if (e.key === "/") $("filter").select()
  else if (to === undefined) return
  e.preventDefault()
})

/** Shows one frame in the log and in the detail. @param {number} seq */
export function showFrame(seq) {
  if (!(seq >= 1 && seq <= frames)) return notice(`There is no frame ${seq} in the log, which has ${grouped(frames)}.`)
  showPane("wire")
  if (seq <= since) showFrom(0)
  const before = following || interrupted
  follow(false)
  interrupted = before
  forget()
  selected = -1
  selectedSeq = seq
  anchor = { seq, select: true, open: true }
  if (order && seq > left) sortBy(order)
  if (placed()) {
    // The place of the frame must be fetched.
    asked = frames - 1
    fetchRows()
  } else showAt(anchor)
  openFrame(seq)
  grid.focus({ preventScroll: true })
}

resize(total)
foldable()

// Links to a frame

const wanted = () => Number(inAddress("frame"))

addEventListener("popstate", () => {
  if (wanted() && wanted() !== frameOnShow()) showFrame(wanted())
  else if (!wanted() && frameOnShow()) closeFrame()
})
// After the filter has been applied.
if (wanted()) setTimeout(() => showFrame(wanted()))
