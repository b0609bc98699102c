// @ts-check
/** The socket: what the server pushes, and coming back when it is lost. */
import { refreshCall } from "./address.js"
import { applyPush, notice } from "./changes.js"
import { setTime } from "./clock.js"
import { on } from "./dom.js"
import { grown } from "./wire.js"

const { dataset } = document.documentElement
/** @type {WebSocket | undefined} */
let socket
/** The last push that this page contains. */
let seen = Number(dataset.live)
let failures = 0, retry = 0, lost = false

export function connect() {
  clearTimeout(retry)
  if (socket && socket.readyState <= WebSocket.OPEN) return
  socket = new WebSocket(`${location.origin.replace("http", "ws")}/live?since=${seen}`)
  socket.onopen = () => {
    failures = 0
    if (lost) notice("")
    lost = false
    dataset.connected = "true"
  }
  socket.onmessage = e => {
    const { seq, changes, frames, kept, time } = JSON.parse(e.data)
    seen = seq ?? seen
    if (time) setTime(time)
    if (changes) applyPush(seen, changes)
    if (frames !== undefined) grown(frames, kept)
    // Only a snapshot replaces all questions: the call on show may be older than it.
    if (changes?.some((/** @type {any} */ c) => c.target === "questions" && c.op === "replace")) refreshCall()
  }
  socket.onclose = () => {
    delete dataset.connected
    if (++failures === 3) explain()
    retry = setTimeout(connect, Math.min(200 * 2 ** failures, 5000) * (0.75 + Math.random() / 2))
  }
}

/** Says why nothing comes any more, once it is worth a word. */
async function explain() {
  lost = true
  const status = await fetch("/wire/rows?from=0&count=0").then(r => r.status, () => 0)
  notice(status === 401 || status === 403 ? "The inspector was restarted. Open the address that it printed this time."
    : status ? "The live connection is lost. Connecting again…" : "The inspector has ended or cannot be reached. Connecting again…", 0)
}

addEventListener("online", connect)
on("visibilitychange", connect)
