// @ts-check
/**
 * The script that every page carries. It fetches the others after the first paint, which
 * they would otherwise delay.
 */
const painted = new Promise(done => {
  new PerformanceObserver(done).observe({ type: "paint", buffered: true })
  setTimeout(done, document.hidden ? 0 : 1000) // in a background tab nothing is painted
})
await painted
await import("/static/bundle.js")
performance.mark("ready")
