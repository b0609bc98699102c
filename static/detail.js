// @ts-check
/**
 * The frame under the grid: its tabs, its JSON as a tree, copying, the note, and
 * the comparison with another frame.
 */
import { inAddress, toAddress } from "./address.js"
import { announce, copied, drawn, notice, post } from "./ask.js"
import { parse } from "./changes.js"
import { $, all, bare, home, near, on, one } from "./dom.js"
import { choose } from "./panes.js"

const detail = $("detail"), splitter = $("split-detail"), compareBar = $("comparing")

/** The frame on show, 0 for none. */
let seq = 0
/** The id of the last chosen tab. */
let face = ""
/** The frame to compare the next chosen one with, 0 for none. */
let first = 0
/** @type {AbortController | undefined} */
let fetching

export const frameOnShow = () => seq

/** Tells whether the next chosen frame is for a comparison. */
export const comparing = () => !!first

/**
 * Shows a frame.
 * @param {number} n @param {{focus?: boolean, against?: number}} [how]
 */
export async function openFrame(n, { focus = false, against = 0 } = {}) {
  keepNote()
  fetching?.abort()
  const control = fetching = new AbortController()
  against ||= first !== n ? first : 0
  const answer = await drawn(`/wire/frames/${n}` + (against ? "?against=" + against : ""), control.signal)
  if (!answer || control.signal.aborted) return
  if (against) compareWith(0)
  detail.replaceChildren(parse(answer.html))
  // A comparison shows the later of the two frames.
  seq = Number(one(".detail-head", detail).dataset.seq)
  toAddress({ frame: String(seq) })
  if (against) choose($("detail-tab-compare"))
  else if ($(face)) choose($(face))
  if (detail.hidden) {
    detail.hidden = splitter.hidden = false
    detail.dispatchEvent(new Event("resized"))
  }
  if (focus) one("[role=tab][aria-selected=true]", detail)?.focus()
}

export function closeFrame() {
  keepNote()
  fetching?.abort()
  seq = 0
  toAddress({ frame: "" })
  detail.hidden = splitter.hidden = true
  detail.replaceChildren()
  detail.dispatchEvent(new Event("resized"))
  detail.dispatchEvent(new Event("closed"))
  $("grid").focus({ preventScroll: true })
}

// Remember only tabs that the person chose, not those that a comparison chose.
detail.addEventListener("chosen", (/** @type {any} */ e) => { if (e.target.matches(":focus, :active")) face = e.target.id })

detail.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
  if (e.key !== "Escape" || e.defaultPrevented || near(e.target, "[role=menu]")) return
  e.preventDefault()
  closeFrame()
})

detail.addEventListener("click", (/** @type {Event} */ e) => {
  const is = (/** @type {string} */ match) => near(e.target, match)
  const against = is("[data-against]"), show = is("[data-show]"), fold = is(".line"), more = is("button.more")
  if (is("#detail-close")) closeFrame()
  else if (is("#pin")) pin(is("#pin"))
  else if (is("[data-copy-as]")) copy(is("[data-copy-as]").dataset.copyAs)
  else if (is("#compare-with")) compareWith(seq)
  else if (against) openFrame(seq, { against: Number(against.dataset.against) })
  else if (show) reveal(show.dataset.show)
  else if (more) showMore(more)
  else if (fold) {
    const node = near(fold, ".node"), { left } = fold.getBoundingClientRect()
    select(node)
    // The mark that folds is in front of the line.
    if (node.ariaExpanded && !fold.matches(".end") && /** @type {MouseEvent} */ (e).clientX < left + 16) toggle(node)
  }
})

detail.addEventListener("dblclick", (/** @type {Event} */ e) => {
  const line = near(e.target, ".line:not(.end)"), node = near(line, ".node")
  if (!node?.ariaExpanded) return
  getSelection()?.empty()
  toggle(node)
})

// The tree of the JSON

const group = (/** @type {any} */ node) => one(":scope > [role=group]", node)
const parent = (/** @type {any} */ node) => near(node.parentElement, ".node")
/** The frame of a part of the detail. @param {any} e */
const frameOf = e => near(e, "[data-of]")?.dataset.of ?? seq

