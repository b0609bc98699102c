// @ts-check
/** What leaves the page: the links of the menu Save, and texts that are copied. */
import { inAddress } from "./address.js"
import { announce, copied, drawn, notice, post } from "./ask.js"
import { $, all, home, near, on, one } from "./dom.js"

on("click", async e => {
  const button = near(e.target, "[data-copy-from]"), text = button && await drawn(button.dataset.copyFrom)
  if (text) copy(button, text.html, button.textContent)
})

/** Copies a text, and shows for a moment that it is copied. @param {any} button @param {string} text @param {string} what */
async function copy(button, text, what) {
  if (!await copied(text)) return
  announce(what + " is copied.")
  button.classList.add("copied")
  setTimeout(() => button.classList.remove("copied"), 1500)
}

// Links: of a form, the server makes them from what is typed

on("click", async e => {
  const button = near(e.target, "[data-copy-link]"), form = near(button, "#args-form")
  if (!button) return
  const query = button.dataset.copyLink || (await linkOf(form))
  if (query) copy(button, home + "/" + query, "The link")
})

/** @param {HTMLFormElement} form */
async function linkOf(form) {
  const { ok, text } = await post("/form/link", new URLSearchParams(/** @type {any} */ (new FormData(form))))
  return ok ? text : ""
}

// A failed download would say nothing of why: it begins once the inspector has begun to answer.

on("click", async e => {
  const link = near(e.target, "#save-more a"), first = new AbortController()
  if (!link) return
  e.preventDefault()
  const answer = await fetch(link.href, { signal: first.signal }).catch(() => null)
  if (!answer?.ok) return notice(answer ? await answer.text() : "The inspector did not answer. It may have been stopped.")
  first.abort()
  link.cloneNode().click() // outside of the document, so that this listener does not hear it
})

// The call on show and the filter in use are the filters of the links; what is typed is their title.

for (const type of ["beforetoggle", "input"]) $("save-more").addEventListener(type, () => {
  const { call } = one("#call > [data-call]")?.dataset ?? {}
  const filters = /** @type {Record<string, string>} */ ({ call: call && `call:${call}`, filter: inAddress("filter") })
  for (const link of all("[data-scope]", $("save-more"))) {
    const filter = filters[link.dataset.scope] ?? ""
    link.hidden = !filter && link.dataset.scope !== "session"
    link.href = link.pathname + "?" + new URLSearchParams(Object.entries({ filter, title: $("save-title").value }).filter(([, value]) => value))
  }
})
