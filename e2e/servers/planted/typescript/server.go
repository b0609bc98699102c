// Package typescript holds a server written with the TypeScript SDK, with changes to plant.
package typescript

import _ "embed"

// Script must be run beside node_modules with the SDK.
//
//go:embed server.mjs
var Script []byte
