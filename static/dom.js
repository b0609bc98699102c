// @ts-check
/** Short ways to find elements, and to focus them. What is found is taken to be an HTML element. */

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

/** Tells whether a key was pressed alone. @param {KeyboardEvent} e */
export const bare = e => !(e.ctrlKey || e.metaKey || e.altKey)

/** Remembers a setting of this browser, where it can. @param {string} name @param {string} value */
export function remember(name, value) {
  try {
    localStorage.setItem(name, value)
  } catch { /* no storage: it holds for this page only */ }
}

/** @param {string} name */
export function remembered(name) {
  try {
    return localStorage.getItem(name) ?? ""
  } catch {
    return ""
  }
}

/** A whole number with its digits in groups of three. @param {number} n */
export const grouped = n => n.toLocaleString("en").replaceAll(",", "\u202f")

/** @param {Element | null} control a control, or a group of them */
export function focusField(control) {
  const group = control?.matches("[role=radiogroup], [role=group]")
  const to = group ? one("input:checked", control) ?? one("input", control) : control
  to?.focus()
}

/** Focuses the first field in root, or else what stands in for it. @param {Element} root @param {any} otherwise */
export function focusFirst(root, otherwise) {
  const first = all(".field :is(input, textarea, select):not(.data, .toggle *)", root).find(e => e.checkVisibility())
  focusField(near(first, "[role=radiogroup], [role=group]") ?? first ?? otherwise)
}
