import type { WebhookCaller } from '../outgoing/webhook-caller.js';
import { createAdmissionChain, type AdmissionChain } from './chain.js';
import { createMutatingPolicies } from './policy/mutating-policies.js';
import { createValidatingPolicies } from './policy/validating-policies.js';
import type { MatchBackend } from './webhook/invocation.js';
import { createMutatingWebhooks } from './webhook/mutating-webhooks.js';
import { createValidatingWebhooks } from './webhook/validating-webhooks.js';

/** Tables of the plugins' configurations. */
export const reviewTables: readonly string[] = [
  ...['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings', 'mutatingwebhookconfigurations'],
  ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings', 'validatingwebhookconfigurations'],
].map((plural) => `admissionregistration.k8s.io/${plural}`);

/** The plugins that users configure, in upstream's order. */
export function createReviews(backend: MatchBackend, caller: WebhookCaller): AdmissionChain {
  return createAdmissionChain([
    createMutatingPolicies(backend),
    createMutatingWebhooks(backend, caller),
    createValidatingPolicies(backend),
    createValidatingWebhooks(backend, caller),
  ]);
}
