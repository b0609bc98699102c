// @ts-check
/**
 * The page's address: what the middle shows (call, or server, kind and key), and
 * how the log is looked at (filter, frame). Going back and links rely on it.
 */

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

const parts = ["call", "server", "kind", "key"]

/** What of a query says what the middle shows. @param {string} query */
export function middleOf(query) {
  const all = new URLSearchParams(query)
  return Object.fromEntries(parts.map(name => [name, all.get(name) ?? ""]))
}
