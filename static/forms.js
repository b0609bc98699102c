// @ts-check
/**
 * Forms of questions and of calls: saving typed input at once, sending answers and
 * calls, and helpers of fields.
 */
import { show, showing } from "./address.js"
import { announce } from "./ask.js"
import { send, typed, whenChanged } from "./changes.js"
import { $, all, focusField, focusFirst, near, on, one, uncover } from "./dom.js"
import { goOnAfter } from "./questions.js"
import { toEnd } from "./wire.js"

/** @param {EventTarget | null} t @returns {HTMLFormElement | null} */
const formOf = t => near(t, "form.answer, #args-form")

/** The values of a form, and further ones to send with them; in parts if one is a file. @param {HTMLFormElement} form @param {object} [more] */
function values(form, more) {
  const values = new FormData(form)
  for (const [name, value] of Object.entries(more ?? {})) values.set(name, value)
  return one("[type=file]", form) ? values : new URLSearchParams(/** @type {any} */ (values))
}

/** The URL of an action on a form. @param {HTMLFormElement} form @param {string} what */
const address = (form, what) => form.dataset.question ? `/questions/${form.dataset.question}/${what}` : "/form/" + what.replace("draft", "preview")

// Saving

/** @typedef {{timer: number, version: number, saved: number, sending?: AbortController}} Draft */
/** @type {WeakMap<HTMLFormElement, Draft>} */
const drafts = new WeakMap()

/** @param {HTMLFormElement} form @returns {Draft} */
function draftOf(form) {
  const draft = drafts.get(form) ?? { timer: 0, version: 0, saved: 0 }
  drafts.set(form, draft)
  return draft
}

/** Saves after a short delay: soon enough for the preview, with few requests. @param {HTMLFormElement} form */
function changed(form) {
  const draft = draftOf(form)
  draft.version++
  typed.add(form)
  if (!draft.timer && !draft.sending) draft.timer = setTimeout(save, 60, form)
}

/** @param {HTMLFormElement} form */
async function save(form) {
  const draft = draftOf(form), { version } = draft
  draft.timer = 0
  if (!form.isConnected || form.ariaBusy) return
  draft.sending = new AbortController()
  const { ok } = await send(address(form, "draft"), values(form), { signal: draft.sending.signal })
  draft.sending = undefined
  if (ok) draft.saved = version
  if (version !== draft.version) draft.timer ||= setTimeout(save, 60, form)
}

addEventListener("pagehide", () => {
  for (const form of all("form.answer")) {
    const { version, saved } = draftOf(form)
    if (version !== saved) fetch(address(form, "draft"), { method: "POST", body: values(form), keepalive: true })
  }
})

on("input", e => {
  const form = formOf(e.target), field = near(e.target, ".field")
  if (!form || near(e.target, ".several")) return
  // What is sent keeps its width while somebody types: the field must not move.
  const beside = one(".sending", form)
  if (beside) beside.style.width ||= beside.offsetWidth + "px"
  if (field) {
    const reset = one(".reset", field)
    if (reset) reset.hidden = false
    // An error goes as soon as the field is changed; Accept checks again.
    for (const e of all("[aria-invalid]", field)) e.removeAttribute("aria-invalid")
    one(".error", field)?.replaceChildren()
    const count = one(".wrong-fields", form), left = all(".field:has([aria-invalid=true])", form).length
    if (count) count.textContent = left === 1 ? "1 field needs attention" : left ? `${left} fields need attention` : ""
  }
  changed(form)
})

// Sending

/**
 * Sends all values in place of a pending draft. The form stays busy if its new
 * state is pushed.
 * @param {HTMLFormElement} form @param {string} url @param {object} [more]
 */
export async function submit(form, url, more) {
  const draft = draftOf(form), body = values(form, more)
  clearTimeout(draft.timer)
  draft.timer = 0
  draft.sending?.abort()
  draft.saved = draft.version
  typed.delete(form)
  form.ariaBusy = "true"
  const answer = await send(url, body)
  if (answer.status !== 204) form.ariaBusy = null
  if (!answer.ok && !answer.wrong) typed.add(form)
  return answer
}

