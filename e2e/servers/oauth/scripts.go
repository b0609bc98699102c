// Package oauth holds the scripts, for Node.js, of an authorization server and of a
// protected MCP server.
package oauth

import _ "embed"

// Provider is npm's oidc-provider.
//
//go:embed provider.mjs
var Provider []byte

// Server is a protected server with the TypeScript SDK.
//
//go:embed server.mjs
var Server []byte
