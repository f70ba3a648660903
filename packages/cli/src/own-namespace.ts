import {
  isDeleting,
  isForbidden,
  isMethodNotSupported,
  isNoKindMatch,
  isNotFound,
  type DeepReadonly,
  type KubeObject,
  type UntypedObject,
} from '@kctl/apimachinery';
import { headerValues } from '@kctl/apimachinery/internal/wire';
import { Namespace } from '@kctl/apimachinery/kinds/core/v1';
import type { ManifestObject } from './deploy/apply-objects.js';
import type { OpenCluster } from './cluster.js';
import type { CliIo } from './io.js';
import { boundedName } from './manifests/names.js';
import { unlessMissing } from './unless-missing.js';

/** On a namespace that `kctl deploy` has created; the name of the operator. A namespace that was there before has none. */
const createdForAnnotation = 'kctl.dev/created-for';

/** The namespace of an operator as `kctl deploy` applies it. */
export interface OwnNamespace {
  readonly name: string;
  /** Name of the operator. */
  readonly operator: string;
  /** Objects that are deleted with it. */
  readonly deleted: readonly ManifestObject[];
}

/**
 * The Namespace manifest to apply, with the mark of its creator if the namespace is created now, or was by an earlier
 * call. Undefined for a namespace of others, which keeps its labels.
 */
export async function namespaceToApply(
  { signal }: Pick<CliIo, 'signal'>,
  { client }: Pick<OpenCluster, 'client'>,
  manifest: ManifestObject,
  operator: string,
): Promise<ManifestObject | undefined> {
  const found = await unlessMissing(client.get(Namespace, { name: manifest.metadata.name }, { signal }));
  if (found !== undefined && !isCreatedFor(found, operator)) return undefined;
  const metadata = { ...manifest.metadata, annotations: { [createdForAnnotation]: operator } };
  return { ...manifest, metadata };
}

/**
 * Why a namespace stays, or undefined if it may be deleted: `kctl deploy` has created it, and nothing is left in it that
 * others have made. The annotation alone proves nothing, because anyone who may patch the namespace can set it.
 */
export async function reasonToKeep(
  { signal }: Pick<CliIo, 'signal'>,
  cluster: Pick<OpenCluster, 'client' | 'mapper'>,
  { name, operator, deleted }: OwnNamespace,
): Promise<string | undefined> {
  const found = await unlessMissing(cluster.client.get(Namespace, { name }, { signal }));
  if (found === undefined) return undefined;
  if (!isCreatedFor(found, operator)) return 'kctl deploy did not create it';
  try {
    const others = await othersIn(cluster, { name, operator, deleted }, signal);
    if (others.length === 0) return undefined;
    const shown = others.slice(0, 5).join(', ');
    return `it contains ${others.length === 1 ? 'an object' : `${others.length} objects`} of others: ${shown}${others.length > 5 ? ', …' : ''}`;
  } catch (error) {
    if (isForbidden(error)) return 'what it contains may not be listed';
    throw error;
  }
}

function isCreatedFor({ metadata }: DeepReadonly<KubeObject>, operator: string): boolean {
  return metadata.annotations?.[createdForAnnotation] === operator;
}

/** Kinds that the server and its controllers write beside what a person makes. */
const byServer = new Set(['Event', 'Lease', 'Endpoints', 'EndpointSlice', 'PodMetrics']);

/** The objects of a namespace that neither the server nor the operator's own deployment has made, as `kind/name`. */
async function othersIn(
  { client, mapper }: Pick<OpenCluster, 'client' | 'mapper'>,
  { name: namespace, operator, deleted }: OwnNamespace,
  signal: AbortSignal,
): Promise<readonly string[]> {
  // Definitions of the operator may have gone since it was read.
  mapper.invalidate();
  const all: { readonly kind: string; readonly item: DeepReadonly<UntypedObject> }[] = [];
  const seen = new Set<string>();
  for (const { group, kind, plural, scope, verbs } of await mapper.resources({ signal })) {
    const id = `${plural}.${group}`;
    if (scope !== 'Namespaced' || !verbs.includes('list') || seen.has(id) || byServer.has(kind)) continue;
    seen.add(id);
    let items: readonly DeepReadonly<UntypedObject>[];
    try {
      ({ items } = await client.list(await mapper.kindFor({ group, kind }, { signal }), { namespace, signal }));
    } catch (error) {
      // A definition that goes while the namespace is read, or a kind that cannot be listed by namespace.
      if (isNotFound(error) || isMethodNotSupported(error) || isNoKindMatch(error)) continue;
      throw error;
    }
    all.push(...items.map((item) => ({ kind, item })));
  }
  const uids = new Set(all.map(({ item }) => item.metadata.uid));
  const names = new Set(deleted.map(({ kind, metadata }) => `${kind}/${metadata.name}`));
  const deployments = deleted.flatMap(({ kind, metadata }) => (kind === 'Deployment' ? [metadata.name] : []));
  return all.flatMap(({ kind, item }) => {
    const name = item.metadata.name ?? '';
    // An owner in the namespace counts itself. One elsewhere does not make the object the operator's.
    const isOwned = headerValues
      .owners(item.metadata.ownerReferences)
      .some(
        (owner) =>
          uids.has(owner.uid) ||
          names.has(`${owner.kind}/${owner.name}`) ||
          (owner.kind === 'ReplicaSet' && deployments.some((each) => owner.name.startsWith(`${each}-`))),
      );
    const isGoing = names.has(`${kind}/${name}`) || isDeleting(item);
    return isOwned || isGoing || isOfServer(item, { kind, operator }) ? [] : [`${kind.toLowerCase()}/${name}`];
  });
}

function isOfServer(
  { metadata, ...rest }: DeepReadonly<UntypedObject>,
  { kind, operator }: { readonly kind: string; readonly operator: string },
): boolean {
  const name = metadata.name ?? '';
  if (kind === 'ServiceAccount') return name === 'default';
  if (kind === 'ConfigMap') return name === 'kube-root-ca.crt' || name === 'openshift-service-ca.crt';
  if (kind === 'Secret')
    return (
      name === boundedName(operator, '-webhook-certificate') || rest['type'] === 'kubernetes.io/service-account-token'
    );
  return false;
}
