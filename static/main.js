// @ts-check
/**
 * The page's entry. It imports the scripts, so that they load after the first paint
 * and not during it, which would delay the paint by a quarter.
 */
import "./page.js"
