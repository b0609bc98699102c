// @ts-check
/**
 * The filter line: a combobox (ARIA Authoring Practices). The server provides its
 * suggestions and finds mistakes. The typed line applies at once, and is in the
 * page's address.
 */
import { inAddress, toAddress } from "./address.js"
import { announce } from "./ask.js"
import { whenChanged } from "./changes.js"
import { $, all, bare, near, on, one } from "./dom.js"
import { showPane } from "./panes.js"
import { lookThrough } from "./wire.js"

const input = $("filter"), paint = $("filter-paint"), list = $("filter-list"), wrong = $("filter-error"), clear = $("filter-clear")

/** @typedef {{pos: number, end: number, text: string}} Mistake */
/** @type {{from: number, to: number, items: {text: string, means?: string}[], error?: Mistake, meant?: string}} */
let ways = { from: 0, to: 0, items: [] }
/** The suggestion that Enter takes; -1 for none. */
let active = -1
/** @type {AbortController | undefined} */
let asking
let explaining = 0

/** Puts a line into the text box and applies it. @param {string} line @param {boolean} [step] add an entry to the browser's history */
export function setFilter(line, step) {
  input.value = line
  close()
  typed(false)
  apply(step)
}

/** Applies the typed line. @param {boolean} [step] */
function apply(step) {
  const line = input.value.trim()
  toAddress({ filter: line }, step)
  lookThrough(line)
}

/** @param {boolean} offer show suggestions */
async function typed(offer) {
  colour()
  clear.hidden = !input.value
  press()
  asking?.abort()
  clearTimeout(explaining)
  const control = asking = new AbortController()
  try {
    const query = new URLSearchParams({ line: input.value, at: String(input.selectionStart) })
    const response = await fetch("/wire/complete?" + query, { signal: control.signal })
    if (!response.ok) return
    ways = await response.json()
    for (const link of all(".meant")) Object.assign(link, { hidden: !ways.meant, textContent: `Did you mean ${ways.meant}?` }).dataset.filter = ways.meant
  } catch {
    return // more was typed, or the inspector is gone, which other scripts show
  }
  if (offer && unfinished()) open()
  else close()
  if (!ways.error) {
    explain()
    if (offer) apply()
  } else if (wrong.textContent) explain()
  // Show mistakes only when nobody is typing.
  else explaining = setTimeout(explain, list.hidden ? 300 : 1200)
}

/** Shows the mistake under its place in the line, or removes it. */
function explain() {
  const { error } = ways
  input.ariaInvalid = error ? "true" : null
  if (wrong.textContent !== (error?.text ?? "")) {
    wrong.textContent = error?.text ?? ""
    if (error) announce(error.text)
  }
  if (error) wrong.style.setProperty("--at", String(Math.min(error.pos, 40)))
  colour()
}

const tokens = /("(?:\\.|[^"\\])*"?|(?<![^\s(!-])\/(?:\\.|[^/\\])*\/?i?)|((?<![^\s(!|&-])[a-z]+)(\s*(?:[:=<>]|!=)[=<>]*)|((?<!\S)(?:or|and|not|[&|])(?!\S)|&&|\|\||(?<![^\s(])-(?=[\p{L}(/"!])|[!()])/giu

/** Colours the line behind the text box, and underlines the mistake. */
function colour() {
  const line = input.value, pieces = /** @type {any[]} */ ([])
  const error = input.ariaInvalid === "true" ? ways.error : undefined
  const add = (/** @type {number} */ from, /** @type {number} */ to, /** @type {string} */ kind) => {
    const cuts = [...new Set([from, error?.pos ?? from, error?.end ?? from, to])].filter(n => n >= from && n <= to).sort((a, b) => a - b)
    for (let i = 0; i + 1 < cuts.length; i++) {
      const piece = document.createElement("span"), wrong = error && cuts[i] >= error.pos && cuts[i] < error.end
      Object.assign(piece, { textContent: line.slice(cuts[i], cuts[i + 1]), className: kind + (wrong ? " wrong" : "") })
      pieces.push(piece)
    }
  }
  let at = 0
  for (const m of line.matchAll(tokens)) {
    add(at, m.index, "")
    at = m.index + m[0].length
    add(m.index, at, m[1] ? "s" : m[2] ? "k" : "b")
  }
  add(at, line.length, "")
  if (error && error.pos >= line.length) {
    const piece = document.createElement("span")
    Object.assign(piece, { textContent: "\u00a0\u00a0", className: "wrong" })
    pieces.push(piece)
  }
  paint.replaceChildren(...pieces)
  paint.scrollLeft = input.scrollLeft
}

// The list

/** Tells whether a term is being typed, or none is there yet: a list under a finished line would cover the rows. */
function unfinished() {
  const before = input.value.slice(0, input.selectionStart)
  return !before.trim() || /\S$/.test(before)
}

