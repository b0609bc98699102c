// @ts-check
/**
 * The wire log's window. Only the rows in sight exist; they are fetched by
 * their place in the view, one request at a time. The scroll bar stands for all
 * rows, and where they would be higher than an element can be, for a scaled
 * down picture of them. A flood costs the page one number a few times a second.
 */
import { announce, drawn, notice, parse } from "./changes.js"
import { $, bare, grouped, near, one } from "./dom.js"
import { tick } from "./shell.js"
import { choose } from "./tabs.js"

const grid = $("grid"), box = $("rows"), detail = $("detail"), splitter = $("split-detail"), newer = $("newer")

/** A height in pixels that every browser can give an element, with room to spare. */
const tallest = 8e6
/** How many rows are kept. */
const most = 2000

let frames = Number($("frames").dataset.frames)
/** Frames up to this one are hidden by Clear view. */
let since = 0
/** Rows of the view, and how many there were when the tail was left. */
let total = frames, left = total
let following = true
/** The place of the window's upper edge among all rows, and where the scroll bar was last put or seen, in pixels. */
let top = 0, bar = 0
let selected = -1

/** Rows by their place in the view, from 0. @type {Map<number, HTMLElement>} */
const rows = new Map()
/** Places whose row may have changed since it was fetched. @type {Set<number>} */
const stale = new Set()

let rowHeight = 24, height = 0, scale = 1

const lowest = () => Math.max(0, total * rowHeight - height)

/** Measures, and makes the scroll bar stand for all rows. */
function measure() {
  rowHeight = one(".names", grid).offsetHeight || 24
  height = Math.max(0, grid.clientHeight - rowHeight)
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

grid.addEventListener("scroll", () => {
  const at = grid.scrollTop, by = at - bar
  if (Math.abs(by) < 1) return
  bar = at
  // A wheel or a finger moves by what is seen, not by the scaled picture of it.
  const fine = scale > 1 && Math.abs(by) < 2 * height
  top = Math.max(0, Math.min(lowest(), fine ? top + by : at * scale))
  if (fine) {
    clearTimeout(settling)
    settling = setTimeout(() => moveTo(top), at < 1 || at > tallest - height - 1 ? 0 : 150)
  }
  follow(top >= lowest() - rowHeight / 2)
  paintSoon()
}, { passive: true })

/** @param {boolean} on */
function follow(on) {
  if (on !== following) {
    following = on
    left = total
    $("following").textContent = on ? "following" : "not following"
  }
  newer.hidden = following || total <= left
  newer.textContent = `${grouped(total - left)} new ↓`
}

function toEnd() {
  follow(true)
  moveTo(lowest())
}

newer.addEventListener("click", () => {
  toEnd()
  grid.focus()
})

/** Called when the log has grown. @param {number} n frames in all */
export function grown(n) {
  if (n === frames) return
  frames = n
  $("frames").textContent = grouped(n)
  resize(n - since)
}

/** @param {number} n rows of the view */
function resize(n) {
  total = Math.max(0, n)
  grid.ariaRowCount = total
  grid.style.setProperty("--seq", Math.max(3, String(frames).length) * 0.47 + 0.1 + "rem")
  $("view-status").textContent = since ? `${grouped(total)} since cleared` : ""
  // What waited for an answer may have it now.
  for (const [i, row] of rows) if (row.classList.contains("pending")) stale.add(i)
  measure()
  follow(following)
  moveTo(following ? lowest() : top)
}

/** Fetches the rows in sight again, and others when they come into it. */
export function refreshRows() {
  for (const i of rows.keys()) stale.add(i)
  paintSoon()
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

function paint() {
  painting = 0
  const [first, end] = sight(), shown = []
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
  tick()
  fetchRows()
}

/** What stands for a row that is on its way. @param {number} i */
function blank(i) {
  const row = document.createElement("div")
  Object.assign(row, { className: "row blank", role: "row", ariaRowIndex: String(i + 1), ariaBusy: "true" })
  return row
}

/** @type {{from: number, end: number, control: AbortController} | undefined} */
let asking

/** Fetches what is in sight or nearly, and not there yet. */
async function fetchRows() {
  const [first, end] = sight(), page = end - first
  if (asking && asking.from < end && asking.end > first) return
  asking?.control.abort()
  asking = undefined
  const lacks = (/** @type {number} */ i) => !rows.has(i) || stale.has(i)
  let from = Math.max(0, first - page), to = Math.min(total, end + page)
  while (from < to && !lacks(from)) from++
  while (to > from && !lacks(to - 1)) to--
  // What is more than half a window away can wait for more to be lacking.
  if (from >= to || from >= end + page / 2 || to <= first - page / 2) return
  const control = new AbortController(), view = since
  asking = { from, end: to, control }
  const answer = await drawn(`/wire/rows?from=${from}&count=${to - from}&since=${since}`, control.signal)
  if (asking?.control !== control) return
  asking = undefined
  if (!answer || view !== since) return
  let i = from
  for (const row of [...parse(answer.html).children]) {
    rows.set(i, /** @type {HTMLElement} */ (row))
    stale.delete(i++)
  }
  if (i === from) return
  if (rows.size > most) for (const i of rows.keys()) if (Math.abs(i - first) > most / 2) rows.delete(i)
  paintSoon()
}

new ResizeObserver(() => {
  measure()
  moveTo(following ? lowest() : top)
}).observe(grid)

// Choosing a row

/** Brings a row into sight. @param {number} i */
function reveal(i) {
  const at = i * rowHeight
  moveTo(Math.min(at, Math.max(top, at + rowHeight - height)))
}

/** @param {number} i */
function select(i) {
  if (!total) return
  selected = Math.max(0, Math.min(total - 1, i))
  follow(following && selected === total - 1)
  reveal(selected)
  if (!detail.hidden) openSoon()
}

grid.addEventListener("click", (/** @type {Event} */ e) => {
  const row = near(e.target, ".window > .row")
  if (!row) return
  select(row.ariaRowIndex - 1)
  openDetail()
})

grid.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
  if (!bare(e)) return
  const page = Math.max(1, Math.floor(height / rowHeight) - 1)
  const at = selected < 0 ? sight()[1] : selected
  const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: total - 1 }[e.key]
  if (to !== undefined) select(to)
  if (e.key === "End") toEnd()
  else if (e.key === "Enter" && selected >= 0) openDetail().then(() => one("[aria-selected=true]", detail)?.focus())
  else if (e.key === "Escape" && !detail.hidden) closeDetail()
  else if (to === undefined) return
  e.preventDefault()
})

