// @ts-check
/**
 * The page's address: what the middle shows (call, or server, kind and key), and
 * how the log is looked at (filter, frame). Going back and links rely on it.
 */
import { fetched, parse, update, whenChanged } from "./changes.js"
import { $, all, one } from "./dom.js"

/** @param {string} name */
export const inAddress = name => new URLSearchParams(location.search).get(name) ?? ""

/**
 * Notes something in the address, and leaves the rest as it is.
 * @param {Record<string, string>} values what is "" is left out
 * @param {boolean} [step] one can go back to what was there before
 */
export function toAddress(values, step) {
  const query = new URLSearchParams(location.search)
  query.delete("token") // the cookie has it by now
  for (const [name, value] of Object.entries(values)) {
    if (value) query.set(name, value)
    else query.delete(name)
  }
  const search = query.size ? "?" + query : ""
  if (search !== location.search) history[step ? "pushState" : "replaceState"](null, "", "/" + search)
}

if (inAddress("token")) toAddress({}) // not to be seen, nor kept in the browser's history

const parts = ["call", "server", "kind", "key"]

/** What of a query says what the middle shows. @param {string} query */
function middleOf(query) {
  const all = new URLSearchParams(query)
  return Object.fromEntries(parts.map(name => [name, all.get(name) ?? ""]))
}

// What the middle shows

/** Notes in the address what the middle shows. @param {string} query */
export function showing(query) {
  toAddress(middleOf(query), true)
  mark()
}

/** @type {AbortController | undefined} */
let fetching

/** Draws what a query of the page's address names; false if that failed. @param {string} query */
export async function show(query) {
  const call = new URLSearchParams(query).get("call")
  fetching?.abort()
  fetching = new AbortController()
  return !!await fetched(call ? "/calls/" + call : "/form" + query, ({ html }) => {
    update($("call"), parse(html).firstElementChild)
    return true
  }, fetching.signal)
}

addEventListener("popstate", () => {
  const { call, key } = middleOf(location.search)
  if (call || key) show(location.search)
})

/** Marks the item and the call that the middle shows. */
export function mark() {
  const { call, server, kind, key } = one("#call > [data-key]")?.dataset ?? {}
  for (const e of all(".item, .call-tab")) {
    const d = e.dataset, on = d.showCall ? d.showCall === call : d.server === server && d.kind === kind && d.key === key
    e.ariaCurrent = on ? "true" : null
  }
}

/** The server of the middle, and whether it was up when that was drawn. */
let drawnOf = ""

whenChanged(() => {
  mark()
  const { server, call, kind, key } = one("#call > [data-key]")?.dataset ?? {}
  const now = server ? `${server} ${!!one(`#server-${server}.ready`)}` : "", before = drawnOf
  drawnOf = now
  // What can be called is another matter once the server has come or gone.
  if (now === before || !before.startsWith(server + " ")) return
  show(call ? "?call=" + call : "?" + new URLSearchParams({ server, kind, key }))
})
