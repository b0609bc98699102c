// @ts-check
/**
 * The page's scripts. The server draws everything; these only do what HTML
 * cannot: the socket, swapping what has changed, saving what is typed, the
 * window of wire rows, and keys. All are named here, so that the browser
 * fetches them together.
 */
import "./dom.js"
import "./ask.js"
import "./fields.js"
import "./changes.js"
import "./clock.js"
import "./address.js"
import "./tabs.js"
import "./panes.js"
import "./latest.js"
import "./forms.js"
import "./picker.js"
import "./questions.js"
import "./misbehave.js"
import "./url.js"
import "./controls.js"
import "./unfold.js"
import "./revision.js"
import "./playback.js"
import "./shell.js"
import "./catalog.js"
import "./wire.js"
import "./detail.js"
import "./filter.js"
import "./ladder.js"
import "./misbehave.js"
import "./ledger.js"
import { connect } from "./live.js"

connect()
