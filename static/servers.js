// @ts-check
/**
 * What a person can do about a server and about a call that waits: buttons that
 * only send something, settings, and the panel of findings.
 */
import { announce, apply, drawn, post, unsaved, whenChanged } from "./changes.js"
import { $, all, near, on, one } from "./dom.js"

/** Sends something once, however often the button is pressed meanwhile. @param {any} button @param {string} url @param {object} [body] */
async function press(button, url, body) {
  if (button.ariaBusy) return { ok: false }
  button.ariaBusy = "true"
  const answer = await post(url, new URLSearchParams(body))
  button.ariaBusy = null
  if (button.isConnected || document.activeElement !== document.body) return answer
  // What was pressed is gone: go on in what has come of it.
  $("questions").querySelector("[data-state=pending] .message")?.focus({ preventScroll: true })
  return answer
}

on("click", async e => {
  const { post: url, body, every, compare, settingsOf, findings } = near(e.target, "button")?.dataset ?? {}
  const button = near(e.target, "button")
  if (url) press(button, url, body)
  if (every) press(button, every, { every: button.ariaPressed === "true" ? 0 : one(".seconds", near(button, ".every")).value })
  if (findings) $("findings-" + findings).hasChildNodes() ? fold(findings) : unfold(findings)
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
  if (form) unsaved.add(form)
})

on("submit", async e => {
  const form = near(e.target, "form[data-settings]")
  if (!form) return
  e.preventDefault()
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form)))
  unsaved.delete(form)
  const { ok } = await post(`/servers/${form.dataset.settings}/settings`, body)
  if (ok) announce("Connecting.")
  else unsaved.add(form)
})

on("change", async e => {
  const form = near(e.target, "form[data-policy]")
  if (!form) return
  const { ok } = await post(`/servers/${form.dataset.policy}/policy`, new URLSearchParams({ policy: e.target.value }))
  if (ok) announce(e.target.selectedOptions[0].text)
  else form.reset()
})

// Findings: fetched when they are wanted, and again when there are more

/** How many findings each panel was fetched for. @type {Map<string, string>} */
const fetched = new Map()

/** @param {string} id */
async function unfold(id) {
  fetched.set(id, $(`findings-${id}-button`).dataset.count)
  const panel = await drawn(`/servers/${id}/findings`)
  if (panel && fetched.has(id)) apply([{ op: "append", target: "findings-" + id, html: panel.html }])
  else fold(id)
}

/** @param {string} id */
function fold(id) {
  fetched.delete(id)
  $("findings-" + id).replaceChildren()
  $(`findings-${id}-button`).ariaExpanded = "false"
}

whenChanged(() => {
  for (const button of all("[data-findings]")) {
    const { findings: id, count } = button.dataset, open = $("findings-" + id).hasChildNodes()
    button.ariaExpanded = String(open)
    if (open && fetched.get(id) !== count) unfold(id)
  }
})
