// @ts-check
/**
 * The page's address: what the middle shows (call, or server, kind and key), and
 * what the log shows (filter, frame), so that links and the back button work.
 */
import { fetched, parse, update, whenChanged } from "./changes.js"
import { $, all, one } from "./dom.js"

/** @param {string} name */
export const inAddress = name => new URLSearchParams(location.search).get(name) ?? ""

/**
 * Changes some parameters of the address.
 * @param {Record<string, string>} values by name; "" removes a parameter
 * @param {boolean} [step] add an entry to the browser's history
 */
export function toAddress(values, step) {
  const query = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(values)) {
    if (value) query.set(name, value)
    else query.delete(name)
  }
  const search = query.size ? "?" + query : ""
  if (search !== location.search) history[step ? "pushState" : "replaceState"](null, "", "/" + search)
}

const parts = ["call", "question", "tool", "prompt", "resource", "template", "server", "kind", "key", "args"]

/** Returns the parameters that say what the middle shows. @param {string} query */
function middleOf(query) {
  const all = new URLSearchParams(query)
  return Object.fromEntries(parts.map(name => [name, all.get(name) ?? ""]))
}

// What the middle shows

/** Stores in the address what the middle shows. */
export function showing() {
  toAddress(middleOf(one("#call > [data-address]")?.dataset.address ?? ""), true)
  mark()
}

/** The request for the middle that is under way. @type {AbortController | undefined} */
let fetching

/** Shows the call, question or item of a query in the middle; false on failure. @param {string} query */
export async function show(query) {
  fetching?.abort()
  const mine = fetching = new AbortController()
  const shown = await fetched("/middle" + query, ({ html }) => {
    update($("call"), parse(html).firstElementChild)
    return true
  }, mine.signal)
  if (fetching === mine) fetching = undefined
  return !!shown
}

addEventListener("popstate", () => {
  if (Object.values(middleOf(location.search)).some(Boolean)) show(location.search)
})

/** Marks the item and the call that the middle shows. */
export function mark() {
  const { call, server, kind, key } = one("#call > [data-key]")?.dataset ?? {}
  for (const e of all(".item, .call-tab")) {
    const d = e.dataset, on = d.showCall ? d.showCall === call : d.server === server && d.kind === kind && d.key === key
    e.ariaCurrent = on ? "true" : null
  }
}

/** The middle's server with its state when the middle was drawn. */
let drawnOf = ""
/** What the servers offered when the middle was drawn. */
let offered = ""

whenChanged(() => {
  mark()
  // What is on its way may be another call than the one on show. Look again when it is here.
  if (fetching) return
  const offers = all(".server, #catalog .items, #catalog .note, #questions > article").map(e => e.className + (e.dataset.version ?? e.textContent.length)).join()
  // What a link leads to may have come.
  if (offered && offers !== offered && one("#call > [data-awaits]")) show(location.search)
  offered = offers
  const { server, call } = one("#call > [data-key]")?.dataset ?? {}
  const now = server ? `${server} ${$(`server-${server}`)?.className}` : "", before = drawnOf
  drawnOf = now
  // Draw the middle again once the server has connected, gone, or was removed.
  if (now === before || !before.startsWith(server + " ")) return
  show(call ? "?call=" + call : location.search)
})
