// @ts-check
/** Tabs and menus: the arrow keys move in them, and the panel of a tab is shown at once. */
import { $, all, bare, near, on } from "./dom.js"

/**
 * Shows the panel of a tab. A tab with data-to is another drawing of the same
 * form, which the server makes.
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
