import { goQuoted } from '@kctl/crd/internal/engine';
import { messageOf } from '@kctl/telemetry/internal';
import { LongAnswerError } from './noted-calls.js';
import type { WebhookCaller } from '../../outgoing/webhook-caller.js';
import { admissionRequest, admissionReview, reviewVersionOf, type ReviewedWrite } from '../review/admission-review.js';
import { readAdmissionAnswer, ReviewError, type AdmissionAnswer } from '../review/admission-response.js';
import { CallFailure, denial, dryRunUnsupported } from './errors.js';
import type { Hook } from './hooks.js';

/**
 * Calls one webhook. Its warnings and audit annotations are passed on, whatever its decision.
 *
 * @throws CallFailure if it cannot be called or returns no valid review; StatusError if it denies, or if the request is
 * a dry run that it does not support
 */
export async function callHook(
  caller: WebhookCaller,
  hook: Hook,
  { reviewed, isMutating }: { readonly reviewed: ReviewedWrite; readonly isMutating: boolean },
): Promise<AdmissionAnswer> {
  const { write } = reviewed;
  const { name, client } = hook;
  if (write.dryRun && !hook.allowsDryRun) throw dryRunUnsupported(name);
  const version = reviewVersionOf(hook.reviewVersions);
  if (version === undefined)
    throw new CallFailure(
      name,
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
    );
  if (client === undefined)
    throw new CallFailure(
      name,
      `could not get REST client: failed calling webhook ${goQuoted(name)}: webhook configuration must have either service or URL`,
    );
  const uid = caller.newUid();
  const review = admissionReview(version, admissionRequest(uid, reviewed));
  let answer: AdmissionAnswer;
  try {
    const body = await caller.post(client, review, {
      timeoutMs: hook.timeoutMs,
      remainingMs: write.remainingMs(),
      signal: write.signal,
    });
    answer = readAdmissionAnswer(body, { uid, version, isMutating });
  } catch (error) {
    if (error instanceof LongAnswerError) throw error;
    const isInvalid = error instanceof ReviewError && !error.isUndecodable;
    const what = isInvalid ? 'received invalid webhook response' : 'failed to call webhook';
    throw new CallFailure(name, `${what}: ${messageOf(error)}`);
  }
  for (const [key, value] of Object.entries(answer.auditAnnotations)) write.annotate(`${name}/${key}`, value);
  for (const warning of answer.warnings) write.warn(warning);
  if (!answer.allowed) throw denial(name, answer.result);
  return answer;
}
