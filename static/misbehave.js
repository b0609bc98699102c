// @ts-check
/** Answers that are wrong on purpose, chosen in the menu of a question. */
import { $, near, on } from "./dom.js"
import { submit } from "./forms.js"
import { goOnAfter } from "./questions.js"

on("submit", async e => {
  const form = near(e.target, "form.fault")
  if (!form) return
  e.preventDefault()
  const n = form.dataset.misbehave, answer = /** @type {HTMLFormElement} */ ($(`q${n}-form`))
  const { value } = /** @type {any} */ (e).submitter ?? form.elements.fault
  if (answer.ariaBusy) return
  const { ok, status } = await submit(answer, `/questions/${n}/misbehave`, { ...Object.fromEntries(new FormData(form)), fault: value })
  if (ok || status === 409) goOnAfter(n)
})
