import { createJsonPatch, defineKind, isNoKindMatch, isNotFound, parseApiVersion } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { JsonPatchOperation, Kind, ObjectKey, UntypedObject } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { apply, hasCondition, waitFor } from '@kctl/client';
import { requireClient } from '@kctl/client/internal';
import type { AbortOptions, KindResolver } from '@kctl/client';
import { numberProblem, optionWithMethods, requireOptions, shownType, signalOption, clockOption } from '@kctl/options';
import { sleep, systemClock, withDeadline } from '@kctl/wait';
import { throwIfAborted } from '@kctl/wait/internal';
import type { OptionNames } from '@kctl/options';
import type { Clock } from '@kctl/wait';
import { ApplySet } from './apply-set.js';
import type { ApplySetParent, Member } from './apply-set.js';
import type { ManifestClient } from './client.js';
import { ManifestError } from './errors.js';
import { readSources } from './manifest.js';
import type { Manifest, ManifestSource } from './manifest.js';
import { inOrder, rankOf } from './order.js';

/** Result of one object. */
export interface AppliedObject {
  readonly kind: Kind;
  readonly key: ObjectKey;
  /**
   * `unknown`: a dry run cannot decide, because the object needs a namespace or definition that does not exist yet.
   * `failed`: see `error`.
   */
  readonly action: 'created' | 'configured' | 'unchanged' | 'pruned' | 'unknown' | 'failed';
  /** Differences from the former object, without bookkeeping fields; empty for a new object. */
  readonly differences: readonly JsonPatchOperation[];
  /** As the server returned it. */
  readonly object?: UntypedObject;
  readonly error?: unknown;
}

/** Something that happens, for a program that shows its progress. */
export type ManifestProgress =
  | { readonly type: 'applied'; readonly result: AppliedObject }
  /** A definition must be established before its objects can be applied. */
  | { readonly type: 'waiting'; readonly name: string };

/** Options of {@link applyManifests}. */
export interface ApplyManifestsOptions extends AbortOptions {
  /** Finds kinds by name: `createRestMapper({ transport: client.transport })`, or a manager's `mapper`. */
  readonly mapper: KindResolver;
  /** Name under which the server records field ownership. */
  readonly fieldOwner: string;
  /** Takes over fields that others own. @default false */
  readonly force?: boolean;
  /** Of namespaced objects that name none. @default 'default' */
  readonly namespace?: string;
  /** Changes nothing: the server says what would become of each object. @default false */
  readonly dryRun?: boolean;
  /** Deletes what an earlier call with this parent applied and this one leaves out. @default nothing is deleted */
  readonly prune?: ApplySetParent;
  /**
   * Prunes although a source has no objects: an empty file, a file with comments alone, a folder without manifests, an empty
   * list. Without it such a source is refused, because it would delete all of its former objects. @default false
   */
  readonly allowEmpty?: boolean;
  /** How long a definition may take to be established, in ms. @default 60_000 */
  readonly timeoutMs?: number;
  readonly onProgress?: (progress: ManifestProgress) => void;
  /** @default systemClock */
  readonly clock?: Clock;
}

const mapperOption = optionWithMethods(['kindFor'], 'what createRestMapper returns, or the mapper of a manager');
const optionNames: OptionNames<ApplyManifestsOptions> = {
  mapper: true,
  fieldOwner: true,
  force: true,
  namespace: true,
  dryRun: true,
  prune: true,
  allowEmpty: true,
  timeoutMs: true,
  onProgress: true,
  clock: clockOption,
  signal: signalOption,
};

const code = 'KCTL_APPLY_MANIFESTS';

/** Thrown when some objects could not be applied. The others were; nothing was pruned. */
export class ApplyManifestsError extends AggregateError {
  override readonly name = 'ApplyManifestsError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_APPLY_MANIFESTS' = code;
  /** Outcome of each object. */
  readonly results: readonly AppliedObject[];

  constructor(results: readonly AppliedObject[]) {
    const failed = results.filter(({ action }) => action === 'failed');
    const list = failed.map(
      ({ kind, key, error }) => `${kind.kind} ${shown(key)}: ${error instanceof Error ? error.message : String(error)}`,
    );
    super(
      failed.map(({ error }) => error),
      `apply: ${failed.length} of ${results.length} objects failed: ${list.join('; ')}`,
    );
    this.results = results;
  }
}

