// @ts-check
/**
 * Changes of the page. The server draws and pushes changed elements. They are
 * changed in place, so that the person keeps the focus, a half-done press of a
 * button, the selection, typed text, unfolded parts and scroll positions.
 */
import { drawn, post } from "./ask.js"
import { tick } from "./clock.js"
import { $, all, near, one } from "./dom.js"

/**
 * The new HTML of an element. If the page does not have it, it is added in or
 * beside the element at; without html it is removed.
 * @typedef {{id: string, html?: string, op?: "append" | "prepend" | "after", at?: string}} Change
 */

/** Forms with input that updates must keep. @type {WeakSet<Element>} */
export const typed = new WeakSet()

/** @type {(() => void)[]} */
const after = []

/** Runs fn now and after every set of changes. @param {() => void} fn @param {boolean} [first] before what measures the page */
export function whenChanged(fn, first) {
  first ? after.unshift(fn) : after.push(fn)
  fn()
}

let settling = 0

/**
 * Calls the functions of whenChanged after the changes, as soon as the browser is
 * free. A timer also works in background tabs, which draw no frames.
 */
export function settle() {
  settling ||= setTimeout(settled)
}

function settled() {
  clearTimeout(settling)
  settling = 0
  for (const fn of after) fn()
}

/** How many requests run whose response may be older than pushes that arrive meanwhile. */
let asking = 0
/** The pushes that arrived during these requests. @type {Change[][]} */
const held = []
/** Called when a push arrives during these requests. */
let pushed = () => {}

/** Draws pushed changes. @param {Change[]} changes */
export function push(changes) {
  if (asking) {
    held.push(changes)
    return pushed()
  }
  for (const change of changes) apply(change)
  settle()
}

/**
 * Draws a response, and then the pushes since the request.
 * @template A, T
 * @param {Promise<A>} answer
 * @param {(answer: A) => T} draw
 */
async function drawInTurn(answer, draw) {
  asking++
  try {
    return draw(await answer)
  } finally {
    if (!--asking) held.splice(0).forEach(push)
    settle()
  }
}

/**
 * Fetches a part of the page that pushes also change, and draws it.
 * @template T
 * @param {string} url
 * @param {(answer: {html: string, headers: Headers}) => T} draw
 * @param {AbortSignal} [signal]
 * @returns {Promise<T | undefined>} what draw returns; undefined on failure
 */
export function fetched(url, draw, signal) {
  const late = AbortSignal.timeout(20_000)
  return drawInTurn(drawn(url, signal ? AbortSignal.any([signal, late]) : late), answer => answer ? draw(answer) : undefined)
}

/** Draws all live parts anew; undefined on failure. @returns {Promise<number | undefined>} the last push that they contain */
export const redraw = () => fetched("/" + location.search, ({ html }) => {
  const page = new DOMParser().parseFromString(html, "text/html")
  tick(page)
  for (const part of all("[data-live]", page)) update($(part.id), part)
  document.dispatchEvent(new Event("redrawn"))
  return Number(page.documentElement.dataset.seq)
})

/** @param {Change} change */
function apply({ id, html, op, at }) {
  const old = $(id)
  if (!html) return old?.remove()
  const fresh = parse(html).firstElementChild
  if (old) update(old, fresh)
  else if (op && at && fresh) $(at)?.[op](fresh)
}

/**
 * Sends a form, and draws the elements in the response: the form, or the call that
 * was made with it.
 * @param {string} url @param {URLSearchParams | FormData} body @param {RequestInit} [init]
 */
export async function send(url, body, init) {
  const answer = await drawInTurn(answered(url, body, init), answer => {
    for (const fresh of answer.elements) if ($(fresh.id)) update($(fresh.id), fresh)
    return answer
  })
  settled() // before it is painted: the person waits for it
  return answer
}

/** @param {string} url @param {URLSearchParams | FormData} body @param {RequestInit} [init] */
async function answered(url, body, init) {
  const answer = await post(url, body, { headers: { Accept: "text/html" }, ...init })
  const elements = answer.headers.get("Content-Type")?.startsWith("text/html") ? [...parse(answer.text).children] : []
  // Wait a moment for a call's first question, to draw both at once.
  if (elements[0]?.id === "call" && !held.length) await new Promise(done => setTimeout(pushed = () => done(0), 50))
  return { ...answer, elements }
}

