// @ts-check
/** Writing frames to a transcript, from now on. To end that is a button like any other. */
import { announce } from "./ask.js"
import { send, typed, whenChanged } from "./changes.js"
import { $, near, on } from "./dom.js"

on("input", e => {
  const form = near(e.target, "form[data-recording]")
  if (form) typed.add(form)
})

on("submit", async e => {
  const form = near(e.target, "form[data-recording]")
  if (!form) return
  e.preventDefault()
  const { ok } = await send("/recording/start", new URLSearchParams(/** @type {any} */ (new FormData(form))))
  if (!ok) return $("recording-name")?.focus()
  typed.delete(form)
  announce("Recording.")
  begun = true
})

/** Whether this page has begun a recording that is not drawn yet. */
let begun = false

whenChanged(() => {
  if (!begun || !$("recording-stop")) return
  begun = false
  $("recording-stop").focus()
})
