// @ts-check
/** Asking the server, and telling the person what came of it. */
import { $ } from "./dom.js"

/**
 * @param {string} url @param {RequestInit} [init]
 * @returns {Promise<{ok: boolean, status: number, headers: Headers, text: string}>}
 */
async function ask(url, init) {
  try {
    const response = await fetch(url, init), { ok, status, headers } = response, text = await response.text()
    // What is wrong in a form is drawn in it.
    if (!ok && status !== 422) notice(`${text || response.statusText} (${status})`)
    return { ok, status, headers, text }
  } catch (e) {
    if (!(e instanceof DOMException && e.name === "AbortError")) notice("The inspector did not answer. It may have been stopped.")
    return { ok: false, status: 0, headers: new Headers(), text: "" }
  }
}

/**
 * Sends what a person did. What comes of it is pushed.
 * @param {string} url @param {URLSearchParams} [body] @param {RequestInit} [init]
 */
export const post = (url, body, init) => ask(url, { method: "POST", body, ...init })

/** Fetches what is drawn at an address; null if that failed. @param {string} url @param {AbortSignal} [signal] */
export async function drawn(url, signal) {
  const { ok, text, headers } = await ask(url, { signal })
  return ok ? { html: text, headers } : null
}

let clearing = 0, standing = ""

/**
 * Shows trouble over the columns, until the next one or for a while.
 * @param {string} text @param {number} [seconds] 0: whenever there is no other, until it is taken back in the same way
 */
export function notice(text, seconds = 12) {
  clearTimeout(clearing)
  if (!seconds) standing = text
  $("notice").textContent = text || standing
  if (text && seconds) clearing = setTimeout(notice, 1000 * seconds, "")
}

/** Has a screen reader say something when it next pauses. @param {string} text */
export function announce(text) {
  const to = $("announce")
  to.textContent = to.textContent === text ? text + "\u00a0" : text
}

/** Puts a text on the clipboard; false if the browser does not let it. @param {string} text */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch { /* not granted, or a page without TLS that is not on this computer */ }
  const area = document.createElement("textarea"), back = /** @type {any} */ (document.activeElement)
  area.value = text
  area.className = "sr"
  document.body.append(area)
  area.select()
  const done = document.execCommand("copy")
  area.remove()
  back?.focus()
  return done
}
