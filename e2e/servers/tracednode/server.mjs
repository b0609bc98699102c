// An MCP server that is instrumented with OpenTelemetry's SDK for Node.js. No instrumentation for MCP reads
// params._meta.traceparent, so each tool does, and makes its span a child of that.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import * as api from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';

const sdk = new NodeSDK({ serviceName: 'traced-node' }); // the rest is said by OTEL_EXPORTER_OTLP_*
sdk.start();
const tracer = api.trace.getTracer('traced-node');
const server = new McpServer({ name: 'traced-node', version: '1.0.0' });
const rest = ms => new Promise(done => setTimeout(done, ms));

/** Is the span of a database. */
const insert = () => tracer.startSpan('INSERT orders', {
  kind: api.SpanKind.CLIENT,
  attributes: { 'db.system.name': 'sqlite', 'db.operation.name': 'INSERT', 'db.query.text': 'INSERT INTO orders DEFAULT VALUES' },
}).end();

function tool(name, act) {
  server.registerTool(name, { description: 'Asks, and inserts an order.' }, extra => {
    const caller = api.propagation.extract(api.context.active(), extra._meta ?? {});
    return api.context.with(caller, () => tracer.startActiveSpan(`tools/call ${name}`, { kind: api.SpanKind.SERVER }, async span => {
      try {
        const ask = async () => (await server.server.elicitInput(
          { mode: 'form', message: 'Order?', requestedSchema: { type: 'object', properties: {} } })).action === 'accept';
        await act(ask);
        return { content: [{ type: 'text', text: 'done' }] };
      } finally {
        span.end();
      }
    }));
  });
}

tool('heeds', async ask => {
  if (await ask()) insert();
});
tool('hastens', async ask => {
  const asked = ask();
  await rest(20);
  insert();
  await asked;
});
tool('ignores', async ask => {
  await ask();
  await rest(20);
  insert();
});

process.stdin.on('end', () => sdk.shutdown().finally(() => process.exit(0)));
await server.connect(new StdioServerTransport());
