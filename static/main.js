// @ts-check
/**
 * The page's entry. It runs the scripts after the first paint, which they would
 * otherwise delay by a quarter.
 */
async function start() {
  await import("./page.js")
  performance.mark("ready")
}

/** Resolves after the first paint, or where nothing is painted, as in a background tab. */
const painted = new Promise(done => {
  new PerformanceObserver(done).observe({ type: "paint", buffered: true })
  setTimeout(done, document.hidden ? 0 : 1000)
})

painted.then(start)
