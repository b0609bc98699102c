// @ts-check
/** Presenting, with big type and the question beside the sequence of its call; and the theme. */
import { inAddress, toAddress } from "./address.js"
import { whenChanged } from "./changes.js"
import { $, isShortcut, near, on, one, remember } from "./dom.js"

const button = $("present"), theme = $("theme")

/** The call in the middle, and that whose sequence was opened last. If the person closes it, it stays closed. */
let middle = "", drawn = ""

/** Draws the sequence of a call: of the one in the middle, or of the one whose question is being answered. @param {string} [call] */
function draw(call) {
  if (button.ariaPressed !== "true" || !Number(call) || call === drawn || innerWidth < 900) return
  drawn = call ?? ""
  document.dispatchEvent(new CustomEvent("sequence", { detail: `/calls/${call}/ladder` }))
}

for (const type of ["pointerdown", "keydown", "input"]) on(type, e => draw(near(e.target, "#work [data-call]")?.dataset.call))

function follow() {
  const { call = "" } = one("#call > [data-call]")?.dataset ?? {}
  if (call !== middle) draw(middle = call)
}

/** @param {boolean} on */
function present(on) {
  button.ariaPressed = String(on)
  document.documentElement.classList.toggle("presenting", on)
  toAddress({ present: on ? "1" : "" })
  middle = drawn = ""
  follow()
}

button.addEventListener("click", () => {
  present(button.ariaPressed === "false")
  $("bar-more").hidePopover()
})

on("keydown", e => {
  if (e.key !== "p" || !isShortcut(e)) return
  e.preventDefault()
  button.click()
})

if (inAddress("present")) present(true)
whenChanged(follow)

// The server draws the page in the theme, so that no other theme flashes up first.
theme.addEventListener("change", () => {
  document.documentElement.dataset.theme = theme.value
  remember("theme", theme.value)
})
