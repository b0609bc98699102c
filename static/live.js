// @ts-check
/** The socket: receives pushes, and connects again when the connection is lost. */
import { notice } from "./ask.js"
import { push, redraw, settle } from "./changes.js"
import { setTime } from "./clock.js"
import { on } from "./dom.js"
import { grown } from "./wire.js"

/** @type {WebSocket | undefined} */
let socket
/** The last push that this page contains; -1 if the page must be drawn anew. */
let seen = Number(document.documentElement.dataset.seq)
let failures = 0, retry = 0

export function connect() {
  clearTimeout(retry)
  if (socket && socket.readyState <= WebSocket.OPEN) return
  socket = new WebSocket(`${location.origin.replace("http", "ws")}/live?since=${seen}`)
  socket.onopen = () => {
    if (failures) {
      notice("", 0)
      gone(false)
    }
    failures = 0
  }
  socket.onmessage = e => {
    const { seq, changes, anew, frames, kept, time } = JSON.parse(e.data)
    if (time) setTime(time)
    if (changes) push(changes)
    if (frames !== undefined) grown(frames, kept)
    if (anew) drawAnew()
    else if (seq && seen >= 0) seen = seq
  }
  socket.onclose = () => {
    if (!failures++) explain()
    retry = setTimeout(connect, Math.min(200 * 2 ** failures, 5000) * (0.75 + Math.random() / 2))
  }
}

/** Puts out, or lights again, what only a running inspector can know or do. @param {boolean} is */
function gone(is) {
  document.body.classList.toggle("gone", is)
  settle()
}

async function drawAnew() {
  seen = -1
  seen = await redraw() ?? -1
  if (seen < 0) socket?.close() // after connecting again, the page is drawn anew
}

/** Explains why there are no more pushes. */
async function explain() {
  notice("The live connection is lost. Connecting again…", 0)
  const status = await fetch("/wire/rows?from=0&count=0").then(r => r.status, () => 0)
  if (!failures) return
  if (status === 401 || status === 403) notice("The inspector was restarted. Open the address that it printed this time.", 0)
  else if (!status) {
    gone(true)
    notice("The inspector has ended or cannot be reached. Connecting again…", 0)
  }
}

addEventListener("online", connect)
on("visibilitychange", connect)
