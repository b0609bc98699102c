// @ts-check
/** Presenting, with big type and the question beside its ladder; and the theme. */
import { inAddress, toAddress } from "./address.js"
import { whenChanged } from "./changes.js"
import { $, isShortcut, on, one, remember } from "./dom.js"

const button = $("present"), theme = $("theme")

/** The call whose ladder was opened last. If the person closes it, it stays closed. */
let drawn = ""

function draw() {
  const { call } = one("#call > [data-call]")?.dataset ?? {}
  if (button.ariaPressed !== "true" || !call || call === drawn) return
  drawn = call
  if ($("ladder").hidden) $("ladder-button").click()
}

/** @param {boolean} on */
function present(on) {
  button.ariaPressed = String(on)
  document.documentElement.classList.toggle("presenting", on)
  toAddress({ present: on ? "1" : "" })
  drawn = ""
  draw()
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
whenChanged(draw)

// The server draws the page in the theme, so that no other theme flashes up first.
theme.addEventListener("change", () => {
  document.documentElement.dataset.theme = theme.value
  remember("theme", theme.value)
})
