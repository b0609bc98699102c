// A client of the TypeScript SDK over its own standard input and output, for TestFitTypeScript: it accepts
// every form with valid values for the required fields that have no default, and leaves the others to the SDK.
// Usage: node fit.mjs NODE_MODULES defaults|plain
import { createRequire } from "node:module"

const [modules, mode] = process.argv.slice(2)
const load = createRequire(modules + "/")
const { Client } = load("@modelcontextprotocol/sdk/client/index.js")
const { StdioServerTransport } = load("@modelcontextprotocol/sdk/server/stdio.js")
const { ElicitRequestSchema } = load("@modelcontextprotocol/sdk/types.js")

const client = new Client({ name: "typescript-sdk", version: "1" }, { capabilities: { elicitation: { form: mode === "defaults" ? { applyDefaults: true } : {} } } })
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
  const content = {}
  for (const name of params.requestedSchema.required ?? []) {
    const field = params.requestedSchema.properties[name]
    if (mode === "defaults" && "default" in field) continue
    content[name] = field.default ?? params._meta.values[name]
  }
  return { action: "accept", content }
})
await client.connect(new StdioServerTransport())
