// @ts-check
/**
 * The page's entry. The scripts are one step further away, so that they arrive
 * behind the first paint rather than beside it: side by side they take a
 * quarter longer to paint.
 */
import "./page.js"