/** Whether an error is an {@link ApplyManifestsError}, also one of another copy of this package. */
export function isApplyManifestsError(error: unknown): error is ApplyManifestsError {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * Applies manifests server-side, in order of dependency: namespaces, definitions (and waits until they are established),
 * what pods need, workloads, custom resources, webhooks. Mirrors `kubectl apply --server-side`, with `--prune --applyset` for
 * `prune`. All manifests are read and checked before anything is sent; an object that fails does not keep the others from
 * being applied. With `prune`, a source without objects is refused; see `allowEmpty`.
 *
 * @returns what became of each object, in the order of application; pruned ones at the end
 * @throws ManifestError, ApplySetError before anything is changed; ApplyManifestsError at the end, with what failed; the
 *   signal's reason
 *
 * @example
 * ```ts
 * import { createHttpClient, createRestMapper, loadConnection } from '@kctl/client-http';
 * import { applyManifests } from '@kctl/manifests';
 *
 * await using client = createHttpClient({ connection: await loadConnection() });
 * const mapper = createRestMapper({ transport: client.transport });
 * const prune = { name: 'shop', namespace: 'shop' };
 * for (const { kind, key, action } of await applyManifests(client, './deploy', { mapper, fieldOwner: 'shop', prune }))
 *   console.log(kind.kind, key.name, action);
 * ```
 */
export async function applyManifests(
  client: ManifestClient,
  sources: ManifestSource | readonly ManifestSource[],
  options: ApplyManifestsOptions,
): Promise<readonly AppliedObject[]> {
  requireClient('applyManifests', client, ['get', 'list', 'patch']);
  requireOptions('applyManifests', options, optionNames);
  const {
    fieldOwner,
    prune,
    allowEmpty = false,
    timeoutMs = 60_000,
    dryRun = false,
    signal = new AbortController().signal,
  } = options;
  const given: { readonly [K in 'mapper' | 'fieldOwner']?: unknown } = options;
  const problem =
    mapperOption('mapper', given.mapper) ??
    (typeof given.fieldOwner === 'string'
      ? undefined
      : `fieldOwner is ${shownType(given.fieldOwner)}: expected the name of what applies`) ??
    (fieldOwner === '' ? 'fieldOwner is empty: the server must know who owns the fields' : undefined) ??
    numberProblem('timeoutMs', timeoutMs, { orInfinity: true });
  if (problem !== undefined) throw new TypeError(`applyManifests: ${problem}`);
  const { manifests: read, empty } = await readSources(sources);
  if (prune !== undefined && !allowEmpty && empty.length > 0)
    throw new ManifestError(
      empty.map(
        (place) => `${place} has no objects and prune would delete what it had: set allowEmpty if that is meant`,
      ),
    );
  const manifests = inOrder(read);
  const set = prune === undefined ? undefined : new ApplySet(client, prune);
  if (set !== undefined) requireNoMembers(manifests);
  const run = new Run(client, { ...options, timeoutMs, dryRun, signal }, set);
  run.declare(manifests);
  const isNamespace = ({ object }: Manifest): boolean => object.kind === 'Namespace';
  const isNamespaceApplied = manifests.some(
    (manifest) => isNamespace(manifest) && manifest.object.metadata.name === prune?.namespace,
  );
  const write = { dryRun, isNamespaceApplied, signal };
  throwIfAborted(signal);
  if (set !== undefined) {
    await set.read(signal);
    // Namespaces come first: one of them may be that of the parent.
    for (const manifest of manifests.filter(isNamespace)) await run.apply(manifest);
    const others = manifests.filter((manifest) => !isNamespace(manifest));
    try {
      await set.widen(await run.members(manifests), write);
    } catch (error) {
      throwIfAborted(signal);
      // Such as that of the parent's namespace, which says more.
      throw run.hasFailed ? new ApplyManifestsError(run.results) : error;
    }
    for (const manifest of others) await run.apply(manifest);
  } else for (const manifest of manifests) await run.apply(manifest);
  if (run.hasFailed) throw new ApplyManifestsError(run.results);
  if (set !== undefined) {
    await run.prune(set);
    if (run.hasFailed) throw new ApplyManifestsError(run.results);
    await set.narrow(await run.members(manifests), write);
  }
  return run.results;
}

/** @throws ManifestError */
function requireNoMembers(manifests: readonly Manifest[]): void {
  const label = 'applyset.kubernetes.io/part-of';
  const problems = manifests
    .filter(({ object }) => object.metadata.labels?.[label] !== undefined)
    .map(
      ({ object, place }) =>
        `${place}: ${object.kind} ${object.metadata.name}: the label ${label} is set: leave it out`,
    );
  if (problems.length > 0) throw new ManifestError(problems);
}

type RunOptions = ApplyManifestsOptions & {
  readonly timeoutMs: number;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
};

/** How often a kind whose definition was just established is looked for, in ms. */
const lookAgainMs = 100;
const lookAgainFor = 50;

/** One call of {@link applyManifests}. */
class Run {
  readonly results: AppliedObject[] = [];
  readonly #client: ManifestClient;
  readonly #options: RunOptions;
  readonly #set: ApplySet | undefined;
  /** Kinds that definitions among the manifests declare, by group, version and kind. */
  readonly #declared = new Map<string, Kind<UntypedObject>>();
  readonly #namespaces = new Set<string>();
  readonly #applied = new Set<string>();

  constructor(client: ManifestClient, options: RunOptions, set: ApplySet | undefined) {
    this.#client = client;
    this.#options = options;
    this.#set = set;
  }

  get hasFailed(): boolean {
    return this.results.some(({ action }) => action === 'failed');
  }

  /** Notes what manifests make: kinds and namespaces. */
  declare(manifests: readonly Manifest[]): void {
    for (const { object } of manifests) {
      if (object.kind === 'Namespace') this.#namespaces.add(object.metadata.name);
      if (object.kind !== 'CustomResourceDefinition') continue;
      for (const kind of kindsOf(object)) this.#declared.set(`${kind.apiVersion} ${kind.kind}`, kind);
    }
  }

  /** The members that manifests are. Kinds that are not served are left out. */
  async members(manifests: readonly Manifest[]): Promise<readonly Member[]> {
    const members = await Promise.all(
      manifests.map(async ({ object }): Promise<Member[]> => {
        try {
          const kind = await this.#kindOf(object);
          return [{ kind, namespace: this.#keyOf(kind, object).namespace }];
        } catch (error) {
          if (isNoKindMatch(error)) return [];
          throw error;
        }
      }),
    );
    return members.flat();
  }

  async apply(manifest: Manifest): Promise<void> {
    const { signal, onProgress } = this.#options;
    throwIfAborted(signal);
    const { object } = manifest;
    let kind = unknownKind(object);
    let result: AppliedObject;
    try {
      kind = await this.#kindOf(object);
      result = await this.#applyOne(kind, object);
    } catch (error) {
      throwIfAborted(signal);
      const isUnknown = this.#options.dryRun && this.#isMissing(error, object);
      const key = this.#keyOf(kind, object);
      result = { kind, key, differences: [], action: isUnknown ? 'unknown' : 'failed', error };
    }
    this.results.push(result);
    onProgress?.({ type: 'applied', result });
  }

  async prune(set: ApplySet): Promise<void> {
    const { mapper, signal, dryRun, onProgress } = this.#options;
    const found = await set.leftOut(this.#applied, { mapper, signal });
    // Objects that others may need go last.
    for (const { kind, object } of found.toSorted((a, b) => rankOf(b.kind.kind) - rankOf(a.kind.kind))) {
      const { namespace, name = '', uid } = object.metadata;
      const key = namespace === undefined ? { name } : { namespace, name };
      let result: AppliedObject = { kind, key, action: 'pruned', differences: [], object };
      try {
        await this.#client.delete(kind, key, {
          propagationPolicy: 'Background',
          dryRun,
          signal,
          ...(uid === undefined ? {} : { preconditions: { uid } }),
        });
      } catch (error) {
        throwIfAborted(signal);
        if (!isNotFound(error)) result = { kind, key, action: 'failed', differences: [], object, error };
      }
      this.results.push(result);
      onProgress?.({ type: 'applied', result });
    }
  }

  async #applyOne(kind: Kind<UntypedObject>, object: Manifest['object']): Promise<AppliedObject> {
    const { fieldOwner, force = false, dryRun, signal } = this.#options;
    const key = this.#keyOf(kind, object);
    const before = await this.#read(kind, key);
    const labels = this.#set === undefined ? object.metadata.labels : { ...object.metadata.labels, ...this.#set.label };
    const metadata = { ...object.metadata, ...key, ...(labels === undefined ? {} : { labels }) };
    const write = { fieldOwner, force, dryRun, signal };
    const after = await this.#retry(() => apply(this.#client, kind, { ...object, metadata }, write));
    this.#applied.add(after.metadata.uid);
    if (kind.kind === 'CustomResourceDefinition' && !dryRun) await this.#established(key.name);
    if (before === undefined) return { kind, key, action: 'created', differences: [], object: after };
    const differences = createJsonPatch(comparable(before), comparable(after));
    return { kind, key, action: differences.length === 0 ? 'unchanged' : 'configured', differences, object: after };
  }

  async #read(kind: Kind<UntypedObject>, key: ObjectKey): Promise<object | undefined> {
    try {
      return await this.#client.get(kind, key, { live: true, signal: this.#options.signal });
    } catch (error) {
      if (isNotFound(error) || (isNoKindMatch(error) && this.#isDeclared(kind))) return undefined;
      throw error;
    }
  }

  /** A definition is established a moment before the paths of its objects are there. */
  async #retry<T>(work: () => Promise<T>): Promise<T> {
    const { clock = systemClock, signal, dryRun } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await work();
      } catch (error) {
        if (!isNoKindMatch(error) || dryRun || attempt >= lookAgainFor) throw error;
        await sleep(lookAgainMs, { clock, signal });
      }
    }
  }

  async #established(name: string): Promise<void> {
    const { clock = systemClock, signal, timeoutMs, onProgress } = this.#options;
    onProgress?.({ type: 'waiting', name });
    await withDeadline(
      async (within) => {
        await waitFor(
          this.#client,
          CustomResourceDefinition,
          { name },
          { until: hasCondition('Established'), clock, signal: within },
        );
      },
      {
        timeoutMs,
        clock,
        signal,
        message: `CustomResourceDefinition ${name} was not established within ${timeoutMs} ms`,
      },
    );
  }

  #keyOf(kind: Kind, { metadata }: Manifest['object']): ObjectKey {
    const { name, namespace = this.#options.namespace ?? 'default' } = metadata;
    return kind.scope === 'Cluster' ? { name } : { namespace, name };
  }

  async #kindOf({ apiVersion, kind }: Manifest['object']): Promise<Kind<UntypedObject>> {
    const declared = this.#declared.get(`${apiVersion} ${kind}`);
    if (declared !== undefined) return declared;
    return (await this.#options.mapper.kindFor({ ...parseApiVersion(apiVersion), kind })) as Kind<UntypedObject>;
  }

  #isDeclared({ apiVersion, kind }: Kind): boolean {
    return this.#declared.has(`${apiVersion} ${kind}`);
  }

  /** Whether a dry run fails for want of something that the manifests make. */
  #isMissing(error: unknown, object: Manifest['object']): boolean {
    if (isNoKindMatch(error)) return this.#declared.has(`${object.apiVersion} ${object.kind}`);
    const { namespace = this.#options.namespace ?? 'default' } = object.metadata;
    return isNotFound(error) && error.status.details?.kind === 'namespaces' && this.#namespaces.has(namespace);
  }
}

