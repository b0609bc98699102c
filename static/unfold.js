// @ts-check
/**
 * Parts that are fetched on demand: unfolded parts, again whenever their version
 * changes, and the rest of cut texts.
 */
import { announce, drawn } from "./ask.js"
import { drawInto, parse, whenChanged } from "./changes.js"
import { $, all, near, on, one } from "./dom.js"

/** The last fetched version, by the id of the element with it. @type {Map<string, string>} */
const fetched = new Map()

const isOpen = (/** @type {any} */ e) => e.open || e.ariaExpanded === "true" || e.matches(":popover-open")

/** @param {any} e the element that unfolds */
async function unfold(e) {
  const { source, into, version } = e.dataset
  fetched.set(into, version)
  const answer = await drawn(source), old = $(into)
  if (answer && old && isOpen(e)) drawInto(old, answer.html)
}

on("toggle", e => { if (e.target.dataset?.source && isOpen(e.target)) unfold(e.target) }, true)

on("click", e => {
  const button = near(e.target, "button[data-source]")
  if (!button) return
  const opens = !isOpen(button)
  for (const e of all(`[data-into=${button.dataset.into}]`)) e.ariaExpanded = "false" // of those with one place, one is open
  button.ariaExpanded = String(opens)
  if (opens) unfold(button)
  else $(button.dataset.into).replaceChildren()
})

whenChanged(() => {
  for (const e of all("[data-source]")) if (isOpen(e) && fetched.get(e.dataset.into) !== e.dataset.version) unfold(e)
})

// "Show all" fetches the rest of a text, piece by piece

on("click", async e => {
  const save = near(e.target, "a.show-all"), button = near(e.target, "[data-text]")
  // The server finds the text by drawing the page of this address.
  if (save) save.search = location.search
  if (!button) return
  e.preventDefault() // the button may be in a summary
  if (button.ariaBusy) return
  button.ariaBusy = "true"
  const query = new URLSearchParams(location.search)
  query.set("from", button.dataset.from)
  const answer = await drawn(`/texts/${button.dataset.text}?` + query)
  button.ariaBusy = null
  if (!answer || !button.isConnected) return
  const fresh = parse(answer.html), next = one("button", fresh), inner = near(button, ".rest")
  const rest = inner ?? button.previousElementSibling
  if (inner) {
    one("a.show-all", rest)?.remove()
    button.replaceWith(fresh)
  } else rest.append(fresh)
  if (!next) announce("All of it is shown.")
  rest.tabIndex = -1
  ;(next ?? rest).focus({ preventScroll: true })
})
