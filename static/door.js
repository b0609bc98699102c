// @ts-check
/**
 * Leads from an address that is the same in each run to the page's own host, which is another
 * one in each; guard.go says why. So the own host is kept in this browser: here, or where the
 * browser was led to the own host without this page, at inspector.localhost, by main.js.
 */
async function enter() {
  const { dataset } = document.documentElement, known = "http://inspector.localhost:" + (location.port || 80)
  // The draft that a link to Compose has behind the # comes along: in the query, or this would be the same document.
  const query = location.search + (location.hash && (location.search ? "&" : "?") + location.hash)
  if (location.hostname.endsWith(".inspector.localhost")) return location.replace("/" + query)
  let own = dataset.own
  try {
    if (top !== self) return localStorage.setItem("own", location.hash.slice(1))
    if (own) localStorage.setItem("own", own)
    own ||= localStorage.getItem("own") ?? ""
  } catch { /* no storage: links lead nowhere */ }
  for (const to of dataset.own ? [own] : [own, known])
    if (to && to !== origin && await proves(to, dataset.nonce, dataset.proof)) return location.replace(to + "/" + query)
  if (dataset.own) return location.replace("/" + location.search + "&shared=1" + location.hash)
  dataset.stays = ""
}

/**
 * Whether the browser finds the host, and it is ours: it knows the token. See guard.go.
 * @param {string} host @param {string} nonce @param {string} proof
 */
const proves = (host, nonce, proof) => fetch(host + "/door?nonce=" + nonce, { signal: AbortSignal.timeout(3000) })
  .then(async answer => await answer.text() === proof, () => false)

enter()
