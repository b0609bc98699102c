// @ts-check
/**
 * Starts the page's scripts once the page has been painted: to be fetched and
 * parsed they want the processor that draws what there is to see.
 */
const start = () => import("./page.js")
requestAnimationFrame(() => setTimeout(start))
setTimeout(start, 250) // a page that is out of sight is not painted
