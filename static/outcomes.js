// @ts-check
/** Announces to screen readers how calls end, and that a server has gone. */
import { announce } from "./ask.js"
import { whenChanged } from "./changes.js"
import { $, all, one } from "./dom.js"

const calls = () => all(".call-tab").map(tab => [tab.dataset.showCall, !tab.matches(".running") && one(".state", tab).textContent])
const servers = () => all(".server").map(row => [row.id, row.matches(".failed, .ended, .disconnected") && one(".chip .state", row).textContent])

/** How each call and server had ended at the last look. @type {Map<string, string | false>} */
let known = new Map([...calls(), ...servers()])

/** The first sentence of a call's result, if it is on show; JSON is not read aloud. @param {string} call */
const said = call => {
  const text = one(`#result-${call} > .result > div :is(.words, p):not(.code *)`)?.innerText.trim() ?? ""
  return /^[[{]/.test(text) ? "" : text.match(/^.{0,299}?[.!?](?=\s|$)|^.{0,300}/)?.[0] ?? ""
}

whenChanged(() => {
  const before = known
  known = new Map([...calls(), ...servers()])
  for (const [id, ended] of known) {
    if (!ended || before.get(id) === ended) continue
    const row = $(id), name = (row ? one(".chip b", row) : one(`.call-tab[data-show-call="${id}"] bdi`)).textContent
    announce(row ? `${name} ${ended}. ${one(".reason", row)?.textContent ?? ""}` : `${name}, call ${id}: ${ended}. ${said(id)}`)
  }
})
