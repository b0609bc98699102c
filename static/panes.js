// @ts-check
/** The panes of the page: which one a narrow window shows, and how wide and high they are. */
import { all, near, on, remember, remembered } from "./dom.js"

/** @param {string} name */
export function showPane(name) {
  document.body.dataset.pane = name
  for (const a of all(".panes a")) a.ariaCurrent = a.dataset.pane === name ? "true" : null
}

on("click", e => {
  const link = near(e.target, ".panes a")
  if (!link) return
  e.preventDefault()
  showPane(link.dataset.pane)
})

// Splitters

for (const bar of all("[role=separator]")) {
  const upright = bar.ariaOrientation === "vertical", name = upright ? "--columns" : "--detail"
  const box = bar.parentElement, pane = bar.nextElementSibling
  const size = () => pane.getBoundingClientRect()[upright ? "width" : "height"]
  /** @param {number} px 0 for what the style sheet says */
  const set = px => {
    const room = upright ? box.clientWidth : box.clientHeight
    px = px && Math.round(Math.max(upright ? 320 : 96, Math.min(px, room - (upright ? 560 : 160))))
    box.style.setProperty(name, px ? px + "px" : "")
    bar.ariaValueNow = Math.round(100 * size() / room)
    remember(name, px ? String(px) : "")
  }
  bar.addEventListener("pointerdown", (/** @type {PointerEvent} */ e) => {
    bar.setPointerCapture(e.pointerId)
    bar.classList.add("moving")
    e.preventDefault()
  })
  bar.addEventListener("pointermove", (/** @type {PointerEvent} */ e) => {
    const { right, bottom } = pane.getBoundingClientRect()
    if (bar.hasPointerCapture(e.pointerId)) set(upright ? right - e.clientX : bottom - e.clientY)
  })
  bar.addEventListener("lostpointercapture", () => bar.classList.remove("moving"))
  bar.addEventListener("dblclick", () => set(0))
  bar.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    const step = { ArrowLeft: 24, ArrowUp: 24, ArrowRight: -24, ArrowDown: -24, Home: 9999, End: -9999 }[e.key]
    if (!step) return
    e.preventDefault()
    set(size() + step)
  })
  set(Number(remembered(name)))
}
