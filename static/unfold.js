// @ts-check
/** What is fetched when somebody unfolds it, and again when there is another version of it. */
import { drawn } from "./ask.js"
import { parse, update, whenChanged } from "./changes.js"
import { $, all, near, on } from "./dom.js"

/** The version that was fetched last, by the id of the element that it is drawn in. @type {Map<string, string>} */
const fetched = new Map()

const isOpen = (/** @type {any} */ e) => e.localName === "details" ? e.open : e.ariaExpanded === "true"

/** @param {any} e what unfolds */
async function fill(e) {
  const { source, into, version } = e.dataset
  fetched.set(into, version)
  const answer = await drawn(source), old = $(into)
  if (!answer || !old || !isOpen(e)) return
  const fresh = old.cloneNode()
  fresh.append(parse(answer.html))
  update(old, fresh)
}

on("toggle", e => { if (e.target.dataset?.source && e.target.open) fill(e.target) }, true)

on("click", e => {
  const button = near(e.target, "button[data-source]")
  if (!button) return
  button.ariaExpanded = String(!isOpen(button))
  if (isOpen(button)) fill(button)
  else $(button.dataset.into).replaceChildren()
})

whenChanged(() => {
  for (const e of all("[data-source]")) if (isOpen(e) && fetched.get(e.dataset.into) !== e.dataset.version) fill(e)
})
