// Package typescript has a server that is right, written with the TypeScript SDK.
package typescript

import _ "embed"

// Script is to lie beside the node_modules that have the SDK.
//
//go:embed server.mjs
var Script []byte
