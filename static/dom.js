// @ts-check
/** Helpers to find and focus elements. They take found elements as HTML elements. */

/** @param {string} id @returns {any} the element, which is on every page */
export const $ = id => document.getElementById(id)

/** @param {string} match @param {ParentNode | null} [root] @returns {any} null if there is none */
export const one = (match, root = document) => root?.querySelector(match) ?? null

/** @param {string} match @param {ParentNode | null} [root] @returns {any[]} */
export const all = (match, root = document) => [...root?.querySelectorAll(match) ?? []]

/** @param {EventTarget | null} t @param {string} match @returns {any} the element or the nearest around it; null if there is none */
export const near = (t, match) => t instanceof Element ? t.closest(match) : null

/** @param {string} type @param {(e: any) => void} fn @param {boolean | AddEventListenerOptions} [options] */
export const on = (type, fn, options) => document.addEventListener(type, fn, options)

/** Tells whether a key was pressed without Ctrl, Meta and Alt. @param {KeyboardEvent} e */
export const bare = e => !(e.ctrlKey || e.metaKey || e.altKey)

/** Tells whether a key may be a shortcut of the page: it is bare, nothing has used it, and it types no text. @param {any} e */
export const isShortcut = e => bare(e) && !e.defaultPrevented && !e.target.matches("input:not([type=radio], [type=checkbox]), textarea, select")

const domain = ".inspector.localhost", isOwn = location.hostname.endsWith(domain)

/** The origin for links: the page's own host is another one in each run. */
export const home = isOwn ? `http://127.0.0.1:${location.port || 80}` : location.origin

/** The settings in this browser, by the names of their cookies. @type {Map<string, string>} */
const settings = new Map(document.cookie.split("; ").map(c => /** @type {any} */ (c.split("=", 2))))

/** @param {string} name */
const cookie = name => "inspector_" + encodeURIComponent(name)

/** Stores a setting in this browser, for later runs too. @param {string} name @param {string} value which needs no escapes */
export function remember(name, value) {
  settings.set(cookie(name), value)
  document.cookie = `${cookie(name)}=${value}; Path=/; SameSite=Strict; Max-Age=${value ? 31536000 : 0}${isOwn ? "; Domain=" + domain : ""}`
}

/** @param {string} name */
export const remembered = name => settings.get(cookie(name)) ?? ""

/** Formats a whole number with its digits in groups of three. @param {number} n */
export const grouped = n => n.toLocaleString("en").replaceAll(",", "\u202f")

/** Draws the eye to an element for a moment. @param {Element} e */
export function pulse(e) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return
  const outlineOffset = "-2px"
  e.animate([{ outline: "2px solid var(--accent)", outlineOffset, easing: "ease-out" }, { outline: "2px solid transparent", outlineOffset }], 1200)
}

/** @param {Element | null} control a control, or a group of them */
export function focusField(control) {
  const group = control?.matches("[role=radiogroup], [role=group]")
  const to = group ? one("input:checked", control) ?? one("input", control) : control
  to?.focus()
  uncover(to)
}

/** Scrolls a field out from under the bar of answers, which sticks to the edge of the pane. @param {any} control */
export function uncover(control) {
  const field = near(control, ".field"), foot = one(".foot", near(field, ".card, .question"))
  const over = foot && field.getBoundingClientRect().bottom - foot.getBoundingClientRect().top
  if (over > 0 && !control.matches(":active")) $("work").scrollTop += over + 8
}

/** Focuses the first field in root, or else another element. @param {Element} root @param {any} [otherwise] */
export function focusFirst(root, otherwise) {
  const first = all(".field :is(input, textarea, select):not(.data, .toggle *)", root).find(e => e.checkVisibility())
  focusField(near(first, "[role=radiogroup], [role=group]") ?? first ?? otherwise)
}

/** Fetches the sheet of the panels that are opened later, which stands after the one at the end of the page. */
export const sheet = () => new Promise(done => document.body.append(
  Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/check.css", onload: done, onerror: done }),
))
