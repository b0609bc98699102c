// @ts-check
/**
 * The script that every page carries. It takes the token out of the address before anything is
 * fetched. The bar at the top is painted first, alone: what is below it is made elements of, and the
 * other scripts are fetched, after the first paint, which they would otherwise delay.
 */
const query = new URLSearchParams(location.search), entered = query.has("token")
for (const name of ["token", "shared"]) query.delete(name) // the cookie has the token by now
if (entered) history.replaceState(null, "", "/" + (query.size ? "?" + query : ""))
const painted = new Promise(done => {
  new PerformanceObserver(done).observe({ type: "paint", buffered: true })
  setTimeout(done, document.hidden ? 0 : 1000) // in a background tab nothing is painted
})
await painted
for (const rest of document.querySelectorAll("noscript")) rest.outerHTML = rest.textContent ?? ""
await import("/static/bundle.js")
performance.mark("ready")
// Have inspector.localhost keep this host, so that links without the token lead here; see door.js.
if (entered && location.hostname.endsWith(".inspector.localhost")) document.body.append(Object.assign(document.createElement("iframe"), {
  hidden: true, src: `http://inspector.localhost:${location.port || 80}/#${origin}`, onload() { this.remove(); performance.mark("kept") },
}))
