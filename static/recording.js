// @ts-check
/** Writing frames to a transcript, from now on. To end that is a button like any other. */
import { announce, post, unsaved } from "./changes.js"
import { $, near, on } from "./dom.js"

on("input", e => {
  const form = near(e.target, "form[data-recording]")
  if (form) unsaved.add(form)
})

on("submit", async e => {
  const form = near(e.target, "form[data-recording]")
  if (!form) return
  e.preventDefault()
  const { ok } = await post("/recording/start", new URLSearchParams(/** @type {any} */ (new FormData(form))))
  if (!ok) return $("recording-name")?.focus()
  unsaved.delete(form)
  announce("Recording.")
  $("recording-stop")?.focus()
})