/** The names and indexes that lead from the root to a value. @param {any} node @returns {(string | number)[]} */
function steps(node) {
  const { name, index } = node.dataset, up = parent(node)
  if (!up) return []
  return [...steps(up), index === undefined ? name : Number(index)]
}

/** A JSON pointer (RFC 6901). @param {(string | number)[]} steps */
const pointer = steps => steps.map(s => "/" + String(s).replaceAll("~", "~0").replaceAll("/", "~1")).join("")

/** A JSONPath (RFC 9535). @param {(string | number)[]} steps */
const path = steps => "$" + steps.map(s => typeof s === "number" ? `[${s}]` : /^[\p{L}_][\p{L}\p{N}_]*$/u.test(s) ? "." + s
  : `['${JSON.stringify(s).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}']`).join("")

/** @param {any} node */
function select(node) {
  const tree = near(node, ".tree")
  for (const old of all("[tabindex='0'], [aria-selected=true]", tree)) {
    old.tabIndex = -1
    old.ariaSelected = null
  }
  node.tabIndex = 0
  node.ariaSelected = "true"
  node.focus({ preventScroll: true })
  one(".line", node).scrollIntoView({ block: "nearest" })
}

/** @param {any} node @param {boolean} [open] */
async function toggle(node, open = node.ariaExpanded === "false") {
  if (open && !group(node).childElementCount) await load(node, 0)
  node.ariaExpanded = String(open)
}

/** Fetches the inside of a value. @param {any} node @param {number} from first member or element */
async function load(node, from) {
  const query = new URLSearchParams({ at: pointer(steps(node)), from: String(from), level: node.ariaLevel })
  const answer = await drawn(`/wire/frames/${frameOf(node)}/nodes?` + query)
  if (!answer || !node.isConnected) return
  one(":scope > .more", group(node))?.remove()
  group(node).append(parse(answer.html))
}

/** Shows more of a cut text or list. @param {any} button */
async function showMore(button) {
  const { more, string, raw } = button.dataset
  if (button.ariaBusy) return
  button.ariaBusy = "true"
  if (more) {
    const node = near(button, ".node"), last = button.previousElementSibling
    await load(node, Number(more))
    const next = last?.nextElementSibling
    if (next?.matches(".node")) select(next)
    return
  }
  const query = new URLSearchParams({ from: string ?? raw })
  if (string) query.set("at", pointer(steps(near(button, ".node"))))
  const answer = await drawn(`/wire/frames/${frameOf(button)}/${string ? "string" : "more"}?` + query)
  button.ariaBusy = null
  if (!answer || !button.isConnected) return
  const fresh = parse(answer.html), next = one("button.more", fresh)
  if (button.nextElementSibling?.matches(".left")) button.nextElementSibling.remove()
  button.replaceWith(fresh)
  next?.focus({ preventScroll: true })
}

/** Shows the value at a JSON pointer. @param {string} to */
async function reveal(to) {
  if (!$("detail-tab-pretty")) return
  choose($("detail-tab-pretty"))
  let node = one("#detail-pretty .tree > .node")
  for (const step of to.split("/").slice(1).map(s => s.replaceAll("~1", "/").replaceAll("~0", "~"))) {
    if (!node.ariaExpanded) break
    await toggle(node, true)
    const child = () => [...group(node).children].find(e => e.dataset.name === step || e.dataset.index === step)
    while (!child() && one(":scope > .more", group(node))) await showMore(one(":scope > .more", group(node)))
    if (!child()) break
    node = child()
  }
  select(node)
  one(".line", node).scrollIntoView({ block: "center" })
}

/** The last value in sight inside of a node. @param {any} node @returns {any} */
function last(node) {
  const inside = node.ariaExpanded === "true" && all(":scope > .node", group(node)).at(-1)
  return inside ? last(inside) : node
}

