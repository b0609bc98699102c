// Clients of three npm packages without a person, for the reports in docs/reports/clients: mcp-use,
// @ai-sdk/mcp, and @modelcontextprotocol/client, which is version 2 of the TypeScript SDK. They call all probes of a server, and accept each form with its defaults, which
// mcp-use fills in itself, and with valid values for other required fields. They decline or cancel what
// the message asks them to.
// Usage: node client.mjs NODE_MODULES mcp-use|ai-sdk|sdk-2 COMMAND [ARG...]
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { action, takenBack, value } from "../values/values.mjs"

const [modules, library, command, ...args] = process.argv.slice(2)
const load = createRequire(modules + "/")

const defaults = ({ requestedSchema }) => Object.fromEntries(Object.entries(requestedSchema.properties).filter(([, field]) => "default" in field).map(([name, field]) => [name, field.default]))

function answer(params, defaultsOf) {
  const chosen = action(params.message)
  if (params.mode === "url" || chosen !== "accept") return { action: chosen }
  const content = defaultsOf(params)
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
} else if (library === "sdk-2") {
  const { Client } = load("@modelcontextprotocol/client")
  const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio")
  const { version } = JSON.parse(readFileSync(modules + "/@modelcontextprotocol/client/package.json", "utf8"))
  const client = new Client({ name: "typescript-sdk-2-client", version }, { capabilities: { elicitation: { form: {}, url: {} } } })
  client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }) => {
    if (!takenBack(params.message)) return answer(params, defaults)
    return new Promise((_, reject) => mcpReq.signal.addEventListener("abort", () => reject(mcpReq.signal.reason)))
  })
  await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }))
  await client.callTool({ name: "withdrawn" }, { timeout: 300000 })
  result = await client.callTool({ name: "probe_all" }, { timeout: 300000 })
  close = () => client.close()
} else {
  const { createMCPClient, ElicitationRequestSchema } = load("@ai-sdk/mcp")
  const { Experimental_StdioMCPTransport } = load("@ai-sdk/mcp/mcp-stdio")
  const { version } = JSON.parse(readFileSync(modules + "/@ai-sdk/mcp/package.json", "utf8"))
  const client = await createMCPClient({
    clientName: "ai-sdk-client", version, transport: new Experimental_StdioMCPTransport({ command, args }), capabilities: { elicitation: {} },
  })
  client.onElicitationRequest(ElicitationRequestSchema, async ({ params }) => answer(params, defaults))
  const { probe_all } = await client.tools()
  result = await probe_all.execute({}, { messages: [], toolCallId: "all" })
  close = () => client.close()
}
for (const { text } of result.content) console.log(text)
await close()
