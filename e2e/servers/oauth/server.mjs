// A protected MCP server, written with the TypeScript SDK, whose authorization server is at ISSUER. The tool transfer
// needs a further scope.
import { randomUUID } from 'node:crypto';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { getOAuthProtectedResourceMetadataUrl, mcpAuthMetadataRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const { PORT, ISSUER } = process.env;
const resourceServerUrl = new URL(`http://127.0.0.1:${PORT}/mcp`);
const oauthMetadata = await (await fetch(`${ISSUER}/.well-known/oauth-authorization-server`)).json();
const keys = createRemoteJWKSet(new URL(oauthMetadata.jwks_uri), { cooldownDuration: 0, cacheMaxAge: 0 }); // ISSUER may restart

const verifier = {
  async verifyAccessToken(token) {
    try {
      const { payload } = await jwtVerify(token, keys, { issuer: ISSUER, audience: resourceServerUrl.href });
      return { token, clientId: payload.client_id, scopes: payload.scope.split(' '), expiresAt: payload.exp };
    } catch (err) {
      throw new InvalidTokenError(String(err.message).replaceAll('"', ''));
    }
  },
};
const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resourceServerUrl);
const require = requiredScopes => requireBearerAuth({ verifier, requiredScopes, resourceMetadataUrl });
const [forUse, forTransfer] = [require(['use']), require(['use', 'transfer'])];

function newServer() {
  const server = new McpServer({ name: 'oauth-typescript', version: '1.0.0' });
  const said = text => ({ content: [{ type: 'text', text }] });
  server.registerTool('greet', { description: 'Asks for a name.' }, async () => {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string', title: 'Name' } }, required: ['name'] };
    const { action, content } = await server.server.elicitInput({ mode: 'form', message: 'What is your name?', requestedSchema });
    return said(action === 'accept' ? `Hello, ${content.name}.` : 'Hello, stranger.');
  });
  server.registerTool('transfer', { description: 'Needs the scope transfer.' }, async () => said('Transferred.'));
  return server;
}

const sessions = new Map();
const app = createMcpExpressApp();
app.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl, scopesSupported: ['use'], resourceName: 'OAuth with TypeScript' }));
app.use('/mcp', (req, res, next) => {
  const transfers = req.body?.method === 'tools/call' && req.body.params?.name === 'transfer';
  return (transfers ? forTransfer : forUse)(req, res, next);
});
app.all('/mcp', async (req, res) => {
  const id = req.headers['mcp-session-id'];
  let transport = sessions.get(id);
  if (id && !transport) return res.status(404).json({ jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } });
  if (!transport) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: given => sessions.set(given, transport),
    });
    await newServer().connect(transport);
  }
  await transport.handleRequest(req, res, req.body);
});
app.listen(Number(PORT), '127.0.0.1', error => {
  if (error) throw error; // Express reports it here
  console.log(`ready at ${resourceServerUrl}`);
});
