import { isJsonObject } from '@kctl/apimachinery/internal';
import { requireFunction } from '../handler/require-parts.js';
import type { UserInfo } from '../handler/review.js';
import { safeMessageOf } from '../handler/safe-error.js';
import { shownName } from '../admission/admission-webhook.js';
import type { WebhookAnswer, WebhookHandler, WebhookRequest } from '../handler/handler.js';

const maxBodyBytes = 1024 * 1024;
const v1 = 'authentication.k8s.io/v1';
const versions: readonly string[] = [v1, 'authentication.k8s.io/v1beta1'];

/** The result of a token's review. */
export type TokenVerdict =
  | { readonly authenticated: true; readonly user: UserInfo; readonly audiences?: readonly string[] }
  | { readonly authenticated: false; readonly error?: string };

/** Evaluates a token. */
export type TokenAuthenticator = (
  token: string,
  context: Pick<WebhookRequest, 'signal' | 'logger' | 'http'> & { readonly audiences: readonly string[] },
) => TokenVerdict | Promise<TokenVerdict>;

/** The token is good. Mirrors `authentication.Authenticated`. */
export function authenticated(user: UserInfo, audiences?: readonly string[]): TokenVerdict {
  return { authenticated: true, user, ...(audiences === undefined ? {} : { audiences }) };
}

/** The token is not. Mirrors `authentication.Unauthenticated`. */
export function unauthenticated(error?: string): TokenVerdict {
  return { authenticated: false, ...(error === undefined ? {} : { error }) };
}

/**
 * Serves TokenReviews, v1 and v1beta1, each answered in its version. Tokens are never logged nor answered, also not
 * those that an authenticator puts into its error. Mirrors `webhook/authentication`.
 */
export function tokenReviewWebhook(authenticate: TokenAuthenticator): WebhookHandler {
  requireFunction('tokenReviewWebhook: the authenticator', authenticate);
  return {
    type: 'authentication',
    maxBodyBytes,
    reject: (message) => failed(v1, message),
    handle: async ({ body, signal, logger, http, onPanic }) => {
      const review = readReview(body);
      if ('problem' in review) {
        logger.warn('bad request', { error: review.problem });
        return failed(review.apiVersion, review.problem);
      }
      const { apiVersion, token, audiences } = review;
      logger.trace('received request');
      try {
        const verdict: unknown = await authenticate(token, {
          signal,
          logger,
          audiences,
          ...(http === undefined ? {} : { http }),
        });
        const checked = checkVerdict(verdict, token);
        logger.trace('wrote response', { authenticated: checked.authenticated });
        return answer(apiVersion, checked);
      } catch (error) {
        onPanic?.();
        // Not the error itself, because its message, stack and causes may hold the token.
        logger.error('token authenticator failed', { error: without(token, safeMessageOf(error)) });
        return failed(apiVersion, 'the token could not be judged');
      }
    },
  };
}

function answer(apiVersion: string, status: TokenVerdict): WebhookAnswer {
  return { body: { apiVersion, kind: 'TokenReview', status } };
}

function failed(apiVersion: string, error: string): WebhookAnswer {
  return answer(apiVersion, { authenticated: false, error });
}

type Review =
  | { readonly apiVersion: string; readonly token: string; readonly audiences: readonly string[] }
  | { readonly apiVersion: string; readonly problem: string };

function readReview(body: unknown): Review {
  if (!isJsonObject(body)) return { apiVersion: v1, problem: 'the body is not a TokenReview' };
  // As upstream, a review that does not state its type is one of v1.
  const { apiVersion = v1, kind = 'TokenReview', spec } = body;
  if (kind !== 'TokenReview') return { apiVersion: v1, problem: 'the body is not a TokenReview' };
  if (typeof apiVersion !== 'string' || !versions.includes(apiVersion))
    return {
      apiVersion: v1,
      problem: `apiVersion ${shownName(apiVersion)} is not known: known are ${versions.join(' and ')}`,
    };
  const { token, audiences = [] } = isJsonObject(spec) ? spec : {};
  if (typeof token !== 'string' || token === '') return { apiVersion, problem: 'token is empty' };
  if (!isTexts(audiences)) return { apiVersion, problem: 'spec.audiences is not a list of strings' };
  return { apiVersion, token, audiences };
}

/** A verdict as the API server may read it, which is authenticated only if it is stated plainly and names a user. */
function checkVerdict(verdict: unknown, token: string): TokenVerdict {
  if (!isJsonObject(verdict)) return unauthenticated('the authenticator returned no verdict');
  const { authenticated: isAuthenticated, user, audiences, error } = verdict;
  if (isAuthenticated !== true) return unauthenticated(typeof error === 'string' ? without(token, error) : undefined);
  if (!isJsonObject(user) || typeof user['username'] !== 'string' || user['username'] === '')
    return unauthenticated('the authenticator named no user');
  if (audiences !== undefined && !isTexts(audiences))
    return unauthenticated('the authenticator returned audiences that are not a list of strings');
  return authenticated(user, audiences);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

function without(token: string, text: string): string {
  return text.replaceAll(token, '[token]');
}
