// @ts-check
/**
 * Brings the latest event of the call on show into view: its question, or its
 * result. Nothing moves while the person is typing, or after they have scrolled the
 * event out of sight.
 */
import { whenChanged } from "./changes.js"
import { $, near, on, one } from "./dom.js"

const pane = $("work")

/** The part of the pane that nothing covers. */
function sight() {
  const { top, bottom } = pane.getBoundingClientRect()
  return { top: Math.max(top, $("calls").getBoundingClientRect().bottom), bottom }
}

/** The room above what was brought into view, in pixels. */
const margin = 10

/**
 * Scrolls the pane until an element is in view: from its start, if it is too tall, and
 * from the head of its call, if both fit.
 * @param {any} e
 */
export function bring(e) {
  const { top, bottom } = sight(), r = e.getBoundingClientRect()
  if (r.top >= top && r.bottom <= bottom) return
  const head = one(".head", near(e, ".called"))?.getBoundingClientRect().top ?? r.top
  const first = (r.bottom - head <= bottom - top - margin ? head : r.top) - top - margin
  pane.scrollTop += r.top < top ? first : Math.min(r.bottom - bottom + margin, first)
}

/** The element of the latest event; null for none. @returns {any} */
function latest() {
  if ($("probe")) return near(one("#probe .running"), ".probe-row") // the checklist follows what runs
  const n = one("#call > [data-call]")?.dataset.call, mine = `#questions > [data-call="${n}"]`
  return n ? one(mine + "[data-state=pending]") ?? $(`call-${n}-paused`) ?? one(mine + ".awaits") ?? one(`#result-${n}:has(*)`) : null
}

/** The id of the element that was brought into view last. */
let last = ""
/** Whether this element is kept in view while the page changes, until the person acts. */
let kept = false
/** Whether the person has scrolled since their last press of a button. */
let scrolled = false
/** The last control that the person typed into. @type {EventTarget | null} */
let typed = null

/** Tells whether the person has scrolled away from the latest event. */
export function left() {
  const e = scrolled && ($(last) ?? one("#call > *"))
  if (!e) return false
  const { top, bottom } = sight(), r = e.getBoundingClientRect()
  return r.bottom < top || r.top > bottom
}

function look() {
  const e = latest(), id = e?.id ?? ""
  if (id !== last) {
    kept = !left() && (!typed || typed !== document.activeElement)
    last = id
  }
  if (e && kept) bring(e)
}

/** Brings an element into view in place of the latest event. @param {any} e */
export function lookAt(e) {
  last = latest()?.id ?? ""
  kept = false
  bring(e)
}

const inPane = (/** @type {Event} */ e) => near(e.target, "#work")

for (const type of ["wheel", "touchmove", "pointerdown", "keydown"]) on(type, e => {
  if (!inPane(e)) return
  kept = false
  // A press on the pane itself is a press on its scroll bar.
  scrolled ||= type === "wheel" || type === "touchmove" || e.target === pane || /^(Page|Home|End|Arrow)/.test(e.key) && !e.target.matches("input, textarea, select")
}, { passive: true })
on("input", e => { if (inPane(e)) typed = e.target })
for (const type of ["click", "submit"]) on(type, e => {
  if (!near(e.target, "#work form, #work button, .item") || near(e.target, "[data-frame]")) return
  scrolled = false
  if (type === "submit") typed = null
}, true)

whenChanged(look)
// In a narrow window the pane may be shown later, and sizes can change.
new ResizeObserver(look).observe(pane)
