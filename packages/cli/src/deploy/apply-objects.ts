import { isNoKindMatch, isNotFound, type Kind, type UntypedObject } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { messageOf } from '@kctl/telemetry/internal';
import type { OpenCluster } from '../cluster.js';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { waitFor } from './wait-for.js';

/** The field owner of everything that kctl applies. */
export const fieldOwner = 'kctl';

/** Options of what changes a cluster. */
export interface ChangeOptions {
  /** Sends the requests as a dry run, and changes nothing. @default false */
  readonly dryRun?: boolean;
  /** How long each object may take to become what is waited for, in ms. @default 120000 */
  readonly timeoutMs?: number;
}

/** An object that is to be applied. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** Result for an object. */
export interface ObjectChange {
  /**
   * `skipped` if a dry run cannot evaluate it, since its namespace does not exist. `kept` if kctl must not change or
   * delete it.
   */
  readonly action: 'applied' | 'deleted' | 'skipped' | 'kept';
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** A change of an object, as it is reported. */
export function changeOf(action: ObjectChange['action'], { apiVersion, kind, metadata }: ManifestObject): ObjectChange {
  const { name, namespace } = metadata;
  return { action, apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** Whether a value is an object with type and name. */
export function isManifest(value: unknown): value is ManifestObject {
  if (typeof value !== 'object' || value === null) return false;
  const metadata: unknown = Reflect.get(value, 'metadata');
  return (
    typeof Reflect.get(value, 'apiVersion') === 'string' &&
    typeof Reflect.get(value, 'kind') === 'string' &&
    typeof metadata === 'object' &&
    metadata !== null &&
    'name' in metadata
  );
}

/** `deployment/websites in websites-system`, as people name objects. */
export function describeManifest({ kind, metadata }: ManifestObject): string {
  const where = metadata.namespace === undefined ? '' : ` in ${metadata.namespace}`;
  return `${kind.toLowerCase()}/${metadata.name}${where}`;
}

/** Applies objects in order, server-side, with a line for each. @throws CliError naming the object that is refused */
export async function applyObjects(
  io: CliIo,
  cluster: OpenCluster,
  objects: readonly ManifestObject[],
  { dryRun = false }: ChangeOptions = {},
): Promise<readonly ObjectChange[]> {
  const changes: ObjectChange[] = [];
  for (const object of objects) {
    try {
      await applyOne(io, cluster, object, dryRun);
      io.err(`applied ${describeManifest(object)}${dryRun ? ' (dry run)' : ''}\n`);
      changes.push(changeOf('applied', object));
    } catch (error) {
      if (!dryRun || !isInMissingNamespace(object, error)) throw error;
      io.err(`skipped ${describeManifest(object)}: its namespace is not there, so a dry run cannot judge it\n`);
      changes.push(changeOf('skipped', object));
    }
  }
  return changes;
}

/** Applies an object, or tries to. @throws CliError naming the object, whose cause is the server's error */
export async function applyOne(
  io: Pick<CliIo, 'signal'>,
  cluster: Pick<OpenCluster, 'client' | 'mapper'>,
  object: ManifestObject,
  dryRun: boolean,
): Promise<void> {
  const { name, namespace } = object.metadata;
  try {
    const kind = await kindOf(cluster, object, io.signal);
    const key = namespace === undefined ? { name } : { name, namespace };
    const body = JSON.parse(JSON.stringify(object)) as Record<string, unknown>;
    const options = { fieldOwner, force: true, signal: io.signal, ...(dryRun ? { dryRun } : {}) };
    await cluster.client.patch(kind, key, { type: 'apply', body }, options);
  } catch (error) {
    const remedy = isNoKindMatch(error) ? remedyOf(object) : '';
    throw new CliError(`${describeManifest(object)} cannot be applied: ${messageOf(error)}${remedy}`, {
      cause: error,
    });
  }
}

/** Whether {@link applyOne} failed because the namespace does not exist, which a dry run does not create. */
export function isInMissingNamespace({ metadata }: ManifestObject, error: unknown): boolean {
  return metadata.namespace !== undefined && error instanceof CliError && isNotFound(error.cause);
}

/** Deletes objects in order; what is gone already is fine. Waits for each, and names what is stuck. */
export async function deleteObjects(
  io: CliIo,
  cluster: OpenCluster,
  objects: readonly ManifestObject[],
  { dryRun = false, timeoutMs }: ChangeOptions = {},
): Promise<readonly ObjectChange[]> {
  const changes: ObjectChange[] = [];
  for (const object of objects) {
    const { name, namespace } = object.metadata;
    const key = namespace === undefined ? { name } : { name, namespace };
    let kind: Kind<UntypedObject>;
    try {
      kind = await kindOf(cluster, object, io.signal);
      await cluster.client.delete(kind, key, { signal: io.signal, ...(dryRun ? { dryRun } : {}) });
    } catch (error) {
      if (isNotFound(error) || isNoKindMatch(error)) continue;
      throw new CliError(`${describeManifest(object)} cannot be deleted: ${messageOf(error)}`, { cause: error });
    }
    if (!dryRun) await waitGone(io, cluster, { kind, key, what: describeManifest(object), timeoutMs });
    io.err(`deleted ${describeManifest(object)}${dryRun ? ' (dry run)' : ''}\n`);
    changes.push(changeOf('deleted', object));
  }
  return changes;
}

interface Gone {
  readonly kind: Kind<UntypedObject>;
  readonly key: { readonly name: string; readonly namespace?: string };
  readonly what: string;
  readonly timeoutMs: number | undefined;
}

async function waitGone(io: CliIo, { client }: OpenCluster, { kind, key, what, timeoutMs }: Gone): Promise<void> {
  let left: readonly string[] = [];
  await waitFor({
    io,
    timeoutMs,
    isDone: async () => {
      try {
        const { metadata } = await client.get(kind, key, { signal: io.signal });
        left = metadata.finalizers ?? [];
        return false;
      } catch (error) {
        if (isNotFound(error)) return true;
        throw error;
      }
    },
    progress: () => `waiting for ${what} to be deleted: its finalizers are ${left.join(', ') || 'none'}`,
    late: (seconds) =>
      `${what} is not gone after ${seconds} s: finalizers ${left.join(', ') || 'none'} keep it: is the operator that removes them running?`,
  });
}

/** Waits until CustomResourceDefinitions are established. */
export async function waitEstablished(
  io: CliIo,
  { client }: OpenCluster,
  crds: readonly ManifestObject[],
  { timeoutMs }: ChangeOptions = {},
): Promise<void> {
  for (const { name } of crds.map(({ metadata }) => metadata)) {
    let seen = 'it has no conditions';
    await waitFor({
      io,
      timeoutMs,
      isDone: async () => {
        const { status } = await client.get(CustomResourceDefinition, { name }, { signal: io.signal });
        const conditions = status?.conditions ?? [];
        if (conditions.length > 0)
          seen = conditions
            .map(({ type, status: value, message = '' }) => `${type}=${value} ${message}`.trim())
            .join('; ');
        return conditions.some(({ type, status: value }) => type === 'Established' && value === 'True');
      },
      progress: () => `waiting for customresourcedefinition/${name} to be established: ${seen}`,
      late: (seconds) => `customresourcedefinition/${name} is not established after ${seconds} s: ${seen}`,
    });
    io.err(`established customresourcedefinition/${name}\n`);
  }
}

/** The kind of a manifest. @throws NoKindMatchError when the server has no such kind */
export async function kindOf(
  { mapper }: Pick<OpenCluster, 'mapper'>,
  object: ManifestObject,
  signal: AbortSignal,
): Promise<Kind<UntypedObject>> {
  const [group, version] = object.apiVersion.includes('/') ? object.apiVersion.split('/') : ['', object.apiVersion];
  return await mapper.kindFor({ group: group ?? '', version: version ?? '', kind: object.kind }, { signal });
}

/** Returns how to install a missing kind, if known. */
function remedyOf({ apiVersion }: ManifestObject): string {
  const [group] = apiVersion.split('/');
  return group === 'cert-manager.io' ? ': install cert-manager, which makes the certificate of the webhooks' : '';
}
