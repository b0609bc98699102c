// @ts-check
/** The check of a tool, a prompt or a resource. Its progress is pushed. */
import { inAddress, toAddress } from "./address.js"
import { announce, copied, post } from "./ask.js"
import { drawInto, fetched } from "./changes.js"
import { $, near, on, one, sheet } from "./dom.js"

const panel = $("check"), view = $("check-view")

const styled = sheet()

/** Draws the check in a response, and opens its panel. @param {string} html */
async function show(html) {
  drawInto(view, html)
  await styled
  panel.showPopover()
  ;(one("#check-start:enabled", view) ?? one("h2", view)).focus()
}

/**
 * Opens the check of the item that the middle of the page shows.
 * @param {HTMLElement} button with data-check="anew", the plan of a new check; with data-only, of
 *   one that tries just these behaviours, in the revision data-revision
 */
export async function open(button) {
  const form = $("args-form"), { server, kind, key } = form.dataset
  toAddress({ check: new URLSearchParams({ server, kind, key }).toString() })
  const body = new URLSearchParams(/** @type {any} */ (new FormData(form)))
  const { only = "", revision = "" } = button.dataset
  if (button.dataset.check || only) body.set("anew", "1")
  body.set("only", only)
  body.set("revision", revision)
  const { ok, text } = await post("/check", body)
  if (ok) await show(text)
}

/** Opens the check of the item that the address names. @param {string} of */
export const reopen = of => fetched("/check?" + of, ({ html }) => show(html))

panel.addEventListener("toggle", (/** @type {any} */ e) => { if (e.newState === "closed") toAddress({ check: "" }) })
on("redrawn", () => { if (inAddress("check")) reopen(inAddress("check")) })

panel.addEventListener("click", async (/** @type {MouseEvent} */ e) => {
  const why = near(e.target, "[data-why]")
  if (why) {
    const row = /** @type {HTMLDetailsElement} */ ($(why.dataset.why))
    row.open = true
    one("summary", row).focus()
    return
  }
  const button = near(e.target, "[data-copies]")
  if (!button) return
  if (!await copied(one("pre", button.parentElement).textContent.trim())) return
  announce("Copied.")
  button.textContent = "Copied"
  setTimeout(() => { button.textContent = "Copy" }, 1500)
})
