// @ts-check
/**
 * The revision that a server's tools need: calling again with it, and remembering
 * it in this browser. The inspector decides whether it may be applied.
 */
import { announce, post } from "./ask.js"
import { whenChanged } from "./changes.js"
import { all, near, on, one, remember, remembered } from "./dom.js"
import { showMade } from "./forms.js"

/** The name of the setting for the revision of a target. @param {string} target */
const entry = target => "revision " + target

on("click", async e => {
  const button = near(e.target, "[data-again]")
  if (button) callAgain(button)
  const line = near(near(e.target, "[data-forget]"), ".remembered")
  if (!line) return
  remember(entry(line.dataset.target), "")
  line.hidden = true
  one("[name=protocol]", near(line, "form"))?.focus()
  await post(`/servers/${line.dataset.server}/remembered`)
  announce("Forgotten.")
})

/** @param {any} button */
async function callAgain(button) {
  const { again, target, protocol, declare = "" } = button.dataset
  if (button.ariaBusy) return
  button.ariaBusy = "true"
  announce("Reconnecting.")
  const made = await post(`/calls/${again}/again`, new URLSearchParams({ declare }))
  button.ariaBusy = null
  if (made.ok && protocol) remember(entry(target), protocol)
  showMade(made)
}

// A revision that the person chooses replaces the remembered one.
on("submit", e => {
  const line = one(".remembered", near(e.target, "form.settings"))
  if (line && e.target.elements.protocol.value !== remembered(entry(line.dataset.target))) remember(entry(line.dataset.target), "")
})

/** Servers to which this page has applied the remembered revision. @type {Set<string>} */
const applied = new Set()

whenChanged(() => {
  for (const line of all(".remembered")) {
    const { server, target, protocol, applies } = line.dataset
    line.hidden = remembered(entry(target)) !== protocol
    if (line.hidden || applies === undefined || applied.has(server)) continue
    applied.add(server)
    post(`/servers/${server}/remembered`, new URLSearchParams({ protocol }))
    announce(`Connecting with ${protocol}, as remembered.`)
  }
})
