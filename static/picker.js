// @ts-check
/**
 * A searchable list for choices too many to draw: a combobox whose list box
 * holds only the options in sight. A native select, hidden, knows the choices
 * and what is chosen, and is what the form sends.
 */
import { whenChanged } from "./changes.js"
import { all, bare, near, on, one } from "./dom.js"

/**
 * @typedef {object} Picker
 * @property {HTMLInputElement} input
 * @property {HTMLElement} list
 * @property {HTMLSelectElement} select
 * @property {HTMLElement | null} chosen where the chosen ones stand, if there can be several
 * @property {string[]} texts lower case, by index
 * @property {number[]} hits indexes of the options that match
 * @property {number} active place in hits, -1 for none
 */

/** @type {WeakMap<Element, Picker>} */
const pickers = new WeakMap()

/** The picker whose text box something happened in. @param {EventTarget | null} t */
const pickerOf = t => pickers.get(near(t, ".picker > input")?.parentElement)

whenChanged(() => {
  for (const box of all(".picker")) {
    const known = pickers.get(box)
    if (known?.list.hidden && document.activeElement !== known.input) reflect(known)
    if (known) continue
    const [input, list, select, chosen = null] = box.children
    const p = { input, list, select, chosen, texts: [], hits: [], active: -1 }
    pickers.set(box, p)
    list.addEventListener("scroll", () => draw(p))
    list.addEventListener("mousedown", (/** @type {Event} */ e) => e.preventDefault())
    reflect(p)
  }
})

/** @param {string} name @param {object} properties @returns {any} */
const make = (name, properties) => Object.assign(document.createElement(name), properties)

/** Shows what is chosen. @param {Picker} p */
function reflect(p) {
  const selected = [...p.select.selectedOptions]
  if (!p.chosen) p.input.value = p.select.value && selected[0].text
  else p.chosen.replaceChildren(...selected.slice(0, 100).map(o => {
    const li = make("li", {}), button = make("button", { type: "button", textContent: o.text, ariaLabel: "Remove " + o.text })
    button.onclick = () => {
      toggle(p, o.index)
      p.input.focus()
    }
    li.append(button)
    return li
  }))
}

/** Opens the list on what matches. @param {Picker} p @param {string} query */
function open(p, query) {
  if (!p.texts.length) p.texts = Array.from(p.select.options, o => o.text.toLowerCase())
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  p.hits = []
  p.texts.forEach((t, i) => { if (words.every(w => t.includes(w))) p.hits.push(i) })
  p.active = words.length ? 0 : p.hits.indexOf(p.select.selectedIndex)
  p.list.hidden = false
  p.input.ariaExpanded = "true"
  reveal(p)
}

/** @param {Picker} p */
function close(p) {
  p.list.hidden = true
  p.input.ariaExpanded = "false"
  p.input.removeAttribute("aria-activedescendant")
}

const height = () => 1.75 * parseFloat(getComputedStyle(document.documentElement).fontSize)

/** Scrolls to the active option. @param {Picker} p */
function reveal(p) {
  draw(p)
  const h = height(), at = Math.max(0, p.active) * h
  p.list.scrollTop = Math.min(at, Math.max(p.list.scrollTop, at + h - p.list.clientHeight))
  draw(p)
}

/** Draws the options in sight. @param {Picker} p */
function draw(p) {
  const h = height(), from = Math.max(0, Math.floor(p.list.scrollTop / h) - 2)
  const room = make("div", { className: "room", role: "presentation" })
  room.style.height = p.hits.length * h + "px"
  p.hits.slice(from, from + 16).forEach((index, i) => {
    const { selected, text } = p.select.options[index]
    const option = make("div", {
      id: `${p.list.id}-${index}`, role: "option", dir: "auto", textContent: text, className: from + i === p.active ? "on" : "",
      ariaSelected: String(selected), ariaSetSize: String(p.hits.length), ariaPosInSet: String(from + i + 1),
    })
    option.style.transform = `translateY(${(from + i) * h}px)`
    option.onclick = () => take(p, from + i)
    room.append(option)
  })
  p.list.replaceChildren(p.hits.length ? room : make("p", { textContent: "Nothing matches." }))
  const active = one(".on", room)
  if (active) p.input.setAttribute("aria-activedescendant", active.id)
  else p.input.removeAttribute("aria-activedescendant")
}

/** @param {Picker} p @param {number} at place in hits */
function take(p, at) {
  if (p.hits[at] === undefined) return
  p.active = at
  toggle(p, p.hits[at])
  if (p.chosen) draw(p)
  else close(p)
}

/** @param {Picker} p @param {number} index */
function toggle(p, index) {
  if (p.chosen) p.select.options[index].selected = !p.select.options[index].selected
  else p.select.selectedIndex = index
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
  else if (!p.input.value && p.select.value) toggle(p, 0)
  else reflect(p)
})

// Before the keys of forms: Enter and Esc mean the list while it is open.
on("keydown", e => {
  const p = pickerOf(e.target)
  if (!p || !bare(e)) return
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 9, PageUp: -9 }[/** @type {string} */ (e.key)]
  if (step && p.list.hidden) open(p, p.chosen ? p.input.value : "")
  else if (step) {
    p.active = Math.max(0, Math.min(p.hits.length - 1, p.active + step))
    reveal(p)
  } else if (e.key === "Enter" && !p.list.hidden) take(p, p.active)
  else if (e.key === "Escape" && !p.list.hidden) {
    close(p)
    reflect(p)
  } else return
  e.preventDefault()
}, true)