detail.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
  const node = /** @type {any} */ (e.target)
  if (!node.matches(".node") || !bare(e)) return
  const folds = !!node.ariaExpanded, open = node.ariaExpanded === "true", up = parent(node)
  const sibling = (/** @type {any} */ n, /** @type {string} */ which) => n[which]?.matches(".node") ? n[which] : null
  /** @param {any} n @returns {any} */
  const after = n => n && (sibling(n, "nextElementSibling") ?? after(parent(n)))
  const before = sibling(node, "previousElementSibling")
  const inside = open ? one(":scope > .node", group(node)) : null
  const root = near(node, ".tree").firstElementChild
  let to = node
  if (e.key === "ArrowDown") to = inside ?? after(node)
  else if (e.key === "ArrowUp") to = before ? last(before) : up
  else if (e.key === "ArrowRight" && folds && !open) toggle(node, true)
  else if (e.key === "ArrowRight") to = inside
  else if (e.key === "ArrowLeft" && open) toggle(node, false)
  else if (e.key === "ArrowLeft") to = up
  else if (e.key === "Home") to = root
  else if (e.key === "End") to = last(root)
  else if ((e.key === "Enter" || e.key === " ") && folds) toggle(node)
  else if ((e.key === "Enter" || e.key === " ") && one(":scope > .line > .more", node)) showMore(one(":scope > .line > .more", node))
  else return
  e.preventDefault()
  if (to && to !== node) select(to)
})

// Copying

detail.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
  if (!near(e.target, "[role=menuitem]") || e.key !== "Tab") return
  e.preventDefault()
  leaveMenu()
})

function leaveMenu() {
  $("copy-menu").hidePopover()
  $("copy").focus()
}

/** @param {string} what */
async function copy(what) {
  leaveMenu()
  if (what === "link") return put(home + "/?" + new URLSearchParams({ ...inAddress("filter") && { filter: inAddress("filter") }, frame: String(seq) }), "The link")
  if (what === "path") {
    const chosen = one("#detail-pretty [aria-selected=true]", detail), way = path(chosen ? steps(chosen) : [])
    return put(way, way)
  }
  const answer = await drawn(`/wire/frames/${seq}/copy/${what}`)
  if (answer) put(answer.html, { raw: "The frame", pretty: "The frame", line: "The line", curl: "The command", "curl?secrets=1": "The command, with its secrets," }[what] ?? "It")
}

/** @param {string} text @param {string} words what it is */
async function put(text, words) {
  if (!await copied(text)) return
  notice("")
  say(words + " is copied.")
}

let saying = 0

/** Shows for a moment what was done. @param {string} text */
function say(text) {
  announce(text)
  const button = $("copy")
  if (!button) return
  clearTimeout(saying)
  button.textContent = "Copied"
  saying = setTimeout(() => { button.textContent = "Copy" }, 1500)
}

// Pinning and noting

/** Sends the pin, colour and note of the frame on show. */
function mark() {
  const form = one("#noting", detail)
  if (!form) return
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form)))
  if ($("pin").ariaPressed === "true") body.set("pinned", "1")
  const text = body.get("note")?.trim() ?? "", noted = $("noted")
  noted.textContent = text
  noted.hidden = !text
  $("note-text").defaultValue = $("note-text").value
  post(`/wire/frames/${seq}/mark`, body)
}

/** @param {any} button */
function pin(button) {
  button.ariaPressed = String(button.ariaPressed !== "true")
  announce(button.ariaPressed === "true" ? "Pinned." : "No longer pinned.")
  mark()
}

/** Sends a note that is still being written. */
function keepNote() {
  const text = $("note-text")
  if (seq && text && text.value !== text.defaultValue) mark()
}

detail.addEventListener("change", (/** @type {Event} */ e) => { if (near(e.target, "#noting")) mark() })
detail.addEventListener("submit", (/** @type {Event} */ e) => e.preventDefault())
addEventListener("pagehide", keepNote)
on("visibilitychange", keepNote)

// Comparing

/** @param {number} n the frame to compare the next chosen one with, 0 for none */
function compareWith(n) {
  first = n
  compareBar.hidden = !n
  one("span", compareBar).textContent = `Choose the frame to compare #${n} with.`
  if (!n) return
  announce(one("span", compareBar).textContent)
  $("grid").focus({ preventScroll: true })
}

one("button", compareBar).addEventListener("click", () => {
  compareWith(0)
  $("grid").focus({ preventScroll: true })
})