/** Shows one frame in the log. @param {number} seq */
export function showFrame(seq) {
  if (seq <= since) showFrom(0)
  const i = seq - since - 1
  if (i >= total) return notice("That frame is not in the log.", 4)
  follow(false)
  moveTo(i * rowHeight - height / 3)
  select(i)
  openDetail()
  grid.focus({ preventScroll: true })
}

// The frame under the grid

let face = "", openingSoon = 0
/** @type {AbortController | undefined} */
let opening

function openSoon() {
  clearTimeout(openingSoon)
  openingSoon = setTimeout(openDetail, 80)
}

async function openDetail() {
  clearTimeout(openingSoon)
  opening?.abort()
  opening = new AbortController()
  const answer = await drawn(`/wire/frames/${since + selected + 1}`, opening.signal)
  if (!answer) return
  detail.replaceChildren(parse(answer.html))
  if ($(face)) choose($(face))
  if (!detail.hidden) return
  detail.hidden = splitter.hidden = false
  measure()
  if (following) moveTo(lowest())
  else reveal(selected)
}

function closeDetail() {
  detail.hidden = splitter.hidden = true
  detail.replaceChildren()
  grid.focus({ preventScroll: true })
}

detail.addEventListener("chosen", (/** @type {any} */ e) => { face = e.target.id })
detail.addEventListener("click", (/** @type {Event} */ e) => { if (near(e.target, "#detail-close")) closeDetail() })
detail.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
  if (e.key !== "Escape" || e.defaultPrevented) return
  e.preventDefault()
  closeDetail()
})

// Clearing the view hides what was; nothing is lost

/** @param {number} seq */
function showFrom(seq) {
  since = seq
  selected = -1
  rows.clear()
  stale.clear()
  $("clear").textContent = since ? "Show all" : "Clear view"
  resize(frames - since)
  toEnd()
}

$("clear").addEventListener("click", () => {
  showFrom(since ? 0 : frames)
  announce(since ? "The view is cleared. The log keeps every frame." : "All frames are shown.")
})

resize(total)
