// @ts-check
/** Playing a transcript: the slider, the speed, and the page's clocks, which follow the session. */
import { post } from "./ask.js"
import { whenChanged } from "./changes.js"
import { setTime } from "./clock.js"
import { $, grouped, on, one } from "./dom.js"

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
  if (said === rate + now || !Number(now)) return
  said = rate + now
  setTime(Number(now), Number(rate))
}

whenChanged(look)
