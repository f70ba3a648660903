import { isStatusError, StatusError, type Status, type StatusCause, type StatusDetails } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry/internal';
import { isObject, numberOf, objectsOf, stringOf, type JsonObject, goQuoted } from '@kctl/crd/internal/engine';
import { badRequest, internalError } from '../../protocol/status.js';

/** Thrown if a webhook could not be called or gave no valid answer; failurePolicy applies. */
export class CallFailure extends Error {
  override readonly name = 'CallFailure';

  constructor(webhook: string, reason: string) {
    super(`failed calling webhook ${goQuoted(webhook)}: ${reason}`);
  }
}

/** Returns the answer for a failed call if the policy is Fail; any other error unchanged. */
export function asStatusError(error: unknown): StatusError {
  if (isStatusError(error)) return error;
  return internalError(messageOf(error));
}

/** 400: what the webhook does cannot be left out, so it is not called on a dry run. */
export function dryRunUnsupported(webhook: string): StatusError {
  return badRequest(`admission webhook ${goQuoted(webhook)} does not support dry run`);
}

function detailsOf(value: unknown): StatusDetails | undefined {
  if (!isObject(value)) return undefined;
  const details: StatusDetails = {};
  for (const name of ['name', 'group', 'kind', 'uid'] as const) {
    const text = stringOf(value[name]);
    if (text !== '') details[name] = text;
  }
  const causes = objectsOf(value['causes']).map((cause): StatusCause => {
    const [reason, message, field] = [cause['reason'], cause['message'], cause['field']].map(stringOf);
    return { ...(reason && { reason }), ...(message && { message }), ...(field && { field }) };
  });
  if (causes.length > 0) details.causes = causes;
  const seconds = numberOf(value['retryAfterSeconds']) ?? 0;
  if (seconds !== 0) details.retryAfterSeconds = seconds;
  return details;
}

/**
 * The Status of a denial. It is the Status of the webhook, with the webhook's name in the message, and never a success.
 */
export function denial(webhook: string, result: JsonObject | undefined): StatusError {
  const denied = `admission webhook ${goQuoted(webhook)} denied the request`;
  const message = stringOf(result?.['message']);
  const reason = stringOf(result?.['reason']);
  const why = message !== '' ? `: ${message}` : reason !== '' ? `: ${reason}` : ' without explanation';
  const answer: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `${denied}${why}`,
  };
  if (reason !== '') answer.reason = reason;
  const details = detailsOf(result?.['details']);
  if (details !== undefined) answer.details = details;
  answer.code = Math.max(400, numberOf(result?.['code']) ?? 0);
  return new StatusError(answer);
}
