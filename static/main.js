// @ts-check
/**
 * The page's scripts. The server draws everything; these only do what HTML
 * cannot: the socket, swapping what has changed, saving what is typed, the
 * window of wire rows, and keys. They are fetched, all at once, when the page
 * has been painted, or right away where nobody looks at it.
 */
async function start() {
  const [{ connect }] = await Promise.all([
    import("./live.js"), import("./changes.js"), import("./dom.js"), import("./forms.js"), import("./picker.js"),
    import("./questions.js"), import("./shell.js"), import("./tabs.js"), import("./wire.js"),
  ])
  connect()
}

if (document.hidden) start()
else requestAnimationFrame(() => setTimeout(start))
