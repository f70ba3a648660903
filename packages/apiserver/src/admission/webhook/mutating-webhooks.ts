import type { UntypedObject } from '@kctl/apimachinery';
import { cloneJson, equalSemantic, isObject, type JsonObject, goQuoted } from '@kctl/crd/internal/engine';
import { goJson } from '../../json/go-json.js';
import { noObjectText } from '../../protocol/go-text.js';
import { JsonSyntaxError, scanJson } from '../../json/strict-json.js';
import { LongAnswerError } from './noted-calls.js';
import { applyOperations } from '../../patch/json-patch-operations.js';
import { internalError } from '../../protocol/status.js';
import type { WebhookCaller } from '../../outgoing/webhook-caller.js';
import { decodeAdmitted } from '../decode.js';
import type { MatchedResource } from '../matching/equivalents.js';
import type { AdmissionPlugin } from '../plugin.js';
import { Reinvocations } from '../reinvocations.js';
import type { AdmissionAnswer } from '../review/admission-response.js';
import { typedObject, type ReviewedWrite } from '../review/admission-review.js';
import type { AdmissionWrite } from '../write.js';
import { callHook } from './call-hook.js';
import { asStatusError, CallFailure } from './errors.js';
import { createHookSource, type Hook } from './hooks.js';
import { anyMatches, isExempt, matchHook, VersionedObjects, type MatchBackend } from './invocation.js';

const pluginName = 'MutatingAdmissionWebhook';

/** The operations of a patch. @throws CallFailure for what is not a JSON patch */
function operationsOf(hook: Hook, patch: string): JsonObject[] {
  const fail = (problem: string): Error =>
    new CallFailure(hook.name, `received undecodable patch in webhook response: ${problem}`);
  let value: unknown;
  try {
    ({ value } = scanJson(patch));
  } catch (error) {
    throw error instanceof JsonSyntaxError ? fail(error.message) : error;
  }
  if (value === null) return [];
  if (!Array.isArray(value)) throw fail(`json: cannot unmarshal ${typeof value} into Go value of type jsonpatch.Patch`);
  return value.map((operation: unknown) => {
    if (operation === null) return {};
    if (isObject(operation)) return operation;
    const kind = Array.isArray(operation) ? 'array' : typeof operation === 'boolean' ? 'bool' : typeof operation;
    throw fail(`json: cannot unmarshal ${kind} into Go value of type jsonpatch.Operation`);
  });
}

/** The object with the patch of an answer applied; undefined without a patch. @throws StatusError 500, CallFailure */
function patched(
  hook: Hook,
  answer: AdmissionAnswer,
  { reviewed, matched }: { readonly reviewed: ReviewedWrite; readonly matched: MatchedResource },
): { object: UntypedObject; isChanged: boolean; operations: JsonObject[] } | undefined {
  if (answer.patch === '') return undefined;
  const operations = operationsOf(hook, answer.patch);
  if (operations.length === 0) return undefined;
  const { object, kind, write } = reviewed;
  if (object === undefined)
    throw internalError(
      `admission webhook ${goQuoted(hook.name)} attempted to modify the object, which is not supported for this operation`,
    );
  if (answer.patchType !== 'JSONPatch')
    throw new CallFailure(hook.name, `unsupported patch type ${goQuoted(answer.patchType)}`);
  try {
    const next = applyOperations(typedObject(object, kind), operations);
    if (!isObject(next)) throw new TypeError(noObjectText(next));
    let isChanged = false;
    const decoded = decodeAdmitted(matched.definition, write.subresource, {
      value: cloneJson(next),
      // As upstream, defaults do not count. Those that a patch has removed have changed, those that it brings have not.
      onDecoded: (value) => void (isChanged = !equalSemantic(value, object)),
    });
    return { object: decoded, isChanged, operations };
  } catch (error) {
    throw asStatusError(error);
  }
}

/** State shared by the calls of one round, and the match of one call. */
interface Calling {
  readonly write: AdmissionWrite;
  readonly versions: VersionedObjects;
  readonly matched: MatchedResource;
  readonly reinvocations: Reinvocations;
}

class MutatingWebhooks implements AdmissionPlugin {
  readonly name = pluginName;
  readonly #backend: MatchBackend;
  readonly #caller: WebhookCaller;
  readonly #hooks: () => readonly Hook[];

  constructor(backend: MatchBackend, caller: WebhookCaller) {
    this.#backend = backend;
    this.#caller = caller;
    this.#hooks = createHookSource(backend.store, 'mutatingwebhookconfigurations');
  }

  isIdle(): boolean {
    return this.#hooks().length === 0;
  }

  handles(facts: Parameters<AdmissionPlugin['handles']>[0]): boolean {
    return anyMatches(this.#backend, this.#hooks(), facts);
  }

  async admit(write: AdmissionWrite): Promise<void> {
    if (isExempt(write)) return;
    const reinvocations = Reinvocations.of(write, pluginName);
    reinvocations.begin();
    const versions = new VersionedObjects(write);
    try {
      for (const [index, hook] of this.#hooks().entries()) {
        const matched = await matchHook(this.#backend, hook, { write, versions });
        if (matched === undefined || !reinvocations.isDue(hook.id)) continue;
        await this.#invoke(hook, index, { write, versions, matched, reinvocations });
      }
      await versions.settle();
    } finally {
      reinvocations.end();
    }
  }

  async #invoke(hook: Hook, index: number, { write, versions, matched, reinvocations }: Calling): Promise<void> {
    const place = `round_${write.reinvocation.isReinvoke ? 1 : 0}_index_${index}`;
    const who = { configuration: hook.configuration, webhook: hook.name };
    let isChanged = false;
    try {
      const reviewed = await versions.in(matched);
      const answer = await callHook(write.caller ?? this.#caller, hook, { reviewed, isMutating: true });
      const change = patched(hook, answer, { reviewed, matched });
      if (change === undefined) return;
      const isStamped = write.object !== undefined && write.object === write.stamped && !versions.isChanged;
      isChanged = isStamped || change.isChanged;
      versions.replace(change.object, matched);
      write.annotate(
        `patch.webhook.admission.k8s.io/${place}`,
        goJson({ ...who, patch: change.operations, patchType: 'JSONPatch' }),
      );
    } catch (error) {
      if (error instanceof LongAnswerError) throw error;
      if (!(error instanceof CallFailure) || !hook.ignoresFailures) throw asStatusError(error);
      write.annotate(`failed-open.mutation.webhook.admission.k8s.io/${place}`, hook.name);
      write.signal.throwIfAborted();
    } finally {
      write.annotate(`mutation.webhook.admission.k8s.io/${place}`, goJson({ ...who, mutated: isChanged }));
      reinvocations.note(hook.id, { isChanged, isReinvoked: hook.isReinvoked });
    }
  }
}

/** Calls the webhooks of MutatingWebhookConfigurations, one after the other. Mirrors upstream's plugin of this name. */
export function createMutatingWebhooks(backend: MatchBackend, caller: WebhookCaller): AdmissionPlugin {
  return new MutatingWebhooks(backend, caller);
}
