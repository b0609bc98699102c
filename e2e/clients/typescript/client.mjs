// A client of the TypeScript SDK without a person, for the reports in docs/reports/clients:
// it calls all probes of a server, and those of them apart that need no person. It accepts each
// form with the defaults, which the SDK fills in if the second argument is "defaults", and with
// valid values for other required fields; it declines, cancels, or leaves open what the message
// asks it to. With "tasks" it does so too, takes questions as tasks, and calls the probes of tasks.
// Usage: node client.mjs NODE_MODULES defaults|plain|tasks COMMAND [ARG...]
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { action, takenBack, value } from "../values/values.mjs"

const [modules, mode, command, ...args] = process.argv.slice(2)
const load = createRequire(modules + "/")
const { Client } = load("@modelcontextprotocol/sdk/client/index.js")
const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js")
const { ElicitRequestSchema } = load("@modelcontextprotocol/sdk/types.js")
const { version } = JSON.parse(readFileSync(modules + "/@modelcontextprotocol/sdk/package.json", "utf8"))

const defaults = mode !== "plain"
const options = { capabilities: { elicitation: { form: defaults ? { applyDefaults: true } : {}, url: {} } } }
if (mode === "tasks") {
  const { InMemoryTaskStore } = load("@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js")
  options.capabilities.tasks = { list: {}, cancel: {}, requests: { elicitation: { create: {} } } }
  options.taskStore = new InMemoryTaskStore()
}
const client = new Client({ name: "typescript-sdk-client", version }, options)

client.setRequestHandler(ElicitRequestSchema, async ({ params }, extra) => {
  if (takenBack(params.message)) {
    if (params.task && extra.taskStore) return { task: await extra.taskStore.createTask({ ttl: extra.taskRequestedTtl }) }
    return new Promise((_, reject) => extra.signal.addEventListener("abort", () => reject(extra.signal.reason)))
  }
  const chosen = action(params.message)
  if (params.mode === "url" || chosen !== "accept") return { action: chosen }
  const content = {}
  for (const name of params.requestedSchema.required ?? []) {
    const field = params.requestedSchema.properties[name]
    if (!("default" in field) || !defaults) content[name] = field.default ?? value(field)
  }
  const answer = { action: "accept", content }
  if (!params.task || !extra.taskStore) return answer
  const task = await extra.taskStore.createTask({ ttl: extra.taskRequestedTtl })
  setTimeout(() => extra.taskStore.storeTaskResult(task.taskId, "completed", answer), 100)
  return { task }
})

await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }))
const result = await client.callTool({ name: "probe_all" }, undefined, { timeout: 300000 })
for (const { text } of result.content) console.log(text)
await client.callTool({ name: "withdrawn" }, undefined, { timeout: 300000 })
if (mode === "tasks") {
  await client.callTool({ name: "task-question-cancelled" }, undefined, { timeout: 300000 })
  await client.listTools() // which of them are called as tasks
  for (const name of ["task-call", "task-poll", "task-cancel"])
    for await (const message of client.experimental.tasks.callToolStream({ name, arguments: {} }, undefined, { timeout: 300000 })) {
      console.log(name, message.type, message.task?.status ?? message.error?.message ?? "")
      if (name === "task-cancel" && message.type === "taskCreated") await client.experimental.tasks.cancelTask(message.task.taskId)
    }
}
await client.close()
process.exit() // the task store has timers of its own
