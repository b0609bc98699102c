// @ts-check
/**
 * The page's scripts, and its keys. The server draws everything; scripts only do
 * what HTML cannot: the socket, updating changed elements, saving typed input, the
 * window of wire rows, and keys. Scripts that every page needs are imported here,
 * so that the browser fetches them together; the others are loaded on demand.
 */
import { $, all, focusFirst, isShortcut, near, on, one } from "./dom.js"
import { notice } from "./ask.js"
import more from "./more.css"
import "./changes.js"
import "./clock.js"
import { inAddress, show, showing } from "./address.js"
import { showPane } from "./panes.js"
import "./latest.js"
import "./presses.js"
import "./forms.js"
import "./fields.js"
import "./picker.js"
import { nextQuestion } from "./questions.js"
import "./answers.js"
import "./outcomes.js"
import "./controls.js"
import "./unfold.js"
import "./revision.js"
import "./catalog.js"
import { showFrame } from "./wire.js"
import "./detail.js"
import "./filter.js"
import "./export.js"
import "./palette.js"
import "./present.js"
import { connect } from "./live.js"

// The style sheet of what is shown when it is asked for

const sheet = new CSSStyleSheet()
sheet.replaceSync(more)
document.adoptedStyleSheets.push(sheet)

// Scripts that are loaded on demand

on("toggle", e => { if (e.target.id === "ledger") import("./ledger.js") }, true)
on("click", async e => {
  const to = near(e.target, "[data-ladder]")?.dataset.ladder
  if (to) (await import("./ladder.js")).open(to)
  else if (near(e.target, "#ladder-button")) (await import("./ladder.js")).toggle()
})
on("sequence", async e => (await import("./ladder.js")).open(e.detail))
on("click", async e => { if (near(e.target, "[data-findings]")) (await import("./findings.js")).open(near(e.target, "[data-findings]")) })
on("click", async e => { if (near(e.target, "[data-check]")) (await import("./check.js")).open(near(e.target, "[data-check]")) })
if (inAddress("check")) (await import("./check.js")).reopen(inAddress("check"))
if ($("playback")) await import("./playback.js")

// Buttons that can be redrawn have their listener on the document

on("click", async e => {
  const item = near(e.target, ".item, [data-choose]"), call = near(e.target, "[data-show-call]"), frame = near(e.target, "[data-frame]")
  if (item || call) {
    const { server, kind, key, showCall } = (item ?? call).dataset
    const query = call ? "?call=" + showCall : "?" + new URLSearchParams({ server, kind, key })
    if (!await show(query)) return
    showing()
    showPane("work")
    if (call) return $("call").scrollIntoView({ block: "nearest" })
    $("work").scrollTo(0, 0)
    focusFirst($("call"), one("#call .primary"))
  }
  if (frame) showFrame(Number(frame.dataset.frame))
})

// Skip links lead to the first control of a part, or to the part itself

on("click", e => {
  const skip = near(e.target, ".skip")
  if (!skip) return
  e.preventDefault()
  showPane(skip.dataset.pane)
  const part = $(skip.hash.slice(1)), first = all("[tabindex='0'], a[href], summary, :is(button, input, select, textarea):enabled:not([tabindex='-1'])", part).find(e => e.checkVisibility())
  if (part.matches("[tabindex]") || first) return (part.matches("[tabindex]") ? part : first).focus()
  part.tabIndex = -1
  part.focus()
  part.addEventListener("blur", () => part.removeAttribute("tabindex"), { once: true })
})

// Keys

on("keydown", e => {
  if (!isShortcut(e)) return
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

if (["127.0.0.1", "localhost", "[::1]"].includes(location.hostname)) notice("Other servers on this computer also get this page's cookie: do not open any that you do not trust in this browser.", 30)
connect()