/** @param {string} html */
export function parse(html) {
  const template = document.createElement("template")
  template.innerHTML = html
  tick(template.content)
  return template.content
}

/** @param {any} old @param {any} fresh */
export function update(old, fresh) {
  for (const box of all(".several:checked", old)) {
    const again = one(`#${one("textarea", near(box, ".field")).id}`, fresh)
    if (again) setLines(one(".several", near(again, ".field")), true)
  }
  morph(old, fresh)
  for (const form of [near(old, "form"), ...all("form", old)]) if (form && !typed.has(form)) form.reset()
}

/** Makes HTML the content of an element. @param {any} old @param {string} html */
export function drawInto(old, html) {
  const fresh = old.cloneNode()
  fresh.append(parse(html))
  update(old, fresh)
}

/**
 * Switches a text box between one line and several.
 * @param {any} box its check box @param {boolean} many
 * @returns {boolean} false if the text does not fit into one line
 */
export function setLines(box, many) {
  const old = one("input[placeholder], textarea", near(box, ".field"))
  box.checked = many || old.value.includes("\n")
  if (box.checked !== many) return false
  if (many === (old.localName === "textarea")) return true
  const fresh = /** @type {any} */ (document.createElement(many ? "textarea" : "input"))
  for (const { name, value } of old.attributes) if (name !== "type" && name !== "value") fresh.setAttribute(name, value)
  fresh.rows = 3
  fresh.defaultValue = old.defaultValue
  fresh.value = old.value
  old.replaceWith(fresh)
  return true
}

/**
 * Makes old equal to fresh, and keeps every element that both have.
 * @param {any} old @param {any} fresh
 */
function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return
  if (!alike(old, fresh)) return old.replaceWith(fresh)
  if (old.nodeType === Node.TEXT_NODE) {
    old.data = fresh.data
    return
  }
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !own(old, name)) old.removeAttribute(name)
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value && !own(old, name)) old.setAttribute(name, value)
  if (old.matches(".picks, .chosen") || old.matches(".kept") && !fresh.firstChild || old.matches(".data") && typed.has(near(old, "form"))) return

  const come = new Set([...fresh.childNodes].map(key))
  const there = new Map([...old.childNodes].map(n => [key(n), n]))
  let next = old.firstChild
  const skip = () => { next = next.nextSibling }
  for (const child of [...fresh.childNodes]) {
    while (next && key(next) && !come.has(key(next))) {
      const gone = next
      skip()
      gone.remove()
    }
    const k = key(child), twin = k ? there.get(k) : next && alike(next, child) ? next : null
    there.delete(k)
    if (!twin) old.insertBefore(child, next)
    else {
      if (twin === next) skip()
      else (old.moveBefore ?? old.insertBefore).call(old, twin, next)
      morph(twin, child)
    }
  }
  while (next) {
    const gone = next
    skip()
    gone.remove()
  }
}

/** Identifies a node among its siblings; "" if nothing does. @param {any} n */
const key = n => n.id || n.dataset?.item || n.getAttribute?.("name") && `${n.getAttribute("name")}=${n.getAttribute("value")}${n.dataset.force ?? ""}` || ""

/** @param {any} a @param {any} b */
const alike = (a, b) => a.nodeName === b.nodeName && key(a) === key(b)

/** Tells whether an attribute belongs to the scripts, not to the server. @param {Element} e @param {string} name */
const own = (e, name) => /^(style|open|aria-busy|aria-current)$/.test(name) || e.role === "tabpanel" && name === "hidden"
  || e.matches("[role=tab]:not([data-to])") && /^(aria-selected|tabindex)$/.test(name)
  || e.matches(".items") && name === "class"
  || e.matches(".remembered, .none") && name === "hidden"
  || e.matches("#search") && name === "placeholder"
  || e.matches(".item") && name === "tabindex"
  || e.matches("[data-source], #earlier") && name === "aria-expanded"
  || e.matches(".picks, .picker > input") && /^(hidden|aria-(expanded|activedescendant))$/.test(name)
