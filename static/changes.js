// @ts-check
/**
 * Changes of the page, whether pushed or answered: swapping elements without
 * taking anything from the person: not the focus, not the selection, not text
 * that the server has not seen yet, not what is unfolded.
 */
import { $, all, one } from "./dom.js"
import { choose } from "./tabs.js"

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

/** @param {Change[]} changes */
export function apply(changes) {
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
    if (twin) swap(twin, fresh)
    else old.append(fresh)
  }
  for (const fn of after) fn()
}

/** @param {string} html */
export function parse(html) {
  const template = document.createElement("template")
  template.innerHTML = html
  return template.content
}

const scrollers = ".shelf, .message, .code, .words, .timeline ol"

/** @param {Element} old @param {any} fresh */
function swap(old, fresh) {
  const active = /** @type {any} */ (document.activeElement)
  const place = old.contains(active) ? address(active) : ""
  const range = place ? [active.selectionStart, active.selectionEnd] : []
  const open = ids(old, "details[open]"), popped = ids(old, ":popover-open"), several = ids(old, ".field:has(.several:checked) textarea")
  const tabs = ids(old, "[role=tab][aria-selected=true]:not([data-to])")
  const scrolled = all(scrollers, old).map(e => e.scrollTop)
  const forms = all("form", old).filter(f => unsaved.has(f))

  old.replaceWith(fresh)

  for (const e of open) e().open = true
  for (const e of popped) e().showPopover?.({ source: one(`[popovertarget="${e().id}"]`) })
  for (const e of tabs) if (e().ariaSelected === "false") choose(e())
  for (const e of several) e().dispatchEvent(new Event("several", { bubbles: true }))
  for (const e of all("input[id]:not(form *)", old)) if ($(e.id)) $(e.id).value = e.value
  for (const form of forms) carryOver(form, fresh)
  all(scrollers, fresh).forEach((e, i) => { if (scrolled[i]) e.scrollTop = scrolled[i] })

  const again = place && (fresh.matches(place) ? fresh : one(place, fresh))
  if (!again) return
  again.focus({ preventScroll: true })
  if (typeof range[0] === "number") again.setSelectionRange?.(...range)
}

/**
 * Those of the elements in root that match and come again: what finds the new one.
 * @param {Element} root @param {string} match
 */
function ids(root, match) {
  return [...root.matches(match) ? [root] : [], ...all(match, root)].filter(e => e.id).map(({ id }) => () => $(id) ?? document.createElement("p"))
}

/** A selector that finds the same control in another drawing. @param {Element} e */
function address(e) {
  if (e.id) return "#" + CSS.escape(e.id)
  if (e.localName === "summary") return `#${CSS.escape(e.parentElement?.id ?? "")} > summary`
  return e.localName + [...e.attributes].filter(a => /^(name|value|data-.*)$/.test(a.name)).map(a => `[${a.name}="${CSS.escape(a.value)}"]`).join("")
}

/** Copies what was entered and not yet saved into a new drawing of its form. @param {HTMLFormElement} old @param {Element} root */
function carryOver(old, root) {
  const form = root.id === old.id ? root : one("#" + CSS.escape(old.id), root)
  if (!form) return
  const key = (/** @type {any} */ e) => e.name + (/radio|checkbox/.test(e.type) ? "=" + e.value : "")
  const before = new Map([...old.elements].map(e => [key(e), e]))
  for (const e of form.elements) {
    const was = before.get(key(e))
    if (!was || !e.name || e.type === "hidden" || e.type === "submit") continue
    if (e.options) [...e.options].forEach((o, i) => { o.selected = was.options?.[i]?.selected })
    else if (/radio|checkbox/.test(e.type)) e.checked = was.checked
    else e.value = was.value
  }
  form.dispatchEvent(new Event("input", { bubbles: true }))
}

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
 * @param {string} url @param {URLSearchParams} [body] @param {AbortSignal} [signal]
 * @returns {Promise<{ok: boolean, status: number, call?: number}>}
 */
export async function post(url, body, signal) {
  const { ok, status, body: answer } = await ask(url, { method: "POST", body, signal })
  if (answer?.changes) apply(answer.changes)
  return { ok, status, call: answer?.call }
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
