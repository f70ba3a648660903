import { isJsonObject } from '@kctl/apimachinery';
import type { UserInfo } from '../admission/review.js';
import type { WebhookAnswer, WebhookHandler, WebhookRequest } from '../server/handler.js';

const maxBodyBytes = 1024 * 1024;
const versions = ['authentication.k8s.io/v1', 'authentication.k8s.io/v1beta1'];

/** What is known of a token. */
export type TokenVerdict =
  | { readonly authenticated: true; readonly user: UserInfo; readonly audiences?: readonly string[] }
  | { readonly authenticated: false; readonly error?: string };

/** Judges a token. */
export type TokenAuthenticator = (
  token: string,
  context: Pick<WebhookRequest, 'signal' | 'logger'> & { readonly audiences: readonly string[] },
) => TokenVerdict | Promise<TokenVerdict>;

/** Serves TokenReviews, v1 and v1beta1. Tokens are never logged. Mirrors `webhook/authentication`. */
export function tokenReviewWebhook(authenticate: TokenAuthenticator): WebhookHandler {
  const answer = (apiVersion: string, verdict: TokenVerdict): WebhookAnswer => ({
    body: { apiVersion, kind: 'TokenReview', status: verdict },
  });
  const failed = (apiVersion: string, error: string): WebhookAnswer =>
    answer(apiVersion, { authenticated: false, error });
  return {
    maxBodyBytes,
    reject: (message) => failed(versions[0] ?? '', message),
    handle: async ({ body, signal, logger }) => {
      if (!isJsonObject(body) || body['kind'] !== 'TokenReview')
        return failed(versions[0] ?? '', 'the body is not a TokenReview');
      const { apiVersion, spec } = body;
      if (typeof apiVersion !== 'string' || !versions.includes(apiVersion))
        return failed(versions[0] ?? '', `apiVersion ${JSON.stringify(apiVersion)} is not known`);
      const token = isJsonObject(spec) ? spec['token'] : undefined;
      if (typeof token !== 'string' || token === '') return failed(apiVersion, 'token is empty');
      const audiences =
        isJsonObject(spec) && Array.isArray(spec['audiences'])
          ? spec['audiences'].filter((audience) => typeof audience === 'string')
          : [];
      try {
        return answer(apiVersion, await authenticate(token, { signal, logger, audiences }));
      } catch (error) {
        logger.error('token authenticator failed', { error });
        return failed(apiVersion, 'the token could not be judged');
      }
    },
  };
}
