// @ts-check
/**
 * Keeps the second press of a double click or a double Enter from what came to its place
 * after the first one: nobody meant to answer that question.
 */
import { notice } from "./ask.js"
import { near, on } from "./dom.js"

/** A press of a key or of the pointer, and the card that it was on. @typedef {{e: any, card: string}} Press */
/** The last press. @type {Press | undefined} */
let last
/** The press before it, until the last one has clicked. @type {Press | undefined} */
let first

/** Identifies the card around an element, and its state. @param {EventTarget} t */
function cardAt(t) {
  const card = near(t, "article, .held-line")
  return card && card.id + card.dataset.outcome
}

// Events of a pointer have no key, and those of a key no place.
for (const type of ["pointerdown", "keydown"]) on(type, e => {
  if (e.repeat || /^(Control|Meta|Shift)$/.test(e.key)) return
  first = last
  last = /^(Enter| |undefined)$/.test(e.key) ? { e, card: cardAt(e.target) } : undefined
}, true)

/** Tells whether two presses are a double one. Browsers count those of a mouse, but not of a key or a finger. @param {any} a @param {any} b @param {any} click of b */
const double = (a, b, { detail, pointerType }) => detail > 1 || pointerType !== "mouse"
  && a.key === b.key && b.timeStamp - a.timeStamp < 500 && !(Math.hypot(a.x - b.x, a.y - b.y) > 30)

// A key that submits a form clicks its button, too.
on("click", e => {
  const before = first, card = cardAt(near(e.target, "button, a"))
  first = undefined
  if (!before || !last || !card || before.card === card || !double(before.e, last.e, e)) return
  last = before // to compare a third press with
  e.preventDefault()
  e.stopImmediatePropagation()
  notice("That came up as you pressed a second time, so nothing was done. Press again if you mean it.")
}, true)
