// @ts-check
/** Answers outside of forms: opened URLs, and answers that are wrong on purpose. */
import { announce, copied, notice, post } from "./ask.js"
import { $, all, near, on, one } from "./dom.js"
import { ready, submit } from "./forms.js"
import { goOnAfter } from "./questions.js"

// Questions in URL mode. Opening the page is the consent: the browser follows a
// real link, and the answer is sent at the same time.

/** @param {string} n the question's number */
async function accept(n) {
  // The page that opens may suspend this one.
  const { ok, status } = await post(`/questions/${n}/answer`, new URLSearchParams({ action: "accept" }), { keepalive: true })
  if (ok || status === 409) goOnAfter(n)
}

// The middle button also opens links.
for (const type of ["click", "auxclick"]) on(type, e => {
  const link = near(e.target, "[data-open]"), copies = near(e.target, "[data-copy]")
  if (link && e.button < 2) accept(link.dataset.open)
  if (copies && e.button === 0) copy(copies.dataset.copy)
})

/**
 * Copies the address as the server sent it, or as it is shown if it cannot be
 * opened: its hidden characters could do harm where it is pasted.
 * @param {string} n
 */
async function copy(n) {
  if (!await copied($(`q${n}-open`)?.getAttribute("href") ?? $(`q${n}-url`).textContent)) {
    return notice("The browser did not let the URL be copied, so nothing was answered.")
  }
  announce("Copied.")
  accept(n)
}

// Answers that are wrong on purpose, chosen in the menu of a question

on("input", e => {
  const search = near(e.target, "[data-find-fault]"), menu = near(search, ".faults")
  if (!search) return
  const words = search.value.toLowerCase().split(/\s+/)
  for (const li of all("li", menu)) li.hidden = !words.every((/** @type {string} */ w) => li.textContent.toLowerCase().includes(w))
  for (const group of all("section", menu)) group.hidden = !one("li:not([hidden])", group)
})

on("click", e => {
  const jump = near(e.target, "[data-fault-group]")
  if (!jump) return
  const group = $(jump.dataset.faultGroup)
  group.scrollIntoView({ block: "nearest" })
  one("li:not([hidden]) button", group)?.focus()
})

on("submit", async e => {
  const form = near(e.target, "form.fault")
  if (!form) return
  e.preventDefault()
  const n = form.dataset.misbehave, answer = /** @type {HTMLFormElement} */ ($(`q${n}-form`))
  const { value } = /** @type {any} */ (e).submitter ?? form.elements.fault
  if (!await ready(answer)) return
  const { ok, status } = await submit(answer, `/questions/${n}/misbehave`, { ...Object.fromEntries(new FormData(form)), fault: value })
  if (ok || status === 409) goOnAfter(n)
})
