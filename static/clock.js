// @ts-check
/** The page's clocks: one timer counts every waiting time on the page. */
import { whenChanged } from "./changes.js"
import { all } from "./dom.js"

/** When each clock started, and the age that it was drawn with. @type {WeakMap<Element, {age: string, since: number}>} */
let started = new WeakMap()
/** The page's time: it was base at the computer's time since, and advances at rate. */
let time = { base: 0, since: 0, rate: 1 }

/** Sets the page's time to that of a session. @param {number} base in milliseconds @param {number} [rate] speed, 0 to stand still */
export function setTime(base, rate = time.rate) {
  if (!time.base || base < time.base) started = new WeakMap()
  time = { base, since: Date.now(), rate }
}

export function tick() {
  const now = time.base + (Date.now() - time.since) * time.rate, two = (/** @type {number} */ n) => String(n).padStart(2, "0")
  for (const e of all("[data-age]")) {
    const { age } = e.dataset, known = started.get(e)
    const since = known && known.age === age ? known.since : now - age
    started.set(e, { age, since })
    const s = Math.max(0, Math.floor((now - since) / 1000)), m = Math.floor(s / 60)
    const text = m < 60 ? `${m}:${two(s % 60)}` : `${Math.floor(m / 60)}:${two(m % 60)}:${two(s % 60)}`
    if (e.textContent !== text) e.textContent = text
  }
}

setInterval(tick, 1000)
whenChanged(tick)
