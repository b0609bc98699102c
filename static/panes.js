// @ts-check
/** The pane that a narrow window shows, the panels of tabs, and the sizes of panes. */
import { $, all, bare, near, on, remember, remembered } from "./dom.js"

/** Shows a pane: the only one of a narrow window, or a folded one of a wide window. @param {string} name */
export function showPane(name) {
  document.body.dataset.pane = name
  for (const a of all(".panes a")) a.ariaCurrent = a.dataset.pane === name ? "true" : null
  fold(name, false)
}

on("click", e => {
  const link = near(e.target, ".panes a")
  if (!link) return
  e.preventDefault()
  showPane(link.dataset.pane)
})

// Columns that are folded

/** @param {string} name of a pane with a button @param {boolean} on */
function fold(name, on) {
  const button = $("fold-" + name)
  if (!button) return
  document.body.classList.toggle("no-" + name, on)
  button.ariaExpanded = String(!on)
  remember("no-" + name, on ? "1" : "")
}

for (const name of ["side", "wire"]) {
  fold(name, !!remembered("no-" + name))
  $("fold-" + name).addEventListener("click", () => fold(name, !document.body.classList.contains("no-" + name)))
}

// Splitters: the pane beside one is its aria-controls

for (const bar of all("[role=separator]")) {
  const upright = bar.ariaOrientation === "vertical", { size: name, least, rest } = bar.dataset
  const pane = $(bar.getAttribute("aria-controls")), box = bar.parentElement
  const after = pane.compareDocumentPosition(bar) === Node.DOCUMENT_POSITION_PRECEDING
  const size = () => pane.getBoundingClientRect()[upright ? "width" : "height"]
  /** @param {number} px 0 for the style sheet's value */
  const set = px => {
    const room = upright ? box.clientWidth : box.clientHeight
    if (upright && px && px < least / 2) return fold(pane.dataset.pane, true)
    px = px && Math.round(Math.max(Number(least), Math.min(px, room - rest)))
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
    if (!bar.hasPointerCapture(e.pointerId)) return
    const { left, right, bottom } = pane.getBoundingClientRect()
    set(!upright ? bottom - e.clientY : after ? right - e.clientX : e.clientX - left)
  })
  bar.addEventListener("lostpointercapture", () => bar.classList.remove("moving"))
  bar.addEventListener("dblclick", () => set(0))
  bar.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
    const step = { ArrowLeft: 24, ArrowUp: 24, ArrowRight: -24, ArrowDown: -24, Home: 9999, End: -9999 }[e.key]
    if (e.key === "Enter" && upright) fold(pane.dataset.pane, true)
    else if (step) set(Math.max(Number(least), size() + (after ? step : -step)))
    else return
    e.preventDefault()
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
