// @ts-check
/** The controls of a field: a text box of one line or of several, and where the focus goes. */
import { all, near, one } from "./dom.js"

/**
 * Makes a text box one of several lines, or of one.
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
  fresh.rows = 4
  fresh.defaultValue = old.defaultValue
  fresh.value = old.value
  old.replaceWith(fresh)
  return true
}

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
