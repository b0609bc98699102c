// @ts-check
/** The command palette: the server finds the entries, and a chosen one is clicked. */
import { drawn } from "./ask.js"
import { parse } from "./changes.js"
import { $, all, near, on, one } from "./dom.js"

const palette = $("palette"), input = $("palette-input"), list = $("palette-list")

/** @type {AbortController | undefined} */
let asking

async function find() {
  asking?.abort()
  asking = new AbortController()
  const answer = await drawn("/palette?" + new URLSearchParams({ search: input.value }), asking.signal)
  if (!answer) return
  list.replaceChildren(parse(answer.html))
  mark(0)
}

/** Marks an entry as the one that Enter chooses. @param {number} n counted from 0, and from the end if it is too large */
function mark(n) {
  const options = all("[role=option]", list), to = options.at(n % options.length)
  for (const option of options) option.ariaSelected = String(option === to)
  input.setAttribute("aria-activedescendant", to?.id ?? "")
  to?.scrollIntoView({ block: "nearest" })
}

on("keydown", e => {
  if (e.key.toLowerCase() !== "k" || !(e.ctrlKey || e.metaKey) || e.shiftKey || e.altKey) return
  e.preventDefault()
  if (palette.open) return palette.close()
  palette.showModal()
  input.select()
  find()
})

input.addEventListener("input", find)

input.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
  const options = all("[role=option]", list), at = options.findIndex(o => o.ariaSelected === "true")
  if (e.key === "ArrowDown") mark(at + 1)
  else if (e.key === "ArrowUp") mark(at - 1)
  else if (e.key === "Enter") options[at]?.click()
  else return
  e.preventDefault()
})

// The dialog has given back the focus when the page's other scripts see the click.
document.addEventListener("click", e => {
  const option = near(e.target, "#palette-list [role=option]:not([aria-disabled])")
  if (!option && e.target !== palette) return
  palette.close()
  const control = option?.dataset.press && one(option.dataset.press)
  control?.scrollIntoView({ block: "nearest" })
  if (control?.matches("button")) control.click()
  else control?.focus()
}, true)