/** The kinds that a definition declares. */
function kindsOf(definition: UntypedObject): readonly Kind<UntypedObject>[] {
  const { spec } = definition;
  if (!isJsonObject(spec)) return [];
  const { group, names, scope, versions } = spec;
  if (typeof group !== 'string' || !isJsonObject(names) || !Array.isArray(versions)) return [];
  const { kind, plural } = names;
  if (typeof kind !== 'string' || typeof plural !== 'string') return [];
  return versions.flatMap((each: unknown): Kind<UntypedObject>[] => {
    const version = isJsonObject(each) ? each['name'] : undefined;
    if (typeof version !== 'string') return [];
    return [defineKind({ group, version, kind, plural, scope: scope === 'Cluster' ? 'Cluster' : 'Namespaced' })];
  });
}

/** For the result of an object whose kind is not served. */
function unknownKind({ apiVersion, kind }: Manifest['object']): Kind<UntypedObject> {
  return defineKind({ ...parseApiVersion(apiVersion), kind, scope: 'Namespaced' });
}

/** An object without what changes with each write, so that what is left differs by intent. */
function comparable(object: object): object {
  if (!isJsonObject(object) || !isJsonObject(object['metadata'])) return object;
  const { status: _status, metadata, ...rest } = object;
  const { managedFields: _fields, resourceVersion: _version, generation: _generation, ...kept } = metadata;
  return { ...rest, metadata: kept };
}

function shown({ namespace, name }: ObjectKey): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
