// @ts-check
/**
 * The script that every page carries. The bar at the top is painted first, alone: what is
 * below it is shown, and the other scripts are fetched, after the first paint, which they
 * would otherwise delay.
 */
const painted = new Promise(done => {
  new PerformanceObserver(done).observe({ type: "paint", buffered: true })
  setTimeout(done, document.hidden ? 0 : 1000) // in a background tab nothing is painted
})
await painted
document.documentElement.dataset.painted = ""
await import("/static/bundle.js")
performance.mark("ready")
