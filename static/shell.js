// @ts-check
/** What is chosen to be shown, and the keys of the page. */
import { show, showing } from "./address.js"
import { notice } from "./ask.js"
import { $, bare, near, on, one } from "./dom.js"
import { focusFirst } from "./fields.js"
import { showPane } from "./panes.js"
import { nextQuestion } from "./questions.js"
import { showFrame } from "./wire.js"

// Buttons that are drawn again and again are heard from afar

on("click", async e => {
  const item = near(e.target, ".item"), call = near(e.target, "[data-show-call]"), frame = near(e.target, "[data-frame]")
  if (item || call) {
    const { server, kind, key, showCall } = (item ?? call).dataset
    const query = call ? "?call=" + showCall : "?" + new URLSearchParams({ server, kind, key })
    if (!await show(query)) return
    showing(query)
    showPane("work")
    if (call) return $("call").scrollIntoView({ block: "nearest" })
    $("work").scrollTo(0, 0)
    focusFirst($("call"), one("#call .primary"))
  }
  if (frame) {
    showPane("wire")
    showFrame(Number(frame.dataset.frame))
  }
})

// Keys

on("keydown", e => {
  if (!bare(e) || e.defaultPrevented || e.target.matches("input:not([type=radio], [type=checkbox]), textarea, select")) return
  if (e.key === "?") $("keys").togglePopover()
  else if (e.key === "/" && near(e.target, "#wire")) $("filter").select()
  else if (e.key === "/") {
    showPane("side")
    $("search").focus()
  } else if (e.key === "w") {
    showPane("wire")
    $("grid").focus()
  } else if (e.key === "q") {
    if (!nextQuestion()) notice("No question is waiting.", 3)
  } else return
  e.preventDefault()
})
