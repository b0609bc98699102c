// @ts-check
/** Requests to the inspector, and messages to the person. */
import { $ } from "./dom.js"

/**
 * @param {string} url @param {RequestInit} [init]
 * @returns {Promise<{ok: boolean, wrong?: boolean, status: number, headers: Headers, text: string}>} wrong: the form itself, which is the text, shows what is wrong in it
 */
async function ask(url, init) {
  try {
    const response = await fetch(url, init), { ok, status, headers } = response, text = await response.text(), wrong = headers.has("X-Wrong")
    if (!ok && status !== 422) notice(`${text || response.statusText} (${status})`)
    return { ok: ok && !wrong, wrong, status, headers, text }
  } catch (e) {
    if (!(e instanceof DOMException && e.name === "AbortError")) notice("The inspector did not answer. It may have been stopped.")
    return { ok: false, status: 0, headers: new Headers(), text: "" }
  }
}

/**
 * Sends an action of the person. Its effects are pushed.
 * @param {string} url @param {URLSearchParams | FormData} [body] @param {RequestInit} [init]
 */
export const post = (url, body, init) => ask(url, { method: "POST", body, ...init })

/** Fetches HTML, by a POST if there is a body; null on failure. @param {string} url @param {AbortSignal} [signal] @param {FormData} [body] */
export async function drawn(url, signal, body) {
  const { ok, text, headers } = await ask(url, { signal, body, method: body && "POST" })
  return ok ? { html: text, headers } : null
}

let clearing = 0, standing = ""

/**
 * Shows a message over the columns for a while, or until the next message.
 * @param {string} text @param {number} [seconds] 0: a lasting message, which comes back after other ones until another lasting message replaces it
 */
export function notice(text, seconds = 12) {
  clearTimeout(clearing)
  if (!seconds) standing = text
  $("notice").textContent = text || standing
  if (text && seconds) clearing = setTimeout(notice, 1000 * seconds, "")
}

/** Texts that will be read aloud together. @type {string[]} */
let words = []

/** Makes a screen reader read a text at its next pause, after the texts of the same moment. @param {string} text */
export function announce(text) {
  if (words.push(text) === 1) setTimeout(() => {
    const to = $("announce"), all = words.join(" ")
    words = []
    to.textContent = to.textContent === all ? all + "\u00a0" : all
  })
}

/** Copies a text to the clipboard; false, and a message, if the browser does not allow it. @param {string} text */
export async function copied(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch { /* not granted, or a page without TLS from another computer */ }
  const area = document.createElement("textarea"), back = /** @type {any} */ (document.activeElement)
  area.value = text
  area.className = "sr"
  document.body.append(area)
  area.select()
  const done = document.execCommand("copy")
  area.remove()
  back?.focus()
  if (!done) notice("The browser does not let this page copy.", 5)
  return done
}
