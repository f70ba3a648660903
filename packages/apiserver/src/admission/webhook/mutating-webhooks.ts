import type { UntypedObject } from '@kctl/apimachinery';
import { noObjectText } from '../../codecs/go-text.js';
import { JsonSyntaxError, scanJson } from '../../codecs/strict-json.js';
import { applyOperations } from '../../patch/json-patch-operations.js';
import { cloneJson, equalSemantic, isObject, type JsonObject } from '../../registry/json.js';
import { internalError } from '../../registry/status.js';
import { jsonText } from '../../storage/json-text.js';
import type { WebhookCaller } from '../../webhooks/webhook-caller.js';
import { decodeAdmitted } from '../decode.js';
import type { MatchedResource } from '../matching/equivalents.js';
import type { AdmissionPlugin } from '../plugin.js';
import type { AdmissionAnswer } from '../review/admission-response.js';
import type { ReviewedWrite } from '../review/admission-review.js';
import type { AdmissionWrite } from '../write.js';
import { callHook } from './call-hook.js';
import { asStatusError, CallFailure } from './errors.js';
import { createHookSource, type Hook } from './hooks.js';
import { anyMatches, isExempt, matchHook, VersionedObjects, type MatchBackend } from './invocation.js';

const pluginName = 'MutatingAdmissionWebhook';

/** Which webhooks are to be called a second time. */
interface ReinvokeState {
  /** The object as the last round left it. */
  lastOutput: UntypedObject | undefined;
  readonly invoked: Set<string>;
  readonly again: Set<string>;
}

function stateOf(write: AdmissionWrite): ReinvokeState {
  const { values } = write.reinvocation;
  const known = values.get(pluginName);
  if (isState(known)) return known;
  const state: ReinvokeState = { lastOutput: undefined, invoked: new Set(), again: new Set() };
  values.set(pluginName, state);
  return state;
}

function isState(value: unknown): value is ReinvokeState {
  return typeof value === 'object' && value !== null && 'invoked' in value && 'again' in value;
}

function invokeAgain({ invoked, again }: ReinvokeState): void {
  for (const id of invoked) again.add(id);
  invoked.clear();
}

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

/** The object with the patch of an answer applied; undefined where there is none. @throws StatusError 500, CallFailure */
function patched(
  hook: Hook,
  answer: AdmissionAnswer,
  { reviewed, matched }: { readonly reviewed: ReviewedWrite; readonly matched: MatchedResource },
): { object: UntypedObject; operations: JsonObject[] } | undefined {
  if (answer.patch === '') return undefined;
  const operations = operationsOf(hook, answer.patch);
  if (operations.length === 0) return undefined;
  const { object, kind, write } = reviewed;
  if (object === undefined)
    throw internalError(
      `admission webhook ${JSON.stringify(hook.name)} attempted to modify the object, which is not supported for this operation`,
    );
  if (answer.patchType !== 'JSONPatch')
    throw new CallFailure(hook.name, `unsupported patch type ${JSON.stringify(answer.patchType)}`);
  const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
  try {
    const next = applyOperations({ ...object, kind: kind.kind, apiVersion }, operations);
    if (!isObject(next)) throw new TypeError(noObjectText(next));
    return { object: decodeAdmitted(matched.definition, write.subresource, cloneJson(next)), operations };
  } catch (error) {
    throw asStatusError(error);
  }
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
    const { reinvocation } = write;
    const state = stateOf(write);
    if (reinvocation.isReinvoke && !equalSemantic(state.lastOutput, write.object)) invokeAgain(state);
    const versions = new VersionedObjects(write);
    try {
      for (const [index, hook] of this.#hooks().entries()) {
        const matched = await matchHook(this.#backend, hook, { write, versions });
        if (matched === undefined || (reinvocation.isReinvoke && !state.again.has(hook.id))) continue;
        await this.#invoke(hook, index, { write, versions, matched, state });
      }
    } finally {
      state.lastOutput = write.object;
    }
  }

  async #invoke(
    hook: Hook,
    index: number,
    {
      write,
      versions,
      matched,
      state,
    }: { write: AdmissionWrite; versions: VersionedObjects; matched: MatchedResource; state: ReinvokeState },
  ): Promise<void> {
    const { reinvocation } = write;
    const place = `round_${reinvocation.isReinvoke ? 1 : 0}_index_${index}`;
    const who = { configuration: hook.configuration, webhook: hook.name };
    let isChanged = false;
    try {
      const reviewed = await versions.in(matched);
      const answer = await callHook(this.#caller, hook, { reviewed, isMutating: true });
      const change = patched(hook, answer, { reviewed, matched });
      if (change === undefined) return;
      isChanged = !equalSemantic(change.object, reviewed.object);
      write.object = await versions.back(change.object, matched);
      write.annotate(
        `patch.webhook.admission.k8s.io/${place}`,
        jsonText({ ...who, patch: change.operations, patchType: 'JSONPatch' }),
      );
    } catch (error) {
      if (!(error instanceof CallFailure) || !hook.ignoresFailures) throw asStatusError(error);
      write.annotate(`failed-open.mutation.webhook.admission.k8s.io/${place}`, hook.name);
      write.signal.throwIfAborted();
    } finally {
      write.annotate(`mutation.webhook.admission.k8s.io/${place}`, jsonText({ ...who, mutated: isChanged }));
      if (isChanged) {
        invokeAgain(state);
        reinvocation.isRequested = true;
      }
      if (hook.isReinvoked) state.invoked.add(hook.id);
    }
  }
}

/** Calls the webhooks of MutatingWebhookConfigurations, one after the other. Mirrors upstream's plugin of this name. */
export function createMutatingWebhooks(backend: MatchBackend, caller: WebhookCaller): AdmissionPlugin {
  return new MutatingWebhooks(backend, caller);
}