/** Focuses the first invalid field, or the problems of the form. @param {Element | null} root */
function toTrouble(root) {
  const wrong = one("[aria-invalid=true]", root), problems = one(".problems", root), n = all(".field.invalid", root).length
  near(wrong ?? problems, "details")?.setAttribute("open", "")
  focusField(wrong ?? problems)
  announce([n && (n === 1 ? "1 field needs attention." : `${n} fields need attention.`), problems?.innerText].filter(Boolean).join(" "))
}

on("focusin", e => uncover(e.target))

on("click", e => {
  const card = near(near(e.target, "[data-first-found]"), "article"), field = near(one(".in-place-of", card), ".field")
  if (near(e.target, "[data-first-wrong]")) toTrouble(formOf(e.target))
  field?.scrollIntoView()
  if (field) focusFirst(field)
})

/** @param {HTMLFormElement} form @param {any} button */
async function answer(form, button) {
  const n = form.dataset.question ?? "", force = button?.dataset.force && { force: 1 }
  const { ok, wrong, status } = await submit(form, `/questions/${n}/answer`, { action: button?.value ?? "accept", ...force })
  if (wrong) toTrouble($("q" + n))
  else if (ok || status === 409) goOnAfter(n)
}

/** @param {HTMLFormElement} form @param {any} button */
async function call(form, button) {
  if (one("#call .running")) return
  const { ok, wrong } = await submit(form, "/calls", button?.dataset.force && { force: 1 })
  if (wrong) toTrouble($("call"))
  else if (ok) made()
}

/** Shows a new call. @param {{ok: boolean, text: string}} answer */
export async function showMade({ ok, text: call }) {
  if (ok && await show("?call=" + call)) made()
}

/** Moves the address and the focus to a new call that is on show, and the log to its frames. */
function made() {
  toEnd()
  showing()
  if (document.activeElement === document.body) one("#call h2")?.focus({ preventScroll: true })
}

/** What draws the form anew: a tab, or a reset. An answer that is pressed meanwhile waits for it. @type {WeakMap<HTMLFormElement, Promise<any>>} */
const turning = new WeakMap()

/** Whether a form can be sent, as soon as it is drawn. @param {HTMLFormElement} form */
export async function ready(form) {
  await turning.get(form)
  return !form.ariaBusy
}

/** Draws the form anew. @param {HTMLFormElement} form @param {string} what @param {object} more */
function turn(form, what, more) {
  const turned = submit(form, address(form, what), more)
  turning.set(form, turned)
  return turned
}

on("submit", async e => {
  const form = formOf(e.target)
  if (!form) return
  e.preventDefault()
  const { submitter } = e
  if (await ready(form)) (form.dataset.question ? answer : call)(form, submitter)
})

on("click", async e => {
  const form = formOf(e.target)
  if (!form) return
  const tab = near(e.target, "[role=tab][data-to]"), field = near(near(e.target, ".reset"), ".field")
  if (tab && tab.ariaSelected !== "true") {
    const { wrong } = await turn(form, "tab", { to: tab.dataset.to })
    if (wrong) toTrouble($(form.id))
    else $(tab.id)?.focus({ preventScroll: true })
  }
  if (field) {
    const { id } = one("[id$='-label']", field)
    await turn(form, "reset", { field: field.dataset.field })
    focusField($(id.replace("-label", "")))
  }
})

// Keys

/** Where the focus was before Esc offered Cancel. @type {any} */
let back = null

on("keydown", e => {
  const form = formOf(e.target)
  if (e.key === "Enter" && form) {
    // A key that was held down before this question came must not answer it.
    if (e.repeat) e.preventDefault()
    else if (e.ctrlKey || e.metaKey) {
      e.preventDefault()
      one("button.primary:enabled", form)?.click()
    }
  }
  const cancel = one("[value=cancel]", near(e.target, "[data-state=pending]"))
  if (e.key !== "Escape" || e.defaultPrevented || !cancel || one(":popover-open", near(cancel, "article"))) return
  e.preventDefault()
  if (cancel === e.target) return back?.focus()
  back = e.target
  const hint = $(cancel.getAttribute("aria-describedby"))
  hint.textContent = "Enter cancels the question. Esc goes back."
  cancel.focus()
  cancel.addEventListener("blur", () => hint.replaceChildren(), { once: true })
})

// Keyboards with a command key

if (/Mac|iP/.test(navigator.platform)) whenChanged(() => {
  for (const key of all(".keys kbd:first-child")) key.textContent = "⌘"
})
