// @ts-check
/** The panel of findings of one server: fetched when it is opened, and when there are more. */
import { drawn } from "./ask.js"
import { drawInto, whenChanged } from "./changes.js"
import { $, near, on } from "./dom.js"

const panel = $("findings")
let server = "", version = "", opener = /** @type {any} */ (null)

const latest = () => $(`findings-${server}-chip`)?.dataset.version ?? ""

async function draw() {
  version = latest()
  const answer = await drawn(`/servers/${server}/findings`)
  if (answer) drawInto($("findings-rows"), answer.html)
}

/** @param {any} button of a server, which opens its findings */
export async function open(button) {
  if (server !== button.dataset.findings) $("findings-rows").replaceChildren()
  server = button.dataset.findings
  opener = button
  $("findings-title").textContent = "Findings of " + button.dataset.label
  $("findings-export").href = "/findings.json?server=" + server
  near(button, ".more[popover]")?.hidePopover()
  panel.showPopover()
  panel.focus()
  await draw()
}

whenChanged(() => { if (panel.matches(":popover-open") && version !== latest()) draw() })

panel.addEventListener("toggle", (/** @type {ToggleEvent} */ e) => {
  if (e.newState === "closed" && document.activeElement === document.body) (opener?.isConnected ? opener : $(`findings-${server}-chip`))?.focus()
})
on("keydown", e => {
  if (e.key === "Escape" && near(e.target, "#findings")) panel.hidePopover()
})
on("click", e => { if (near(e.target, "#findings [data-frame]") && matchMedia("(max-width: 899px)").matches) panel.hidePopover() })
