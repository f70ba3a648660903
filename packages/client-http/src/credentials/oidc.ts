import '@kctl/telemetry/require-in-bundles'; // before a CommonJS package
import { withDeadline } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import type { Agent, request } from 'undici';
import type { OidcRefresh } from '@kctl/client/internal/connection';
import { CredentialsError } from '../errors.js';
import { errorCode } from '../failure/explain-failure.js';
import { redactKnown, withoutUserInfo } from '@kctl/client/internal/connection';
import type { Credential, CredentialSource } from './credential-source.js';

/** client-go refreshes this long before the token's own end, in ms. */
const leewayMs = 10_000;
/** For each step of a renewal. */
const timeoutMs = 10_000;
/** For the renewal as a whole, because an issuer that trickles must not hang every request. */
const renewalTimeoutMs = 30_000;
const maxAnswerBytes = 1024 * 1024;

/**
 * An OpenID Connect id-token that is renewed with a refresh token at the issuer, once for all waiting requests.
 * Implemented here, because the refresh of client-node 2.0.1 fails at run time (it hands openid-client a string for a
 * URL). Unlike client-go, a new refresh token is kept in memory only, and the kubeconfig file is not rewritten.
 */
export function oidcCredential(config: OidcRefresh, clock: Clock): CredentialSource {
  let credential: Credential = config.idToken === undefined ? {} : { authorization: `Bearer ${config.idToken}` };
  let expiresAt = config.idToken === undefined ? 0 : expiryOf(config.idToken);
  let { refreshToken } = config;
  let running: Promise<Credential> | undefined;
  const closed = new AbortController();

  const renew = async (): Promise<Credential> => {
    try {
      if (refreshToken === undefined)
        throw new Error('the id-token has expired and no refresh-token is there to renew it; log in again');
      const usable = refreshToken;
      const tokens = await withDeadline((signal) => fetchTokens(config, usable, signal), {
        timeoutMs: renewalTimeoutMs,
        signal: closed.signal,
        message: `no token within ${renewalTimeoutMs / 1000} s`,
        clock,
      });
      refreshToken = tokens.refreshToken ?? refreshToken;
      expiresAt = expiryOf(tokens.idToken);
      credential = { authorization: `Bearer ${tokens.idToken}` };
      return credential;
    } catch (error) {
      const own = [config.clientSecret, config.idToken, config.refreshToken, refreshToken];
      const reason = error instanceof Error ? redactKnown(error.message, own) : 'unknown failure';
      throw new CredentialsError(`OIDC issuer ${withoutUserInfo(config.issuerUrl)}: ${reason}`);
    }
  };
  const renewOnce = (): Promise<Credential> => {
    running ??= renew().finally(() => {
      running = undefined;
    });
    return running;
  };
  return {
    get: () => (clock.now() < expiresAt - leewayMs ? credential : renewOnce()),
    refresh: async (used) => (credential !== used ? true : (await renewOnce()) !== used),
    close: () => closed.abort(),
  };
}

interface Tokens {
  readonly idToken: string;
  readonly refreshToken: string | undefined;
}

async function fetchTokens(config: OidcRefresh, refreshToken: string, signal: AbortSignal): Promise<Tokens> {
  const { issuerUrl, clientId, clientSecret, ca } = config;
  // All of undici, for its requests with a body and limits, and by file, see `undici-parts.ts`: once in an hour or so.
  const { Agent, request } = await import('undici/index.js');
  const dispatcher = new Agent({
    connect: { ...(ca === undefined ? {} : { ca: Buffer.from(ca) }), timeout: timeoutMs },
    maxResponseSize: maxAnswerBytes,
  });
  try {
    const call = (url: string, form?: URLSearchParams, authorization?: string): Promise<Fields> =>
      callIssuer(url, { request, dispatcher, form, authorization, signal });
    const discovery = await call(`${issuerUrl.replace(/\/+$/, '')}/.well-known/openid-configuration`);
    const endpoint = textOf(discovery['token_endpoint']);
    if (endpoint === undefined) throw new Error('its discovery document has no token_endpoint');
    const methods = discovery['token_endpoint_auth_methods_supported'];
    const usesForm = Array.isArray(methods) && !methods.includes('client_secret_basic');
    const form = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId });
    if (clientSecret !== undefined && usesForm) form.set('client_secret', clientSecret);
    const isBasic = clientSecret !== undefined && !usesForm;
    const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret ?? '')}`;
    const answer = await call(endpoint, form, isBasic ? `Basic ${Buffer.from(pair).toString('base64')}` : undefined);
    const idToken = textOf(answer['id_token']);
    if (idToken === undefined) throw new Error('its answer to the refresh has no id_token');
    return { idToken, refreshToken: textOf(answer['refresh_token']) };
  } finally {
    await dispatcher.destroy();
  }
}

type Fields = Readonly<Record<string, unknown>>;

interface IssuerCall {
  readonly request: typeof request;
  readonly dispatcher: Agent;
  readonly form: URLSearchParams | undefined;
  readonly authorization: string | undefined;
  readonly signal: AbortSignal;
}

async function callIssuer(
  url: string,
  { request, dispatcher, form, authorization, signal }: IssuerCall,
): Promise<Fields> {
  const answer = await request(url, {
    dispatcher,
    method: form === undefined ? 'GET' : 'POST',
    headers: {
      accept: 'application/json',
      ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      ...(authorization === undefined ? {} : { authorization }),
    },
    body: form?.toString() ?? null,
    signal,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  }).catch((error: unknown) => {
    throw new Error(`cannot connect (${errorCode(error) ?? 'unknown failure'})`);
  });
  const fields = fieldsOf(await answer.body.text());
  if (answer.statusCode === 200) return fields;
  const detail = [textOf(fields['error']), textOf(fields['error_description'])].filter(Boolean).join(': ');
  throw new Error(`it answered ${answer.statusCode}${detail === '' ? '' : ` (${detail})`}`);
}

/** The expiry of a JWT, in ms since the epoch. If it states none, it is used until the server refuses it. */
function expiryOf(token: string): number {
  const claims = fieldsOf(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const seconds = claims['exp'];
  return typeof seconds === 'number' ? seconds * 1000 : Number.POSITIVE_INFINITY;
}

function fieldsOf(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
