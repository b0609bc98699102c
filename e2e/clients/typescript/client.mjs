// A client of the TypeScript SDK without a person, for the reports in docs/reports/clients:
// it calls all probes of a server, and accepts each form with the defaults, which the SDK
// fills in if the second argument is "defaults", and with valid values for other required
// fields. Usage: node client.mjs NODE_MODULES defaults|plain COMMAND [ARG...]
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"

const [modules, defaults, command, ...args] = process.argv.slice(2)
const load = createRequire(modules + "/")
const { Client } = load("@modelcontextprotocol/sdk/client/index.js")
const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js")
const { ElicitRequestSchema } = load("@modelcontextprotocol/sdk/types.js")
const { version } = JSON.parse(readFileSync(modules + "/@modelcontextprotocol/sdk/package.json", "utf8"))

const form = defaults === "defaults" ? { applyDefaults: true } : {}
const client = new Client({ name: "typescript-sdk-client", version }, { capabilities: { elicitation: { form, url: {} } } })
const formats = { email: "ada@example.com", uri: "https://example.com/", date: "2028-02-29", "date-time": "2028-02-29T12:00:00Z" }

function value(field) {
  const choices = of => of.enum ?? (of.oneOf ?? of.anyOf)?.map(one => one.const)
  if (field.type === "boolean") return true
  if (field.type === "integer") return 7
  if (field.type === "number") return 0.5
  if (field.type === "array") return choices(field.items).slice(0, 2)
  return choices(field)?.[0] ?? formats[field.format] ?? (field.pattern ? "AB-1234" : "text")
}

client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  if (params.mode === "url") return { action: "accept" }
  const content = {}
  for (const name of params.requestedSchema.required ?? []) {
    const field = params.requestedSchema.properties[name]
    if (!("default" in field) || defaults !== "defaults") content[name] = field.default ?? value(field)
  }
  return { action: "accept", content }
})

await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }))
const result = await client.callTool({ name: "probe_all" }, undefined, { timeout: 300000 })
for (const { text } of result.content) console.log(text)
await client.close()
