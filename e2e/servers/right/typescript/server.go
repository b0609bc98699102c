// Package typescript holds an MCP server without faults, written with the TypeScript
// SDK.
package typescript

import _ "embed"

// Script must be run beside node_modules with the SDK.
//
//go:embed server.mjs
var Script []byte
