// @ts-check
/** The pane that a narrow window shows, the panels of tabs, and the sizes of panes. */
import { $, all, bare, near, on, remember, remembered } from "./dom.js"

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
  /** @param {number} px 0 for the style sheet's value */
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

// Tabs and menus: arrow keys move the focus, and a focused tab shows its panel at once

/**
 * Shows the panel of a tab, except for tabs with data-to: these make the server
 * draw the form in another way.
 * @param {HTMLElement} tab
 */
export function choose(tab) {
  if (tab.dataset.to) return
  for (const other of all("[role=tab]", tab.parentElement)) {
    other.ariaSelected = other === tab
    other.tabIndex = other === tab ? 0 : -1
    $(other.getAttribute("aria-controls")).hidden = other !== tab
  }
  tab.dispatchEvent(new Event("chosen", { bubbles: true }))
}

on("click", e => {
  const tab = near(e.target, "[role=tab]")
  if (tab) choose(tab)
})

on("keydown", e => {
  const tab = near(e.target, "[role=tab]"), one = tab ?? near(e.target, "[role=menuitem]")
  if (!one || !bare(e)) return
  const row = all(`[role=${one.role}]`, one.parentElement), at = row.indexOf(one)
  const to = { [tab ? "ArrowLeft" : "ArrowUp"]: at - 1, [tab ? "ArrowRight" : "ArrowDown"]: at + 1, Home: 0, End: -1 }[/** @type {string} */ (e.key)]
  if (to === undefined) return
  e.preventDefault()
  const next = row.at(to % row.length)
  next.focus()
  if (tab) next.click()
})
