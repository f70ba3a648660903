import type { WebhookCaller } from '../../outgoing/webhook-caller.js';
import type { AdmissionPlugin } from '../plugin.js';
import type { ReviewedWrite } from '../review/admission-review.js';
import type { AdmissionWrite } from '../write.js';
import { callHook } from './call-hook.js';
import { asStatusError, CallFailure } from './errors.js';
import { createHookSource, type Hook } from './hooks.js';
import { anyMatches, isExempt, matchHook, VersionedObjects, type MatchBackend } from './invocation.js';

class ValidatingWebhooks implements AdmissionPlugin {
  readonly name = 'ValidatingAdmissionWebhook';
  readonly #backend: MatchBackend;
  readonly #caller: WebhookCaller;
  readonly #hooks: () => readonly Hook[];

  constructor(backend: MatchBackend, caller: WebhookCaller) {
    this.#backend = backend;
    this.#caller = caller;
    this.#hooks = createHookSource(backend.store, 'validatingwebhookconfigurations');
  }

  isIdle(): boolean {
    return this.#hooks().length === 0;
  }

  handles(facts: Parameters<AdmissionPlugin['handles']>[0]): boolean {
    return anyMatches(this.#backend, this.#hooks(), facts);
  }

  async validate(write: AdmissionWrite): Promise<void> {
    if (isExempt(write)) return;
    const versions = new VersionedObjects(write);
    const relevant: { readonly hook: Hook; readonly reviewed: ReviewedWrite }[] = [];
    for (const hook of this.#hooks()) {
      const matched = await matchHook(this.#backend, hook, { write, versions });
      if (matched !== undefined) relevant.push({ hook, reviewed: await versions.in(matched) });
    }
    if (relevant.length === 0) return;
    write.signal.throwIfAborted();
    // All webhooks are called, even if one has refused already; the first refusal to arrive is the answer.
    const refusals: unknown[] = [];
    await Promise.all(
      relevant.map(async ({ hook, reviewed }, index) => {
        try {
          await callHook(this.#caller, hook, { reviewed, isMutating: false });
        } catch (error) {
          if (error instanceof CallFailure && hook.ignoresFailures)
            write.annotate(`failed-open.validating.webhook.admission.k8s.io/round_0_index_${index}`, hook.name);
          else refusals.push(error);
        }
      }),
    );
    // Failures that are ignored are not those of a request that has ended.
    write.signal.throwIfAborted();
    if (refusals.length > 0) throw asStatusError(refusals[0]);
  }
}

/** Calls the webhooks of ValidatingWebhookConfigurations, all at once. Mirrors upstream's plugin of this name. */
export function createValidatingWebhooks(backend: MatchBackend, caller: WebhookCaller): AdmissionPlugin {
  return new ValidatingWebhooks(backend, caller);
}
