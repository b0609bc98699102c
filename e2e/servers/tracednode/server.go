// Package tracednode holds an MCP server that is instrumented with npm's @opentelemetry/sdk-node.
package tracednode

import _ "embed"

// Script must be run beside node_modules with the SDKs.
//
//go:embed server.mjs
var Script []byte
