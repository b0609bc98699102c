// Clients of two npm packages without a person, for the reports in docs/reports/clients: mcp-use
// and @ai-sdk/mcp. They call all probes of a server, and accept each form with its defaults, which
// mcp-use fills in itself, and with valid values for other required fields.
// Usage: node client.mjs NODE_MODULES mcp-use|ai-sdk COMMAND [ARG...]
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"

const [modules, library, command, ...args] = process.argv.slice(2)
const load = createRequire(modules + "/")
const formats = { email: "ada@example.com", uri: "https://example.com/", date: "2028-02-29", "date-time": "2028-02-29T12:00:00Z" }

function value(field) {
  const choices = of => of.enum ?? (of.oneOf ?? of.anyOf)?.map(one => one.const)
  if (field.type === "boolean") return true
  if (field.type === "integer") return 7
  if (field.type === "number") return 0.5
  if (field.type === "array") return choices(field.items).slice(0, 2)
  return choices(field)?.[0] ?? formats[field.format] ?? (field.pattern ? "AB-1234" : "text")
}

function answer(params, defaults) {
  if (params.mode === "url") return { action: "accept" }
  const content = defaults(params)
  for (const name of params.requestedSchema.required ?? [])
    if (!Object.hasOwn(content, name)) content[name] = value(params.requestedSchema.properties[name])
  return { action: "accept", content }
}

let result, close
if (library === "mcp-use") {
  const { MCPClient, applyDefaults } = load("mcp-use/client")
  const client = new MCPClient({ mcpServers: { probe: { command, args } } }, { onElicitation: async params => answer(params, applyDefaults) })
  const session = await client.createSession("probe")
  result = await session.callTool("probe_all", {}, { timeout: 300000 })
  close = () => client.closeAllSessions()
} else {
  const { createMCPClient, ElicitationRequestSchema } = load("@ai-sdk/mcp")
  const { Experimental_StdioMCPTransport } = load("@ai-sdk/mcp/mcp-stdio")
  const { version } = JSON.parse(readFileSync(modules + "/@ai-sdk/mcp/package.json", "utf8"))
  const client = await createMCPClient({
    clientName: "ai-sdk-client", version, transport: new Experimental_StdioMCPTransport({ command, args }), capabilities: { elicitation: {} },
  })
  const defaults = ({ requestedSchema }) => Object.fromEntries(Object.entries(requestedSchema.properties).filter(([, field]) => "default" in field).map(([name, field]) => [name, field.default]))
  client.onElicitationRequest(ElicitationRequestSchema, async ({ params }) => answer(params, defaults))
  const { probe_all } = await client.tools()
  result = await probe_all.execute({}, { messages: [], toolCallId: "all" })
  close = () => client.close()
}
for (const { text } of result.content) console.log(text)
await close()
