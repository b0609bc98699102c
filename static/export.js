// @ts-check
/** Exports: the links of the menu Export, and texts that are copied. */
import { inAddress } from "./address.js"
import { announce, copied, drawn, notice } from "./ask.js"
import { $, all, near, on, one } from "./dom.js"

on("click", async e => {
  const button = near(e.target, "[data-copy-from]"), text = button && await drawn(button.dataset.copyFrom)
  if (!text) return
  if (!await copied(text.html)) return notice("The browser does not let this page copy.", 5)
  announce(button.textContent + " is copied.")
  button.classList.add("copied")
  setTimeout(() => button.classList.remove("copied"), 1500)
})

// The call on show and the filter in use are the filters of the links.

$("export-more").addEventListener("beforetoggle", (/** @type {ToggleEvent} */ e) => {
  if (e.newState !== "open") return
  const { call } = one("#call > [data-call]")?.dataset ?? {}
  const filters = /** @type {Record<string, string>} */ ({ call: call && `call:${call}`, filter: inAddress("filter") })
  for (const part of all("[data-scope]:not([data-scope=session])", $("export-more"))) {
    const filter = filters[part.dataset.scope]
    part.hidden = !filter
    for (const link of all("a", part)) link.href = link.dataset.path + "?" + new URLSearchParams({ download: "1", filter })
  }
})
