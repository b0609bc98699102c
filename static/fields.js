// @ts-check
/** Helpers of fields, in every form: several lines, and picking a date and time. */
import { notice } from "./ask.js"
import { setLines } from "./changes.js"
import { all, near, on, one } from "./dom.js"

on("change", e => {
  const box = near(e.target, ".several")
  if (box && !setLines(box, box.checked)) notice("The text has line breaks, which a single line cannot hold.", 4)
})

// Picking a date and time

const odd = [-9.5, -3.5, -2.5, 3.5, 4.5, 5.5, 5.75, 6.5, 8.75, 9.5, 10.5, 12.75]
const offsets = [...Array.from({ length: 27 }, (_, i) => i - 12), ...odd].sort((a, b) => a - b).map(h => offset(60 * h))

/** Formats an offset from UTC for RFC 3339. @param {number} minutes */
function offset(minutes) {
  const m = Math.abs(minutes), two = (/** @type {number} */ n) => String(Math.floor(n)).padStart(2, "0")
  return minutes ? `${minutes < 0 ? "-" : "+"}${two(m / 60)}:${two(m % 60)}` : "Z"
}

/** @param {Event} e */
function helper(e) {
  const root = near(e.target, ".helper")
  return { root, when: one("[type=datetime-local]", root), zone: one("select", root), text: one("input[id][name]", near(root, ".field")) }
}

on("toggle", e => {
  const { root, when, zone, text } = helper(e)
  if (!root?.open) return
  const [, local, given] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/i.exec(text.value) ?? []
  const chosen = given?.toUpperCase() ?? offset(-new Date().getTimezoneOffset())
  zone.replaceChildren(...new Set([...offsets, chosen].map(t => new Option(t === "Z" ? "Z (UTC)" : t, t, false, t === chosen))))
  if (local) when.value = local
}, true)

on("input", e => {
  const { when, zone, text } = helper(e)
  if (when?.value) text.value = (when.value.length === 16 ? when.value + ":00" : when.value) + zone.value
}, true)
