// Package tmcp holds an MCP server written with npm's tmcp.
package tmcp

import _ "embed"

// Script must be run beside node_modules with tmcp.
//
//go:embed server.mjs
var Script []byte
