import { at, stringOf, stringsOf, type JsonObject } from '@kctl/crd/internal/engine';
import { badRequest } from '../protocol/status.js';
import type { Authenticator } from './authenticator.js';
import { userInfoOf } from './user-info.js';

/** Checks a TokenReview before admission sees it. @throws StatusError 400 */
export function checkTokenReview(review: object): void {
  if (stringOf(at(review, 'spec', 'token')) === '')
    throw badRequest('token is required for TokenReview in authentication');
}

/** The status of a TokenReview. */
export async function answerTokenReview(authenticator: Authenticator, review: object): Promise<JsonObject> {
  const token = stringOf(at(review, 'spec', 'token'));
  const result = await authenticator.review(token, stringsOf(at(review, 'spec', 'audiences')));
  if ('problem' in result) return { user: {}, ...(result.problem !== '' && { error: result.problem }) };
  return { authenticated: true, user: userInfoOf(result.user), audiences: result.audiences };
}
