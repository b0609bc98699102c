// @ts-check
/** The page's clocks: one timer counts every waiting time on the page. */
import { all } from "./dom.js"

const [opened] = /** @type {any[]} */ (performance.getEntriesByType("navigation"))

/** The page's time. It was base when the computer's clock showed since, and it advances rate times as fast. */
let time = { base: Number(document.documentElement.dataset.now), since: performance.timeOrigin + opened.responseStart, rate: 1 }

/** Sets the page's time to the time of a session. @param {number} base in milliseconds @param {number} [rate] speed, 0 to stand still */
export function setTime(base, rate = time.rate) {
  time = { base, since: Date.now(), rate }
  tick()
}

/** Writes into each clock in part how long ago its start was. @param {ParentNode} [part] the page, if it is not given */
export function tick(part) {
  const now = time.base + (Date.now() - time.since) * time.rate, two = (/** @type {number} */ n) => String(n).padStart(2, "0")
  for (const e of all("[data-since]", part)) {
    const s = Math.max(0, Math.floor((now - e.dataset.since) / 1000)), m = Math.floor(s / 60)
    const text = m < 60 ? `${m}:${two(s % 60)}` : `${Math.floor(m / 60)}:${two(m % 60)}:${two(s % 60)}`
    if (e.textContent !== text) e.textContent = text
  }
}

setInterval(() => document.body.matches(".gone") || tick(), 1000)
tick()
