// A server that is right, written with the TypeScript SDK: it checks what it is told,
// keeps to a no, and answers every call. A check must find nothing in it. It serves over
// stdio, or over Streamable HTTP at the port that the environment variable PORT has.
import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';

const said = text => ({ content: [{ type: 'text', text }] });
const failed = text => ({ ...said(text), isError: true });

function make() {
  const server = new McpServer({ name: 'right-typescript', version: '1.0.0' });

  /** Asks in a form. The SDK checks what is filled in, but not that anything is. */
  async function form(message, properties, required, options) {
    const answer = await server.server.elicitInput(
      { mode: 'form', message, requestedSchema: { type: 'object', properties, required } }, options);
    if (answer.action === 'accept' && !answer.content) {
      throw new Error('The answer is empty.');
    }
    return answer;
  }

  server.registerTool('reserve_boat', {
    title: 'Reserve a boat',
    description: 'Asks everything about the trip in one form.',
  }, async extra => {
    const { action, content } = await form('Which boat, and when?', {
      boat: { type: 'string', title: 'Boat', enum: ['Heron', 'Otter'] },
      skipper: { type: 'string', title: 'Skipper', minLength: 2, maxLength: 40 },
      mail: { type: 'string', title: 'E-mail', format: 'email' },
      day: { type: 'string', title: 'Day', format: 'date' },
      crew: { type: 'integer', title: 'Crew', minimum: 1, maximum: 8 },
      budget: { type: 'number', title: 'Budget', minimum: 0 },
      vests: { type: 'boolean', title: 'With vests', default: true },
    }, ['boat', 'skipper', 'day', 'crew'], { signal: extra.signal });
    if (action !== 'accept') return said('No boat is reserved.');
    return said(`The ${content.boat} is reserved on ${content.day} for ${content.skipper} and a crew of ${content.crew}.`);
  });

  server.registerTool('renew_card', {
    title: 'Renew the library card',
    description: 'Tells a decline as an error.',
  }, async extra => {
    try {
      const { action, content } = await form('Which card?', {
        number: { type: 'string', title: 'Number of the card', pattern: '^[0-9]{4}-[0-9]{4}$', default: '1234-5678' },
      }, ['number'], { signal: extra.signal });
      if (action === 'decline') return failed('The card was not renewed: you declined.');
      if (action === 'cancel') return failed('The card was not renewed: you closed the question.');
      return said(`The card ${content.number} is good for another year.`);
    } catch (error) {
      return failed(`The card was not renewed. ${error.message}`);
    }
  });

  server.registerTool('choose_plants', {
    title: 'Choose plants',
    description: 'Asks again where an answer does not do, twice at the most.',
  }, async extra => {
    let message = 'How many lavender plants?';
    for (let tries = 0; tries < 3; tries++) {
      try {
        const { action, content } = await form(message, { plants: { type: 'integer', title: 'Plants', minimum: 1, maximum: 99 } }, ['plants'], { signal: extra.signal });
        if (action !== 'accept') return said('Nothing is planted.');
        return said(`${content.plants} plants are in the ground.`);
      } catch (error) {
        if (extra.signal.aborted || /not support/.test(error.message)) throw error;
        message = `That did not work (${tries + 1}). How many lavender plants?`;
      }
    }
    return failed('Nothing is planted, since no answer would do.');
  });

  server.registerTool('pay_toll', {
    title: 'Pay the toll',
    description: 'Sends you to a page to pay.',
  }, async extra => {
    const elicitationId = crypto.randomUUID();
    const { action } = await server.server.elicitInput(
      { mode: 'url', message: 'Pay the toll on the page of the bridge.', url: 'https://bridge.example/toll', elicitationId }, { signal: extra.signal });
    return said(action === 'accept' ? 'You may cross once the toll has come in.' : 'The toll is not paid.');
  });

  return server;
}

/** Serves each session with a server of its own. */
function serve(port) {
  const sessions = new Map();
  createServer(async (request, response) => {
    const id = request.headers['mcp-session-id'];
    let transport = sessions.get(id);
    if (!transport && id) {
      response.writeHead(404).end();
      return;
    }
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: id => sessions.set(id, transport),
        onsessionclosed: id => sessions.delete(id),
      });
      await make().connect(transport);
    }
    await transport.handleRequest(request, response);
  }).listen(port, '127.0.0.1', () => console.error(`listening at ${port}`));
}

if (process.env.PORT) {
  serve(Number(process.env.PORT));
} else {
  process.stdin.on('end', () => process.exit(0));
  await make().connect(new StdioServerTransport());
}
