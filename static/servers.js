// @ts-check
/**
 * What a person can do about a server and about a call that waits: buttons that
 * only send something, and settings.
 */
import { announce, post } from "./ask.js"
import { typed, whenChanged } from "./changes.js"
import { $, near, on, one } from "./dom.js"

/** The button that was pressed last, as long as nothing else has had the focus. @type {any} */
let pressed

/** Sends something once, however often the button is pressed meanwhile. @param {any} button @param {string} url @param {string | Record<string, any>} [body] */
async function press(button, url, body) {
  if (button.ariaBusy) return { ok: false }
  button.ariaBusy = "true"
  pressed = button
  const answer = await post(url, new URLSearchParams(body))
  button.ariaBusy = null
  return answer
}

on("focusin", e => { if (e.target !== pressed) pressed = null })

// Where what was pressed goes, the focus goes on to what has come of it.
whenChanged(() => {
  if (!pressed || pressed.isConnected) return
  pressed = null
  if (document.activeElement === document.body) one("#questions [data-state=pending] .message")?.focus({ preventScroll: true })
})

on("click", async e => {
  const { post: url, body, every, compare, settingsOf } = near(e.target, "button")?.dataset ?? {}
  const button = near(e.target, "button")
  if (url) press(button, url, body)
  if (every) press(button, every, { every: button.ariaPressed === "true" ? 0 : one(".seconds", near(button, ".every")).value })
  if (compare) {
    $("comparison-" + compare).textContent = "Connecting twice more to compare…"
    const { ok } = await press(button, `/servers/${compare}/compare`)
    if (!ok) $("comparison-" + compare).textContent = ""
  }
  if (settingsOf) {
    const more = $(`server-${settingsOf}-more`)
    more.showPopover({ source: one(`[popovertarget="${more.id}"]`) })
    one("[name=elicitation]", more)?.focus()
  }
})

// The time between retries counts as soon as it is changed.
on("change", e => {
  const button = one("[aria-pressed=true]", near(e.target, ".every"))
  if (button) press(button, button.dataset.every, { every: e.target.value })
})

// Settings

on("input", e => {
  const form = near(e.target, "form.settings")
  if (form) typed.add(form)
})

on("submit", async e => {
  const form = near(e.target, "form[data-settings]")
  if (!form) return
  e.preventDefault()
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form)))
  typed.delete(form)
  const { ok } = await post(`/servers/${form.dataset.settings}/settings`, body)
  if (ok) announce("Connecting.")
  else typed.add(form)
})

on("change", async e => {
  const form = near(e.target, "form[data-policy]")
  if (!form) return
  const { ok } = await post(`/servers/${form.dataset.policy}/policy`, new URLSearchParams({ policy: e.target.value }))
  if (ok) announce(e.target.selectedOptions[0].text)
  else form.reset()
})
