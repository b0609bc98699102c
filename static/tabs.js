// @ts-check
/** Tabs: the arrow keys move between them, and a panel is shown at once. */
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
  const tab = near(e.target, "[role=tab]")
  if (!tab || !bare(e)) return
  const tabs = all("[role=tab]", tab.parentElement), at = tabs.indexOf(tab)
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1 }[/** @type {string} */ (e.key)]
  if (to === undefined) return
  e.preventDefault()
  const next = tabs.at(to % tabs.length)
  next.focus()
  next.click()
})
