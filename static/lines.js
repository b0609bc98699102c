// @ts-check
/** A text box of one line or of several, as the person likes. */
import { notice } from "./changes.js"
import { near, on, one } from "./dom.js"

/** @param {any} box the check box @param {boolean} many */
export function setLines(box, many) {
  const old = one("input[placeholder], textarea", near(box, ".field"))
  box.checked = many || old.value.includes("\n")
  if (box.checked !== many) return notice("The text has several lines.", 4)
  if (many === (old.localName === "textarea")) return
  const fresh = /** @type {any} */ (document.createElement(many ? "textarea" : "input"))
  for (const { name, value } of old.attributes) if (name !== "type" && name !== "value") fresh.setAttribute(name, value)
  fresh.rows = 4
  fresh.defaultValue = old.defaultValue
  fresh.value = old.value
  old.replaceWith(fresh)
}

on("change", e => {
  const box = near(e.target, ".several")
  if (box) setLines(box, box.checked)
})
