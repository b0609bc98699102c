// @ts-check
/**
 * Questions in URL mode. Opening the page is the consent: the link is a real
 * one, followed by the browser itself, and the answer goes out beside it.
 */
import { announce, copied, notice, post } from "./ask.js"
import { $, near, on } from "./dom.js"
import { goOnAfter } from "./questions.js"

/** @param {string} n the question's number */
async function accept(n) {
  // The window may lose its turn to the page that opens.
  const { ok, status } = await post(`/questions/${n}/answer`, new URLSearchParams({ action: "accept" }), { keepalive: true })
  if (ok || status === 409) goOnAfter(n)
}

on("click", e => {
  const link = near(e.target, "[data-open]"), copies = near(e.target, "[data-copy]")
  if (link) accept(link.dataset.open)
  if (copies) copy(copies.dataset.copy)
})

// The middle button opens a link too.
on("auxclick", e => {
  const link = near(e.target, "[data-open]")
  if (link && e.button === 1) accept(link.dataset.open)
})

/**
 * Copies the address as the server sent it, or, where it cannot be opened, as
 * it is shown: what it hides could do harm where it is pasted.
 * @param {string} n
 */
async function copy(n) {
  if (!await copied($(`q${n}-open`)?.getAttribute("href") ?? $(`q${n}-url`).textContent)) {
    return notice("The browser did not let the URL be copied, so nothing was answered.")
  }
  announce("Copied.")
  accept(n)
}
