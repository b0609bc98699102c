// @ts-check
/** The ledger: its rows are fetched when it is opened, and after every change. */
import { show, showing } from "./address.js"
import { drawn } from "./ask.js"
import { drawInto, whenChanged } from "./changes.js"
import { $, all, focusFirst, near, on, one, sheet } from "./dom.js"
import { showPane } from "./panes.js"

const ledger = $("ledger"), filter = $("ledger-filter")
let sort = "-number", fetching = false, again = false
const styled = sheet()

const isOpen = () => ledger.matches(":popover-open")

/** Fetches and draws the table, with one request at a time. */
async function draw() {
  again = fetching
  if (fetching || !isOpen()) return
  fetching = true
  const answer = await drawn("/ledger?" + new URLSearchParams({ sort, filter: filter.value }))
  await styled
  if (answer) drawInto($("ledger-rows"), answer.html)
  fetching = false
  if (again) draw()
}

ledger.addEventListener("toggle", draw)
filter.addEventListener("input", draw)
whenChanged(draw)

on("click", async e => {
  const head = near(e.target, "[data-ledger-sort]"), anew = near(e.target, "[data-anew]")
  if (head) {
    sort = head.dataset.ledgerSort
    draw()
  }
  if (near(e.target, "#ledger :is([data-frame], [data-show-call], [data-post], [data-anew])")) ledger.hidePopover()
  if (!anew) return
  if (!await show("?call=" + anew.dataset.anew)) return
  showing()
  showPane("work")
  const form = $("args-form")
  for (const fold of all("details", form)) fold.open = true
  focusFirst(form, one(".primary", form))
})
