import { jsonText } from '@kctl/crd/internal/engine';
import type { ServiceAccountTokens } from './service-account-tokens.js';
import type { Reply } from '../protocol/api-request.js';

/** Facts for the discovery of the token issuer. */
export interface OpenIdFacts {
  readonly tokens: ServiceAccountTokens;
  /** URL of the keys. */
  readonly jwksUri: string;
}

/** Longer than keys live here; upstream's value. */
const cacheControl = 'public, max-age=3600';

function reply(contentType: string, value: unknown): Reply {
  return {
    status: 200,
    headers: { 'cache-control': cacheControl, 'content-type': contentType },
    body: jsonText(value),
  };
}

/** Answers /.well-known/openid-configuration and /openid/v1/jwks; undefined for other paths. */
export function openId({ tokens, jwksUri }: OpenIdFacts, segments: readonly string[]): Reply | undefined {
  const path = segments.join('/');
  const [issuer = ''] = tokens.issuers;
  if (path === '.well-known/openid-configuration')
    return reply('application/json', {
      issuer,
      jwks_uri: jwksUri,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [...new Set(tokens.keys.map(({ algorithm }) => algorithm))].sort(),
    });
  if (path !== 'openid/v1/jwks') return undefined;
  const keys = tokens.keys.map(({ id: kid, algorithm: alg, key }) => {
    const { kty, ...numbers } = key.export({ format: 'jwk' });
    return { use: 'sig', kty, kid, alg, ...numbers };
  });
  return reply('application/jwk-set+json', { keys });
}
