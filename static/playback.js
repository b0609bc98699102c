// @ts-check
/** Playing a transcript: the slider, the speed, and the page's clocks, which follow the session. */
import { post } from "./ask.js"
import { whenChanged } from "./changes.js"
import { setTime } from "./clock.js"
import { $, all, grouped, near, on, one } from "./dom.js"

/** The position to which the slider is being dragged; negative while nobody drags it. */
let dragged = -1
/** The position that the server had drawn when the slider was released. Until that changes, the slider stays where it was put. */
let before = ""
/** The time and rate of the controls when they were last drawn. */
let said = ""

on("input", e => {
  if (e.target.id !== "playback-position") return
  dragged = Number(e.target.value)
  before = ""
  $("playback-frame").textContent = grouped(dragged)
})

on("change", async e => {
  const { id, value } = e.target
  if (id !== "playback-position") return
  before = e.target.getAttribute("value")
  const { ok } = await post("/playback/seek", new URLSearchParams({ position: value }))
  if (!ok || value === before) before = "-1"
  look()
})

// Page Up and Page Down on the slider go from question to question.
on("keydown", e => {
  if (e.target.id !== "playback-position" || !/^Page(Up|Down)$/.test(e.key)) return
  const at = Number(e.target.value), marks = all("#playback-marks option").map(o => Number(o.value))
  const to = e.key === "PageUp" ? marks.findLast(m => m < at) : marks.find(m => m > at)
  if (!marks.length) return
  e.preventDefault()
  if (to === undefined) return
  e.target.value = to
  for (const type of ["input", "change"]) e.target.dispatchEvent(new Event(type, { bubbles: true }))
})

/** Has the motion of an answer that is being given keep the speed of the playback. @param {number} rate */
function pace(rate) {
  for (const a of document.getAnimations()) {
    const { target } = /** @type {any} */ (a.effect)
    if (near(target, ".giving")) a.playbackRate = rate && Math.max(rate, 1)
  }
}

/** Reads the position of the playback. */
function look() {
  const controls = $("playback"), { rate, now } = controls?.dataset ?? {}
  if (!controls) return
  const slider = $("playback-position")
  if (before && slider.getAttribute("value") !== before) {
    dragged = -1
    before = ""
  }
  if (dragged < 0) slider.value = slider.getAttribute("value")
  else $("playback-frame").textContent = grouped(dragged)
  const chosen = one("option[selected]", $("playback-speed"))
  if (chosen && document.activeElement !== $("playback-speed")) chosen.selected = true
  pace(Number(rate))
  if (said === rate + now || !Number(now)) return
  said = rate + now
  setTime(Number(now), Number(rate))
}

whenChanged(look)
