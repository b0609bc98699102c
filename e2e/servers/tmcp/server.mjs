// An MCP server written with tmcp, an SDK that shares no code with the official ones. It
// asks by rounds in 2026-07-28 and by requests before.
import { ZodJsonSchemaAdapter } from '@tmcp/adapter-zod';
import { StdioTransport } from '@tmcp/transport-stdio';
import { McpServer } from 'tmcp';
import { z } from 'zod';

const server = new McpServer(
  { name: 'tmcp', version: '1.0.0', description: 'Asks before it releases.' },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } },
);

const said = text => ({ content: [{ type: 'text', text }] });

server.tool({
  name: 'release',
  description: 'Asks what to release, and then whether it may.',
  schema: z.object({ project: z.string() }),
  replayable: true, // the handler runs again from the start in each round
}, async ({ project }) => {
  const { action, content } = await server.elicitation(`Which version of ${project} goes out?`, z.object({
    version: z.string().min(1).max(20),
    channel: z.enum(['stable', 'beta']),
    share: z.number().min(0).max(1),
  }));
  if (action !== 'accept') return said('Nothing was released.');
  const sure = await server.elicitation(`Release ${content.version} now?`, z.object({ note: z.string().optional() }));
  if (sure.action !== 'accept') return said(`${content.version} was not released.`);
  return said(`Released ${project} ${content.version} to ${content.share} of ${content.channel}: ${sure.content.note ?? 'no note'}.`);
});

process.stdin.on('end', () => process.exit(0));
new StdioTransport(server).listen();
