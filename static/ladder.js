// @ts-check
/**
 * The ladder: a sequence diagram of the exchange of the frame on show, or else of
 * the call on show, in place of the rows. Its arrows link to their frames.
 */
import { drawn, notice } from "./ask.js"
import { drawInto, whenChanged } from "./changes.js"
import { frameOnShow, openFrame } from "./detail.js"
import { $, near, on, one } from "./dom.js"
import { showPane } from "./panes.js"

const button = $("ladder-button"), pane = $("ladder"), grid = $("grid")

/** The URL of the ladder on show; "" for none. */
let address = ""
/** @type {AbortController | undefined} */
let fetching
let again = 0
/** Whether the newest arrow is kept in sight: until the person scrolls the drawing. */
let following = true

const style = Object.assign(document.createElement("link"), { rel: "stylesheet", href: "/static/ladder.css" })
const styled = new Promise(done => { style.onload = style.onerror = done })
document.head.append(style)

/** The URL of the ladder to draw: of the chosen frame, or of the call in the middle. */
function wanted() {
  const seq = frameOnShow(), { call } = one("#call > [data-call]")?.dataset ?? {}
  return seq ? `/wire/frames/${seq}/ladder` : call ? `/calls/${call}/ladder` : ""
}

/** @param {boolean} on */
function show(on) {
  if (on && pane.hidden) rowsFollow = $("follow").ariaPressed
  if (!on && !pane.hidden) $("follow").ariaPressed = rowsFollow
  pane.hidden = !on
  pane.classList.toggle("fills", on && pane.classList.contains("fills"))
  grid.hidden = on
  button.ariaPressed = String(on)
  if (on) return
  address = ""
  fetching?.abort()
  clearTimeout(again)
  pane.replaceChildren()
}

/** Draws the ladder, repeatedly while the exchange runs. */
async function draw() {
  clearTimeout(again)
  fetching?.abort()
  fetching = new AbortController()
  // Letters of the ladder grow with those of the page.
  const larger = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16
  const width = Math.round((pane.clientWidth - 28) / larger)
  const [answer] = await Promise.all([drawn(address + "?width=" + width, fetching.signal), styled])
  if (!answer || !address) return
  drawInto(pane, answer.html)
  fill(pane.classList.contains("fills"))
  keepNewest()
  if (one(".ladder-head", pane).dataset.running === "true") again = setTimeout(draw, 1000)
}

function keepNewest() {
  const drawing = one(".drawing", pane)
  if (following && drawing) drawing.scrollTop = drawing.scrollHeight
}

for (const type of ["wheel", "touchmove", "pointerdown", "keydown"]) pane.addEventListener(type, (/** @type {any} */ e) => {
  // A press on the drawing itself is a press on its scroll bar.
  if (near(e.target, ".drawing") && (type === "pointerdown" ? e.target.matches(".drawing") : type !== "keydown" || /^(Page|Home|End|Arrow)/.test(e.key))) follow(false)
}, { passive: true })

// While the ladder is on show, Follow is about it, and not about the rows.
let rowsFollow = ""

/** @param {boolean} on */
function follow(on) {
  following = on
  $("follow").ariaPressed = String(on)
  keepNewest()
}

on("click", e => {
  if (!near(e.target, "#follow") || pane.hidden) return
  e.stopPropagation()
  follow(!following)
}, true)

export function toggle() {
  if (!pane.hidden) {
    show(false)
    return grid.focus({ preventScroll: true })
  }
  const to = wanted()
  if (!to) return notice("Choose a frame, or make a call, to see its sequence.", 4)
  open(to)
}

/** Shows a ladder. @param {string} to its URL */
export function open(to) {
  showPane("wire")
  address = to
  show(true)
  follow(true)
  draw()
}

let width = 0

new ResizeObserver(() => {
  keepNewest()
  if (pane.hidden || pane.clientWidth === width) return
  width = pane.clientWidth
  clearTimeout(again)
  again = setTimeout(draw, 150)
}).observe(pane)

/** Lets the ladder fill the page, or only its pane. @param {boolean} on */
function fill(on) {
  pane.classList.toggle("fills", on)
  const button = one("[data-fill]", pane)
  if (button) button.ariaPressed = String(on)
}

pane.addEventListener("click", (/** @type {MouseEvent} */ e) => {
  if (near(e.target, "[data-fill]")) fill(!pane.classList.contains("fills"))
})

pane.addEventListener("click", (/** @type {MouseEvent} */ e) => {
  const link = near(e.target, ".drawing a"), to = link?.getAttribute("href") ?? link?.getAttribute("xlink:href")
  if (near(e.target, "[data-rows]")) show(false)
  if (!to || e.ctrlKey || e.metaKey || e.shiftKey) return
  e.preventDefault()
  fill(false)
  openFrame(Number(new URLSearchParams(to.split("?")[1]).get("frame")))
})

pane.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
  if (e.key !== "Escape" || e.defaultPrevented) return
  e.preventDefault()
  if (pane.classList.contains("fills")) return fill(false)
  show(false)
  grid.focus({ preventScroll: true })
})

// Another call in the middle changes the ladder, unless a frame is on show.
let call = ""
whenChanged(() => {
  if (one(".ladder-head", pane)?.dataset.running === "true") {
    clearTimeout(again)
    again = setTimeout(draw, 200)
  }
  const now = one("#call > [data-call]")?.dataset.call ?? ""
  if (now === call) return
  call = now
  if (address.startsWith("/calls/") && now) {
    address = `/calls/${now}/ladder`
    follow(true)
    draw()
  }
})
