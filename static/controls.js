// @ts-check
/**
 * Buttons, forms and settings that only send something. Their attributes: data-post
 * is the URL, data-body the body; data-makes says that the response is a call to
 * show; data-said is the text for screen readers afterwards; data-next is the
 * element that gets the focus if the button goes.
 */
import { announce, post } from "./ask.js"
import { send, typed, whenChanged } from "./changes.js"
import { $, all, near, on, one } from "./dom.js"
import { showMade } from "./forms.js"

/** The last pressed button, until something else gets the focus. @type {any} */
let pressed

/** Sends a button's request; further presses meanwhile do nothing. @param {any} button @param {string | Record<string, any>} [body] */
async function press(button, body = button.dataset.body) {
  if (button.ariaBusy) return
  button.ariaBusy = "true"
  pressed = button
  const answer = await post(button.dataset.post, new URLSearchParams(body))
  button.ariaBusy = null
  if (answer.ok) announceOf(button)
  if (button.dataset.makes) showMade(answer)
}

/** @param {any} e the used control */
function announceOf({ dataset: { said }, selectedOptions }) {
  if (said !== undefined) announce(said || selectedOptions[0].text)
}

on("focusin", e => { if (e.target !== pressed) pressed = null })

whenChanged(() => {
  if (!pressed || pressed.isConnected) return
  const next = $(pressed.dataset.next) ?? one("#questions [data-state=pending] .message")
  pressed = null
  if (document.activeElement === document.body) next?.focus({ preventScroll: true })
})

on("click", e => {
  const button = near(e.target, "button[data-post]"), every = near(button, ".every"), settings = near(e.target, "[data-settings-of]")
  if (every) press(button, { every: button.ariaPressed === "true" ? 0 : one(".seconds", every).value })
  else if (button) press(button)
  if (settings) {
    const more = $(`server-${settings.dataset.settingsOf}-more`)
    more.showPopover({ source: one(`[popovertarget="${more.id}"]`) })
    one("[name=elicitation]", more)?.focus()
  }
})

on("change", async e => {
  if (e.target.id === "script-file") $("script-text").value = await e.target.files[0]?.text() ?? ""
  const { form, name, value, checked, dataset } = e.target, button = one("[aria-pressed=true]", near(e.target, ".every"))
  // The interval of retries applies as soon as it is changed.
  if (button) press(button, { every: value })
  if (!dataset.post) return
  const { ok } = await post(dataset.post, new URLSearchParams({ [name]: checked === false ? "" : value }))
  if (ok) announceOf(e.target)
  else form?.reset()
})

on("input", e => {
  const form = near(e.target, "form[data-post]")
  if (!form) return
  typed.add(form)
  // A mistake goes as soon as something is changed; the next attempt judges again.
  for (const e of all("[aria-invalid]", form)) e.removeAttribute("aria-invalid")
  one(".error", form)?.replaceChildren()
})

on("submit", async e => {
  const form = near(e.target, "form[data-post]")
  if (!form) return
  e.preventDefault()
  pressed = e.submitter
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form)))
  typed.delete(form)
  const { ok } = await send(form.dataset.post, body)
  if (ok) {
    if (form.dataset.closes !== undefined) form.hidePopover()
    return announceOf(form)
  }
  typed.add(form)
  one("[aria-invalid=true]", form)?.focus()
})
