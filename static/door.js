// @ts-check
/**
 * Leads from an address of 127.0.0.1 to the page's own host; guard.go says why. Links have
 * 127.0.0.1, since the own host is another one in each run: so it is kept in this browser.
 */
async function enter() {
  const { dataset } = document.documentElement
  if (location.hostname.endsWith(".inspector.localhost")) return location.replace("/" + location.search)
  let own = dataset.own
  try {
    if (own) localStorage.setItem("own", own)
    own ||= localStorage.getItem("own") ?? ""
  } catch { /* no storage: links lead nowhere */ }
  if (own && await proves(own, dataset.nonce, dataset.proof)) return location.replace(own + "/" + location.search)
  if (dataset.own) return location.replace("/" + location.search + "&shared=1")
  dataset.stays = ""
}

/**
 * Whether the browser finds the own host, and it is one: it knows the token. See guard.go.
 * @param {string} own @param {string} nonce @param {string} proof
 */
const proves = (own, nonce, proof) => fetch(own + "/door?nonce=" + nonce, { signal: AbortSignal.timeout(3000) })
  .then(async answer => await answer.text() === proof, () => false)

enter()
