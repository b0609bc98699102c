// @ts-check
/**
 * A searchable list for too many choices to draw: a combobox whose list box holds
 * only the options in sight. The server searches them. A hidden native select holds
 * the chosen options for the form.
 */
import { drawn } from "./ask.js"
import { parse, whenChanged } from "./changes.js"
import { all, bare, near, on, one } from "./dom.js"

/**
 * @typedef {object} Picker
 * @property {HTMLInputElement} input
 * @property {HTMLElement} list
 * @property {HTMLSelectElement} select
 * @property {HTMLElement | null} chosen the element with the chosen options, if there can be several
 * @property {string} query the search
 * @property {number} total number of matching choices
 * @property {number} active place of the active one among these, -1 for none
 * @property {Map<number, any>} rows fetched options, by their place
 * @property {AbortController} [asking]
 * @property {Promise<void>} ready fulfilled when the last request is done
 */

/** @type {WeakMap<Element, Picker>} */
const pickers = new WeakMap()

/** How many options are fetched at a time. */
const page = 40

/** The picker of a text box. @param {EventTarget | null} t */
const pickerOf = t => pickers.get(near(t, ".picker > input")?.parentElement)

whenChanged(() => {
  for (const box of all(".picker")) {
    const known = pickers.get(box)
    if (known?.list.hidden && document.activeElement !== known.input) reflect(known)
    if (known) continue
    const [input, list, select, chosen = null] = box.children
    const p = { input, list, select, chosen, query: "", total: 0, active: -1, rows: new Map(), ready: Promise.resolve() }
    pickers.set(box, p)
    list.addEventListener("scroll", () => draw(p))
    list.addEventListener("mousedown", (/** @type {Event} */ e) => e.preventDefault())
    reflect(p)
  }
})

/** @param {string} name @param {object} properties @returns {any} */
const make = (name, properties) => Object.assign(document.createElement(name), properties)

/** Shows the chosen options. @param {Picker} p */
function reflect(p) {
  const selected = [...p.select.selectedOptions]
  if (!p.chosen) p.input.value = p.select.value && selected[0].text
  else p.chosen.replaceChildren(...selected.slice(0, 100).map(o => {
    const li = make("li", {}), button = make("button", { type: "button", textContent: o.text, ariaLabel: "Remove " + o.text })
    button.onclick = () => {
      toggle(p, o.value, o.text)
      p.input.focus()
    }
    li.append(button)
    return li
  }))
}

/** Opens the list of the choices that match. @param {Picker} p @param {string} query */
function open(p, query) {
  p.query = query
  p.total = 0
  p.rows.clear()
  p.active = query.trim() ? 0 : -1
  p.list.hidden = false
  p.input.ariaExpanded = "true"
  p.ready = ask(p, 0, !query.trim() && p.select.value)
}

/** Fetches options from a place on, or around the choice with a value. @param {Picker} p @param {number} from @param {string | false} [around] */
async function ask(p, from, around) {
  p.asking?.abort()
  const control = p.asking = new AbortController(), form = near(p.input, "form"), { choices, draft } = form.dataset
  const query = new URLSearchParams({ field: near(p.input, ".field").dataset.field, search: p.query, from: String(from), count: String(page) })
  if (around) query.set("near", around)
  const answer = await drawn(choices + query, control.signal, draft && new FormData(form))
  if (p.asking !== control) return
  p.asking = undefined
  if (!answer) return
  p.total = Number(answer.headers.get("X-Total"))
  for (const row of [...parse(answer.html).children]) p.rows.set(/** @type {any} */ (row).ariaPosInSet - 1, row)
  if (around && answer.headers.has("X-Near")) p.active = Number(answer.headers.get("X-Near"))
  if (from || p.list.hidden) draw(p)
  else reveal(p)
}

/** @param {Picker} p */
function close(p) {
  p.asking?.abort()
  p.asking = undefined
  p.list.hidden = true
  p.input.ariaExpanded = "false"
  p.input.removeAttribute("aria-activedescendant")
}

const height = () => parseFloat(getComputedStyle(document.body).getPropertyValue("--option")) * parseFloat(getComputedStyle(document.documentElement).fontSize)

/** Scrolls to the active option. @param {Picker} p */
function reveal(p) {
  draw(p, true)
  const h = height(), at = Math.max(0, p.active) * h
  p.list.scrollTop = Math.min(at, Math.max(p.list.scrollTop, at + h - p.list.clientHeight))
  draw(p)
}

/** Draws the options in sight, and fetches missing ones. @param {Picker} p @param {boolean} [moving] the list is about to be scrolled */
function draw(p, moving) {
  const h = height(), from = Math.max(0, Math.floor(p.list.scrollTop / h) - 2), to = Math.min(p.total, from + 16)
  const room = make("div", { className: "room", role: "presentation" }), chosen = new Set([...p.select.selectedOptions].map(o => o.value))
  room.style.height = p.total * h + "px"
  for (let i = from; i < to; i++) {
    const option = p.rows.get(i)
    if (!option) {
      if (!p.asking && !moving) p.ready = ask(p, Math.max(1, i - 2))
      break
    }
    option.className = i === p.active ? "on" : ""
    option.ariaSelected = String(chosen.has(option.dataset.value))
    option.style.transform = `translateY(${i * h}px)`
    option.onclick = () => take(p, i)
    room.append(option)
  }
  p.list.replaceChildren(p.total || p.asking ? room : make("p", { textContent: "No matches" }))
  const active = one(".on", room)
  if (active) p.input.setAttribute("aria-activedescendant", active.id)
  else p.input.removeAttribute("aria-activedescendant")
}

/** @param {Picker} p @param {number} at place among the matching options */
function take(p, at) {
  const option = p.rows.get(at)
  if (!option) return
  p.active = at
  toggle(p, option.dataset.value, option.textContent)
  if (p.chosen) draw(p)
  else close(p)
}

/** @param {Picker} p @param {string} value "" for none @param {string} text */
function toggle(p, value, text) {
  const known = [...p.select.options].find(o => o.value === value)
  if (!p.chosen) p.select.value = (known ?? p.select.appendChild(new Option(text, value))).value
  else if (known) known.selected = !known.selected
  else p.select.append(new Option(text, value, false, true))
  reflect(p)
  p.select.dispatchEvent(new Event("input", { bubbles: true }))
}

on("input", e => {
  const p = pickerOf(e.target)
  if (p) open(p, p.input.value)
})

on("click", e => {
  const p = pickerOf(e.target)
  if (p?.list.hidden) open(p, "")
})

on("focusout", e => {
  const p = pickerOf(e.target)
  if (!p) return
  close(p)
  if (p.chosen) p.input.value = ""
  else if (!p.input.value && p.select.value) toggle(p, "", "")
  else reflect(p)
})

// Runs before the keys of forms: Enter and Esc apply to the list while it is open.
on("keydown", e => {
  const p = pickerOf(e.target)
  if (!p || !bare(e)) return
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 9, PageUp: -9 }[/** @type {string} */ (e.key)]
  if (step && p.list.hidden) open(p, p.chosen ? p.input.value : "")
  else if (step) {
    p.ready = p.ready.then(() => {
      p.active = Math.max(0, Math.min(p.total - 1, p.active + step))
      reveal(p)
    })
  } else if (e.key === "Enter" && !p.list.hidden) p.ready.then(() => p.ready).then(() => take(p, p.active))
  else if (e.key === "Escape" && !p.list.hidden) {
    close(p)
    reflect(p)
  } else return
  e.preventDefault()
}, true)
