// @ts-check
/**
 * Changes of the page, whether pushed or answered. What changes is changed in
 * place, so that nothing is taken from the person: not the focus, not a press
 * of a button half done, not the selection, not text that the server has not
 * seen yet, not what is unfolded or scrolled to.
 */
import { $, all, near, one } from "./dom.js"
import { setLines } from "./fields.js"

/** @typedef {{op: "replace" | "append" | "remove", target: string, html?: string}} Change */

/** @type {(() => void)[]} */
const after = []

/** Runs fn now and after every set of changes. @param {() => void} fn */
export function whenChanged(fn) {
  after.push(fn)
  fn()
}

/** Forms with input that the server has not confirmed. @type {WeakSet<Element>} */
export const unsaved = new WeakSet()

/** Lists of which the page itself fetches the items in sight. @type {WeakSet<Element>} */
export const windows = new WeakSet()

/**
 * @param {Change[]} changes
 * @param {boolean} [answered] the server has seen what was typed: what it says of it counts
 */
export function apply(changes, answered) {
  for (const { op, target, html } of changes) {
    const old = $(target)
    if (!old) continue
    if (op === "remove") {
      old.remove()
      continue
    }
    const fresh = parse(html ?? "").firstElementChild
    if (!fresh) continue
    const twin = op === "append" ? $(fresh.id) : old
    if (twin) update(twin, fresh, answered)
    else old.append(fresh)
  }
  // What was pushed is on the page first; what follows from it comes as soon as
  // the browser is free, in the background too, where no frame would come.
  if (answered) settle()
  else settling ||= setTimeout(settle)
}

/** The push that last drew each element, by its id. @type {Map<string, number>} */
const drawnBy = new Map()

/** Applies what was pushed. @param {number} seq @param {Change[]} changes */
export function applyPush(seq, changes) {
  for (const { target } of changes) drawnBy.set(target, seq)
  apply(changes)
}

/**
 * Tells whether a push has drawn an element later than an answer did, be it that
 * the element was not on the page then.
 * @param {string} target @param {number} next the first push that may be later
 */
export const overtaken = (target, next) => next <= (drawnBy.get(target) ?? 0)

let settling = 0

/** Does what follows from changes. */
function settle() {
  clearTimeout(settling)
  settling = 0
  for (const fn of after) fn()
}

/** @param {string} html */
export function parse(html) {
  const template = document.createElement("template")
  template.innerHTML = html
  return template.content
}

/** @param {any} old @param {any} fresh @param {boolean} [answered] */
function update(old, fresh, answered) {
  for (const box of all(".several:checked", old)) {
    const again = one(`#${one("textarea", near(box, ".field")).id}`, fresh)
    if (again) setLines(one(".several", near(again, ".field")), true)
  }
  morph(old, fresh)
  if (answered) for (const form of [near(old, "form"), ...all("form", old)]) if (form && !unsaved.has(form)) form.reset()
}

/**
 * Makes old what fresh is, and keeps every element that comes again.
 * @param {any} old @param {any} fresh
 */
function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return
  if (!alike(old, fresh)) return old.replaceWith(fresh)
  if (old.nodeType === Node.TEXT_NODE) {
    old.data = fresh.data
    return
  }
  if (windows.has(old)) return old.setAttribute("data-total", fresh.dataset.total)
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !own(old, name)) old.removeAttribute(name)
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value && !own(old, name)) old.setAttribute(name, value)
  if (old.matches(".picks, .chosen") || old.matches(".kept") && !fresh.firstChild || old.matches(".data") && unsaved.has(near(old, "form"))) return

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

/** What tells a node from its siblings; "" if nothing does. @param {any} n */
const key = n => n.id || n.dataset?.item || n.getAttribute?.("name") && `${n.getAttribute("name")}=${n.getAttribute("value")}${n.dataset.force ?? ""}` || ""

/** @param {any} a @param {any} b */
const alike = (a, b) => a.nodeName === b.nodeName && key(a) === key(b)

/** Tells whether an attribute is this page's own business. @param {Element} e @param {string} name */
const own = (e, name) => name === "open" || e.role === "tabpanel" && name === "hidden"
  || e.matches("[role=tab]:not([data-to])") && /^(aria-selected|tabindex)$/.test(name)
  || name === "hidden" && e.matches(".remembered")
  || name === "aria-expanded" && e.matches("[data-findings], #earlier") || name === "aria-busy"
  || e.matches(".picks, .picker > input") && /^(hidden|aria-(expanded|activedescendant))$/.test(name)

/**
 * Asks the server; trouble is shown over the columns.
 * @param {string} url @param {RequestInit} [init]
 */
async function ask(url, init) {
  try {
    const response = await fetch(url, init)
    const { ok, status, headers } = response
    const json = headers.get("Content-Type")?.startsWith("application/json")
    const body = json ? await response.json() : await response.text()
    if (!ok && !json) notice(`${body || response.statusText} (${status})`)
    return { ok, status, headers, body }
  } catch (e) {
    if (!(e instanceof DOMException && e.name === "AbortError")) notice("The inspector did not answer. It may have been stopped.")
    return { ok: false, status: 0, headers: new Headers(), body: null }
  }
}

/**
 * Sends what a person did, and applies what became of it.
 * @param {string} url @param {URLSearchParams} [body] @param {RequestInit} [init]
 * @returns {Promise<{ok: boolean, status: number, call?: number, next?: number}>}
 */
export async function post(url, body, init) {
  const { ok, status, body: answer } = await ask(url, { method: "POST", body, ...init })
  // A push may have overtaken the answer: then it shows the later state.
  if (answer?.changes) apply(answer.changes.filter((/** @type {Change} */ c) => !overtaken(c.target, answer.next)), true)
  return { ok, status, call: answer?.call, next: answer?.next }
}

/** Fetches what is drawn at an address; null if that failed. @param {string} url @param {AbortSignal} [signal] */
export async function drawn(url, signal) {
  const { ok, body, headers } = await ask(url, { signal })
  return ok ? { html: body, headers } : null
}

let clearing = 0

/** Shows trouble over the columns, until the next one or for a while. @param {string} text @param {number} [seconds] 0: until it is taken back */
export function notice(text, seconds = 12) {
  clearTimeout(clearing)
  $("notice").textContent = text
  if (text && seconds) clearing = setTimeout(notice, 1000 * seconds, "")
}

/** Has a screen reader say something when it next pauses. @param {string} text */
export function announce(text) {
  const to = $("announce")
  to.textContent = to.textContent === text ? text + "\u00a0" : text
}
