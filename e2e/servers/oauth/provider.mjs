// An authorization server, npm's oidc-provider, whose only page has one form to allow or deny a request. It takes any
// URL on this machine as a resource, and forgets everything when it ends.
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import Provider, { errors } from 'oidc-provider';

const { PORT, TOKEN_SECONDS = '3600' } = process.env;
const issuer = `http://127.0.0.1:${PORT}`;
const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });

const provider = new Provider(issuer, {
  clients: [{
    client_id: 'service',
    client_secret: 'service-not-a-secret',
    grant_types: ['client_credentials'],
    redirect_uris: [],
    response_types: [],
  }],
  cookies: { keys: ['only for tests'] },
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo(ctx, resource) {
        if (new URL(resource).hostname !== '127.0.0.1') throw new errors.InvalidTarget();
        return { scope: 'use transfer', audience: resource, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } };
      },
    },
    revocation: { enabled: true },
  },
  findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
  issueRefreshToken: (ctx, client) => client.grantTypeAllowed('refresh_token'),
  jwks: { keys: [{ ...key, use: 'sig', alg: 'RS256' }] },
  rotateRefreshToken: true,
  scopes: ['openid', 'offline_access', 'use', 'transfer'],
  ttl: {
    AccessToken: Number(TOKEN_SECONDS), ClientCredentials: Number(TOKEN_SECONDS),
    AuthorizationCode: 60, Grant: 86400, IdToken: 3600, Interaction: 3600, RefreshToken: 86400, Session: 86400,
  },
});

/** The grant of what a request lacks, added to what the person allowed before. */
async function granted({ grantId, session, params, prompt: { details } }) {
  const grant = grantId
    ? await provider.Grant.find(grantId)
    : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  if (details.missingOIDCScope) grant.addOIDCScope(details.missingOIDCScope.join(' '));
  for (const [resource, scopes] of Object.entries(details.missingResourceScopes ?? {})) {
    grant.addResourceScope(resource, scopes.join(' '));
  }
  return grant.save();
}

const escaped = text => String(text).replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);

async function interact(req, res) {
  const interaction = await provider.interactionDetails(req, res);
  const { params, prompt } = interaction;
  const finish = result => provider.interactionFinished(req, res, result, { mergeWithLastSubmission: true });
  if (prompt.name === 'login') return finish({ login: { accountId: 'robin' } });
  if (req.method === 'GET') {
    res.setHeader('Content-Type', 'text/html; charset=utf-8');
    return res.end(`<!doctype html><html lang="en"><title>Sign in</title>
<h1>Allow this client?</h1><p>${escaped(params.client_id)} asks for ${escaped(params.scope)} at ${escaped(params.resource)}.</p>
<form method="post"><button name="choice" value="allow">Allow</button> <button name="choice" value="deny">Deny</button></form></html>`);
  }
  let body = '';
  for await (const chunk of req) body += chunk;
  if (new URLSearchParams(body).get('choice') !== 'allow') {
    return finish({ error: 'access_denied', error_description: 'Robin said no.' });
  }
  return finish({ consent: { grantId: await granted(interaction) } });
}

const callback = provider.callback();
createServer((req, res) => {
  if (!req.url.startsWith('/interaction/')) return callback(req, res);
  interact(req, res).catch(err => {
    res.statusCode = 400;
    res.end(String(err));
  });
}).listen(Number(PORT), '127.0.0.1', () => console.log(`ready at ${issuer}`));
