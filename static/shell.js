// @ts-check
/** What surrounds the forms: what is chosen, servers and keys. */
import { show, showing } from "./address.js"
import { announce, notice, post } from "./ask.js"
import { $, bare, near, on, one } from "./dom.js"
import { focusFirst } from "./fields.js"
import { showPane } from "./panes.js"
import { nextQuestion } from "./questions.js"
import { showFrame } from "./wire.js"

// Buttons that are drawn again and again are heard from afar

on("click", async e => {
  const item = near(e.target, ".item"), call = near(e.target, "[data-show-call]"), frame = near(e.target, "[data-frame]")
  const server = near(e.target, "[data-do]")
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
  if (server) {
    const { server: id, do: what } = server.dataset
    const { ok } = await post(`/servers/${id}/${what}`)
    if (ok) announce(what === "reconnect" ? "Connecting." : "Disconnected.")
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
