import type { UntypedObject } from '@kctl/apimachinery';
import type { Offload } from '../../offload/offload.js';
import type { Registry } from '../../registry/registry.js';
import { forbiddenObject, internalError } from '../../protocol/status.js';
import { isStatusError } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry/internal';
import type { Store } from '../../storage/store.js';
import { decodeCustomView } from '../decode.js';
import { convertObject, isSameKind, matchRules, type MatchedResource } from '../matching/equivalents.js';
import { namespaceMatches, objectMatches } from '../matching/selectors.js';
import type { ReviewedWrite } from '../review/admission-review.js';
import type { AdmissionWrite, WriteFacts } from '../write.js';
import type { Hook } from './hooks.js';

/** Server state that matching needs. */
export interface MatchBackend {
  readonly store: Store;
  readonly registry: Registry;
  /** Evaluates expressions that cost too much for this thread. */
  readonly offload: Offload;
}

const exempt: ReadonlySet<string> = new Set([
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
]);

/** Whether a write changes admission's configuration, which no webhook and no policy can lock. */
export function isExempt({ kind }: WriteFacts): boolean {
  return kind.group === 'admissionregistration.k8s.io' && exempt.has(kind.kind);
}

/** Whether a rule of any of these webhooks is about a write. */
export function anyMatches({ registry }: MatchBackend, hooks: readonly Hook[], facts: WriteFacts): boolean {
  return !isExempt(facts) && hooks.some((hook) => matchRules(registry, hook, facts) !== undefined);
}

type Version = Pick<MatchedResource, 'definition' | 'kind'>;

/** The object of a write in the version in which it was last shown. */
interface Shown {
  readonly target: Version;
  readonly object: UntypedObject;
  /** Whether a plugin has changed it since. */
  readonly isChanged: boolean;
}

/**
 * The current object of a write, in a version named by a webhook or a policy. As upstream, it stays in that version
 * until another one is named, and keeps fields unknown to the version of the write, such as defaults.
 */
export class VersionedObjects {
  readonly #write: AdmissionWrite;
  readonly #olds = new Map<string, UntypedObject | undefined>();
  #shown: Shown | undefined;
  #isReplaced = false;

  constructor(write: AdmissionWrite) {
    this.#write = write;
  }

  /** Returns the write as `target` shows it. @throws StatusError 500 if an object does not convert */
  async in(target: Pick<MatchedResource, 'definition' | 'kind' | 'resource'>): Promise<ReviewedWrite> {
    const { resource, kind } = target;
    const { oldObject } = this.#write;
    const key = `${kind.group}/${kind.version}/${kind.kind}`;
    if (!this.#olds.has(key)) this.#olds.set(key, await this.#convert(oldObject, target));
    return { write: this.#write, resource, kind, object: await this.#show(target), oldObject: this.#olds.get(key) };
  }

  /** The object as it stands, in whatever version. */
  get object(): UntypedObject | undefined {
    return this.#shown?.object ?? this.#write.object;
  }

  /** Whether the object has changed in a version that is not the write's, which does not have it yet. */
  get isChanged(): boolean {
    return this.#shown?.isChanged ?? false;
  }

  /** Takes what a plugin has made of the object, in the version of `target`. */
  replace(object: UntypedObject, target: Version): void {
    const isOwn = isSameKind(this.#write.kind, target.kind);
    if (isOwn) this.#write.object = object;
    this.#shown = { object, target, isChanged: !isOwn };
    this.#isReplaced = true;
  }

  /** Gives the write its object back. @throws StatusError 500 if it does not convert */
  async settle(): Promise<void> {
    this.#settleView();
    if (this.#shown?.isChanged !== true) return;
    const { object, target } = this.#shown;
    this.#write.object = await convertObject(object, target.definition, this.#write.definition);
    this.#shown = { object, target, isChanged: false };
  }

  /** As upstream, the Scale of a custom resource loses what a Scale does not know, and its next patch is a first one again. */
  #settleView(): void {
    const { definition, subresource, object } = this.#write;
    const found = definition.subresources.get(subresource);
    if (!this.#isReplaced || !definition.isCustom || found?.type !== 'view' || object === undefined) return;
    this.#write.object = decodeCustomView(found.view, object);
    this.#write.stamped = this.#write.object;
    this.#shown = undefined;
    this.#isReplaced = false;
  }

  async #show(target: Version): Promise<UntypedObject | undefined> {
    if (this.#shown !== undefined && isSameKind(this.#shown.target.kind, target.kind)) return this.#shown.object;
    await this.settle();
    const object = await this.#convert(this.#write.object, target);
    this.#shown = object && { object, target, isChanged: false };
    return object;
  }

  async #convert(object: UntypedObject | undefined, target: Version): Promise<UntypedObject | undefined> {
    const { definition, kind } = this.#write;
    if (object === undefined || isSameKind(kind, target.kind)) return object;
    try {
      return await convertObject(object, definition, target.definition);
    } catch (error) {
      throw isStatusError(error) ? error : internalError(messageOf(error));
    }
  }
}

/** Selectors are looked at first, but a namespace that is missing counts only for webhooks whose rules match. */
function namespaceVerdict(store: Store, hook: Hook, write: AdmissionWrite): true | false | Error {
  try {
    return namespaceMatches(store, hook.namespaceSelector, write);
  } catch (error) {
    if (isStatusError(error)) return error;
    throw error;
  }
}

/**
 * Returns how a webhook sees a write; undefined if it is not called.
 *
 * @throws StatusError 403 if a match condition fails, 404 if the namespace is missing
 */
export async function matchHook(
  { store, registry, offload }: MatchBackend,
  hook: Hook,
  { write, versions }: { readonly write: AdmissionWrite; readonly versions: VersionedObjects },
): Promise<MatchedResource | undefined> {
  const current = versions.isChanged ? { ...write, object: versions.object } : write;
  const verdict = namespaceVerdict(store, hook, current);
  if (verdict === false || !objectMatches(hook.objectSelector, current)) return undefined;
  const matched = matchRules(registry, hook, write);
  if (matched === undefined) return undefined;
  if (verdict instanceof Error) throw verdict;
  if (hook.conditions === undefined) return matched;
  const result = await hook.conditions.evaluate(await versions.in(matched), offload);
  if (result.problem !== undefined)
    throw forbiddenObject({ group: write.resource.group, plural: write.resource.resource }, write.name, result.problem);
  return result.matches ? matched : undefined;
}
