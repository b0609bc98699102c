// @ts-check
/** Texts that the server cut where it drew them: "Show all" fetches the rest, piece by piece. */
import { announce, drawn } from "./ask.js"
import { parse } from "./changes.js"
import { near, on, one } from "./dom.js"

on("click", async e => {
  const save = near(e.target, "a.show-all"), button = near(e.target, "[data-text]")
  // Which texts there are goes by what the page shows.
  if (save) save.search = location.search
  if (!button) return
  e.preventDefault() // it may stand in a summary
  if (button.ariaBusy) return
  button.ariaBusy = "true"
  const query = new URLSearchParams(location.search)
  query.set("from", button.dataset.from)
  const answer = await drawn(`/texts/${button.dataset.text}?` + query)
  button.ariaBusy = null
  if (!answer || !button.isConnected) return
  const fresh = parse(answer.html), next = one("button", fresh), inner = near(button, ".rest")
  const rest = inner ?? button.previousElementSibling
  if (inner) {
    one("a.show-all", rest)?.remove()
    button.replaceWith(fresh)
  } else rest.append(fresh)
  if (!next) announce("All of it is shown.")
  rest.tabIndex = -1
  ;(next ?? rest).focus({ preventScroll: true })
})
