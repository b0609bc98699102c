// @ts-check
/**
 * The page's scripts. The server draws everything; these only do what HTML
 * cannot: the socket, swapping what has changed, saving what is typed, the
 * window of wire rows, and keys.
 */
import "./tabs.js"
import "./shell.js"
import "./forms.js"
import "./picker.js"
import "./questions.js"
import "./wire.js"
import { connect } from "./live.js"

connect()