function open() {
  const { items, from, to } = ways, known = input.value.slice(from, to)
  active = -1
  list.hidden = !items.length || items.length === 1 && items[0].text === known || document.activeElement !== input
  if (list.hidden) return close()
  list.replaceChildren(...items.map(({ text, means }, i) => {
    const option = document.createElement("li")
    Object.assign(option, { id: "filter-way-" + i, role: "option", ariaSelected: "false" })
    const word = document.createElement("span"), what = document.createElement("span")
    word.textContent = text
    what.textContent = means ?? ""
    option.append(word, what)
    return option
  }))
  list.scrollTop = 0
  input.ariaExpanded = "true"
  input.removeAttribute("aria-activedescendant")
}

function close() {
  list.hidden = true
  active = -1
  input.ariaExpanded = "false"
  input.removeAttribute("aria-activedescendant")
}

/** @param {number} to place in the list */
function move(to) {
  const options = all("[role=option]", list)
  active = (to + options.length + 1) % (options.length + 1)
  if (active === options.length) active = -1
  options.forEach((o, i) => { o.ariaSelected = String(i === active) })
  const at = options[active]
  if (!at) return input.removeAttribute("aria-activedescendant")
  input.setAttribute("aria-activedescendant", at.id)
  at.scrollIntoView({ block: "nearest" })
}

/** Takes a suggestion. @param {number} i */
function take(i) {
  const { from, to, items } = ways, { text } = items[i], open = /[:<>=]$/.test(text)
  const rest = input.value.slice(to)
  input.setRangeText(text + (open || rest ? "" : " "), from, to, "end")
  input.focus()
  close()
  typed(true)
}

list.addEventListener("mousedown", (/** @type {Event} */ e) => e.preventDefault())
list.addEventListener("click", (/** @type {Event} */ e) => {
  const option = near(e.target, "[role=option]")
  if (option) take([...list.children].indexOf(option))
})

input.addEventListener("input", () => typed(true))
input.addEventListener("click", () => { if (!input.value) typed(true) })
input.addEventListener("scroll", () => { paint.scrollLeft = input.scrollLeft })
input.addEventListener("blur", () => {
  close()
  if (ways.error) explain()
})

input.addEventListener("keydown", (/** @type {KeyboardEvent} */ e) => {
  if (!bare(e) || e.isComposing) return
  if (e.key === "ArrowDown" && list.hidden) typed(true).then(open)
  else if (e.key === "ArrowDown") move(active + 1)
  else if (e.key === "ArrowUp" && !list.hidden) move(active < 0 ? list.children.length - 1 : active - 1)
  else if ((e.key === "Enter" || e.key === "Tab") && active >= 0) take(active)
  else if (e.key === "Enter") {
    close()
    if (ways.error) explain()
    else apply(true)
  } else if (e.key === "Escape" && !list.hidden) close()
  else if (e.key === "Escape") $("grid").focus()
  else return
  e.preventDefault()
})

clear.addEventListener("click", () => {
  setFilter("", true)
  input.focus()
})

// Chips put a term into the line, in place of another of their group

/** The places of a term in a line. @param {string} term */
const place = term => new RegExp(`(?<!\\S)${term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}(?!\\S)\\s*`, "g")

/** Shows which chips' terms are in the line. */
function press() {
  for (const chip of all(".quick")) chip.ariaPressed = String(!!chip.dataset.term && place(chip.dataset.term).test(input.value))
}

on("click", e => {
  const chip = near(e.target, ".quick"), link = near(e.target, "[data-filter]")
  if (link) {
    setFilter(link.dataset.filter, true)
    showPane("wire")
    announce(link.dataset.filter ? `Only ${link.dataset.filter} is shown.` : "All frames are shown.")
  }
  if (!chip) return
  const { term, group } = chip.dataset, on = chip.ariaPressed === "true"
  let line = input.value
  for (const other of all(`.quick[data-group="${group}"]`)) if (other.dataset.term) line = line.replace(place(other.dataset.term), "")
  if (group === "call") line = line.replace(anyCall, "")
  line = line.trim()
  // "or" binds weaker than the term that is added.
  if (!on && either.test(line)) line = `(${line})`
  setFilter((line + (on ? "" : " " + term)).trim(), true)
})

const either = /\|\||(?<!\S)(?:or|\|)(?!\S)/i

const anyCall = /(?<!\S)call:\d+(?!\S)\s*/g

whenChanged(() => {
  const { call } = one("#call > [data-call]")?.dataset ?? {}, chip = $("this-call"), before = chip.dataset.term ?? ""
  const now = "call:" + call
  chip.hidden = !call
  // While a form is on show, the chip keeps the last call.
  if (!call || before === now) return
  chip.dataset.term = now
  // A chosen chip follows the call on show.
  if (before && place(before).test(input.value)) setFilter(input.value.replace(place(before), now + " ").trim())
  else press()
})

addEventListener("popstate", () => {
  if (inAddress("filter") !== input.value.trim()) setFilter(inAddress("filter"))
})

if (inAddress("filter")) setFilter(inAddress("filter"))
