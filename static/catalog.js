// @ts-check
/**
 * The lists of tools, prompts and resources. Of a long list only the items in sight
 * exist. The page fetches them by their place, and the server searches them.
 */
import { mark } from "./address.js"
import { fetched, parse, whenChanged } from "./changes.js"
import { $, all, bare, grouped, near, on, one } from "./dom.js"

/**
 * @typedef {object} List
 * @property {string} search the search that its items match
 * @property {string | undefined} version of the list with these items
 * @property {number} total number of matching items
 * @property {number} height of a row
 * @property {{from: number, to: number, search: string, version: string, control: AbortController}} [asking]
 */

/** @type {WeakMap<Element, List>} */
let lists = new WeakMap()

/** How many items to keep beyond those in sight, and to fetch at most at once. */
const beyond = 25, most = 300

const shelf = () => one(".shelf:not([hidden])")
const wanted = () => $("search").value.trim()
const items = (/** @type {any} */ ul) => [...ul.children]

/** @param {any} ul @returns {List} */
function known(ul) {
  const { version, total } = ul.dataset, list = lists.get(ul) ?? { search: "", version, total: Number(total), height: 0 }
  lists.set(ul, list)
  return list
}

/** Draws the items in sight of a list. @param {any} ul */
function look(ul) {
  const list = known(ul)
  if (list.search !== wanted()) return ask(ul, list, 0, most)
  place(ul, list)
  const whole = list.total <= most, [first, end] = whole ? [0, list.total] : sight(ul, list)
  const there = new Set(items(ul).map(li => Number(li.dataset.place)))
  let lacks = list.version !== ul.dataset.version
  for (let i = Math.max(0, first - 1); i < Math.min(list.total, end + 1); i++) lacks ||= !there.has(i) // keys go to the next item, too
  if (lacks) ask(ul, list, Math.max(0, first - beyond), whole ? most : Math.min(list.total, end + beyond))
}

/** The places in sight: first, and one past the last. @param {any} ul @param {List} list @returns {[number, number]} */
function sight(ul, list) {
  const box = shelf(), above = box.getBoundingClientRect().top - ul.getBoundingClientRect().top
  const first = Math.min(list.total, Math.max(0, Math.floor(above / list.height)))
  return [first, Math.max(first, Math.min(list.total, Math.ceil((above + box.clientHeight) / list.height)))]
}

/** Positions the items of a list. @param {any} ul @param {List} list */
function place(ul, list) {
  const rows = items(ul), long = rows.length < list.total
  ul.classList.toggle("long", long)
  list.height = long ? rows[0]?.offsetHeight || 52 : list.height || 52
  ul.style.height = long ? list.total * list.height + "px" : ""
  for (const li of rows) li.style.transform = long ? `translateY(${Number(li.dataset.place) * list.height}px)` : ""
}

/** Fetches the items from one place up to another. @param {any} ul @param {List} list @param {number} from @param {number} to */
async function ask(ul, list, from, to) {
  const search = wanted(), { version } = ul.dataset, now = list.asking
  if (now && now.search === search && now.version === version && now.from <= from && now.to >= to) return
  now?.control.abort()
  const control = new AbortController()
  list.asking = { from, to, search, version, control }
  const query = new URLSearchParams({ shelf: ul.dataset.shelf, search, from: String(from), count: String(to - from) })
  await fetched(`/servers/${ul.dataset.of}/items?` + query, ({ html, headers }) => {
    if (list.asking?.control !== control || !ul.isConnected) return
    list.asking = undefined
    Object.assign(list, { search, version, total: Number(headers.get("X-Total")) })
    put(ul, /** @type {any[]} */ ([...parse(html).children]))
    look(ul)
    say()
    mark()
    rove()
  }, control.signal)
  if (list.asking?.control === control) list.asking = undefined
}

/**
 * Replaces the items of a list. Elements of equal items stay, so that no press of a
 * button is lost, and so does the one with the focus.
 * @param {any} ul @param {any[]} fresh
 */
function put(ul, fresh) {
  const key = (/** @type {any} */ li) => li.dataset.place + " " + li.dataset.item, at = (/** @type {any} */ li) => Number(li.dataset.place)
  const old = new Map(items(ul).map(li => [key(li), li]))
  const rows = fresh.map(li => {
    const twin = old.get(key(li))
    if (!twin) return li
    twin.ariaSetSize = li.ariaSetSize
    if (!twin.isEqualNode(li)) one(".about", twin).replaceWith(one(".about", li))
    return twin
  })
  const held = items(ul).find(li => li.contains(document.activeElement))
  if (held && !rows.includes(held)) rows.splice(rows.filter(li => at(li) < at(held)).length, 0, held)
  for (const li of items(ul)) if (!rows.includes(li)) li.remove()
  rows.forEach((li, i) => { if (li !== ul.children[i]) ul.insertBefore(li, ul.children[i] ?? null) })
}

/** Shows the number of items, or that none was found. */
function say() {
  const shown = all(".items", shelf()), count = shown.reduce((n, ul) => n + Number(ul.dataset.total), 0)
  const kind = shelf().id.replace("-panel", "")
  $("search").placeholder = count === 1 ? `Search 1 ${kind.slice(0, -1)}` : `Search ${grouped(count)} ${kind}`
  one(".none", shelf()).hidden = !shown.length || shown.some(ul => known(ul).search !== wanted() || known(ul).total > 0)
}

function lookAtAll() {
  for (const ul of all(".items", shelf())) look(ul)
  say()
  rove()
}

/** Gives the list one tab stop: the item that had the focus last, or the item on show, or the first item. */
function rove() {
  const shown = all(".item", shelf()), stop = shown.find(i => i === document.activeElement) ?? shown.find(i => i.tabIndex === 0 && roved.has(i)) ?? shown.find(i => i.ariaCurrent) ?? shown[0]
  for (const item of shown) item.tabIndex = item === stop ? 0 : -1
}

/** Items that have had the focus. @type {WeakSet<Element>} */
const roved = new WeakSet()
on("focusin", e => {
  if (!e.target.matches(".item")) return
  roved.add(e.target)
  rove()
})

on("input", e => {
  if (e.target.id !== "search") return
  shelf().scrollTop = 0
  lookAtAll()
})
on("chosen", e => { if (near(e.target, ".catalog")) lookAtAll() })
on("scroll", e => { if (near(e.target, ".shelf")) for (const ul of all(".items", shelf())) look(ul) }, true)
addEventListener("resize", lookAtAll)
on("redrawn", () => { lists = new WeakMap() })
whenChanged(lookAtAll)

// Keys

on("keydown", e => {
  if (!bare(e) || !e.target.matches("#search, .item")) return
  const shown = all(".item", shelf()), at = shown.indexOf(e.target), item = at >= 0
  if (e.key === "ArrowDown") shown[at + 1]?.focus()
  else if (e.key === "ArrowUp") (shown[at - 1] ?? $("search")).focus()
  else if (item && e.key === "Home") toEnd(0)
  else if (item && e.key === "End") toEnd(shelf().scrollHeight)
  else return
  e.preventDefault()
})

/** Goes to the first or the last item, which may have to be fetched. @param {number} top */
async function toEnd(top) {
  shelf().scrollTop = top
  lookAtAll()
  const shown = () => all(".items", shelf()).map(known)
  while (shown().some(list => list.asking)) await new Promise(done => setTimeout(done, 20))
  all(".item", shelf()).at(top ? -1 : 0)?.focus()
}
