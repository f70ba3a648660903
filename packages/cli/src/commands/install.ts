import type { OperatorGraph } from '@kctl/operator';
import {
  applyObjects,
  changeOf,
  type ChangeOptions,
  deleteObjects,
  describeManifest,
  isManifest,
  type ObjectChange,
  waitEstablished,
  type ManifestObject,
} from '../deploy/apply-objects.js';
import { openClient, type ClusterOptions, type OpenCluster } from '../cluster.js';
import { certificateSecretOf, stagesOf, stagesOfDefinitions } from '../deploy/deploy-stages.js';
import { openDevRecord } from '../dev/dev-record.js';
import { placesOf, restoreOriginals } from '../dev/originals.js';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { kindOfDefinition } from '../kind-of-definition.js';
import { definitionsOf } from '../manifests/definitions.js';
import { deploymentObjects } from '../manifests/generate-files.js';
import { ownCommand } from '../own-command.js';
import { loadOperator, readProject } from '../project.js';
import { namespaceToApply, reasonToKeep } from '../own-namespace.js';
import { objectsOfOthers, refuseObjectsOfOthers } from '../deploy/objects-of-others.js';
import { preflight } from '../deploy/preflight.js';
import { findStaleWebhooks } from '../stale-webhooks.js';
import { warnOfStoredObjects } from '../deploy/stored-objects.js';
import { waitAvailable } from '../deploy/wait-available.js';
import { isNoKindMatch, isNotFound } from '@kctl/apimachinery';

/** Options of the commands that change a cluster. */
export interface InstallOptions extends ClusterOptions, ChangeOptions {
  readonly main?: string;
  readonly image?: string;
  /** Deletes objects and CRDs although objects of the kinds exist. */
  readonly deleteObjects?: boolean;
}

/** Changes of a command, each object in the order in which it was changed. */
export interface ChangeOutcome {
  readonly dryRun: boolean;
  readonly changes: readonly ObjectChange[];
}

/** Applies the CRDs of the operator, and waits until they are established. */
export async function install(io: CliIo, options: InstallOptions): Promise<ChangeOutcome> {
  const { graph } = await load(io, options);
  await using cluster = await openClient(io, options);
  const crds = crdsOf(graph);
  await warnOfStoredObjects(io, cluster, crds);
  await restore(io, cluster, { graph, wanted: crds, ...options });
  if (crds.length === 0) io.err('the operator brings no kinds: nothing to install\n');
  const { first, last } = await stagesOfDefinitions(io, cluster, crds);
  const changes = await applyObjects(io, cluster, first, options);
  for (const each of last)
    io.err(
      `kept the storage version of ${describeManifest(each)}, since objects of the new one need the operator's conversions: run ${ownCommand('deploy')}\n`,
    );
  if (options.dryRun !== true) await waitEstablished(io, cluster, crds, options);
  return outcomeOf(options, changes);
}

/** Deletes the CRDs. Deletes their objects only if requested, and before the CRDs, so that finalizers run. */
export async function uninstall(io: CliIo, options: InstallOptions): Promise<ChangeOutcome> {
  const { graph } = await load(io, options);
  await using cluster = await openClient(io, options);
  const removed = await removeObjects(io, cluster, graph, options);
  return outcomeOf(options, removed, await deleteObjects(io, cluster, crdsOf(graph).toReversed(), options));
}

/**
 * Applies everything, deletes webhook configurations that the code no longer has, and waits until the Deployment is
 * available. Everything that is known before is checked before the first write. What makes the API server call the
 * operator, or need its conversions, comes after that, so that a deployment that ends early breaks no request.
 */
export async function deploy(io: CliIo, options: InstallOptions): Promise<ChangeOutcome> {
  const { graph, image } = await load(io, options);
  await using cluster = await openClient(io, options);
  const isDryRun = options.dryRun === true;
  const all = deploymentObjects({ graph, image }).filter((object) => isManifest(object));
  const crds = crdsOf(graph);
  await refuseObjectsOfOthers(io, cluster, { objects: all, operator: graph.name });
  if (!isDryRun) await preflight(io, cluster, [...crds, ...all]);
  await warnOfStoredObjects(io, cluster, crds);
  await restore(io, cluster, { graph, wanted: [...all, ...crds], ...options });
  const { namespaces, basis, workload, calls } = stagesOf(all);
  const kept = await applyNamespaces(io, cluster, { graph, namespaces, ...options });
  const changes = [...kept, ...(await applyObjects(io, cluster, basis, options))];
  const { first, last } = await stagesOfDefinitions(io, cluster, crds);
  changes.push(...(await applyObjects(io, cluster, first, options)));
  if (!isDryRun) await waitEstablished(io, cluster, crds, options);
  cluster.mapper.invalidate();
  // Before the replicas that answered them go.
  const stale = await findStaleWebhooks(io, cluster, { graph, wanted: all });
  changes.push(...(await deleteObjects(io, cluster, stale, options)));
  changes.push(...(await applyObjects(io, cluster, workload, options)));
  const secret = certificateSecretOf(all);
  if (!isDryRun) await waitAvailable(io, cluster, graph, { timeoutMs: options.timeoutMs, secret });
  changes.push(...(await applyObjects(io, cluster, [...last, ...calls], options)));
  return outcomeOf(options, changes);
}

/** Deletes the objects of the operator's kinds, then the operator, then its CRDs, so that finalizers run. */
export async function undeploy(io: CliIo, options: InstallOptions): Promise<ChangeOutcome> {
  const { graph, image } = await load(io, options);
  await using cluster = await openClient(io, options);
  const removed = await removeObjects(io, cluster, graph, options);
  const all = deploymentObjects({ graph, image }).filter((object) => isManifest(object));
  const stale = await findStaleWebhooks(io, cluster, { graph, wanted: all });
  const isNamespace = ({ kind }: ManifestObject): boolean => kind === 'Namespace';
  const others = await objectsOfOthers(io, cluster, { objects: all, operator: graph.name });
  const kept = others.map((each) => keep(io, each, 'it is not of the operator, or may not be read'));
  const own = all.filter((each) => !isNamespace(each) && !others.includes(each));
  const rest = [...stale, ...own.toReversed(), ...crdsOf(graph).toReversed()];
  const deleted = await deleteObjects(io, cluster, rest, options);
  const namespaces = await deleteNamespaces(io, cluster, {
    graph,
    namespaces: all.filter(isNamespace),
    others: rest,
    ...options,
  });
  return outcomeOf(options, removed, kept, deleted, namespaces);
}

interface NamespacesOf extends ChangeOptions {
  readonly graph: OperatorGraph;
  readonly namespaces: readonly ManifestObject[];
}

/** Applies namespaces that kctl has created or creates now. Those that were there before keep their labels. */
async function applyNamespaces(
  io: CliIo,
  cluster: OpenCluster,
  { graph, namespaces, ...options }: NamespacesOf,
): Promise<readonly ObjectChange[]> {
  const changes: ObjectChange[] = [];
  for (const manifest of namespaces) {
    const own = await namespaceToApply(io, cluster, manifest, graph.name);
    changes.push(
      ...(own === undefined
        ? [keep(io, manifest, 'it was there before, and its labels stay')]
        : await applyObjects(io, cluster, [own], options)),
    );
  }
  return changes;
}

/** Deletes namespaces that kctl has created and that contain nothing of others. */
async function deleteNamespaces(
  io: CliIo,
  cluster: OpenCluster,
  { graph, namespaces, others, ...options }: NamespacesOf & { readonly others: readonly ManifestObject[] },
): Promise<readonly ObjectChange[]> {
  const changes: ObjectChange[] = [];
  for (const manifest of namespaces) {
    const { name } = manifest.metadata;
    const reason = await reasonToKeep(io, cluster, { name, operator: graph.name, deleted: others });
    changes.push(
      ...(reason === undefined ? await deleteObjects(io, cluster, [manifest], options) : [keep(io, manifest, reason)]),
    );
  }
  return changes;
}

function keep(io: CliIo, manifest: ManifestObject, reason: string): ObjectChange {
  io.err(`kept ${describeManifest(manifest)}: ${reason}\n`);
  return changeOf('kept', manifest);
}

function outcomeOf({ dryRun = false }: ChangeOptions, ...parts: readonly (readonly ObjectChange[])[]): ChangeOutcome {
  return { dryRun, changes: parts.flat() };
}

/** Remains of a killed kctl dev would conflict with the applied objects, because a webhook has one address. */
async function restore(
  io: CliIo,
  cluster: OpenCluster,
  { graph, wanted, dryRun }: ChangeOptions & { readonly graph: OperatorGraph; readonly wanted: readonly object[] },
): Promise<void> {
  if (dryRun === true) return;
  const record = openDevRecord(io.environment);
  await restoreOriginals(io, cluster, { places: placesOf(graph), record, wanted, signal: io.signal });
}

async function load(io: CliIo, options: InstallOptions): Promise<{ graph: OperatorGraph; image: string }> {
  const project = readProject(io.cwd, options);
  const operator = await loadOperator(project);
  return { graph: await operator.graph(), image: options.image ?? project.image };
}

function crdsOf(graph: OperatorGraph): ManifestObject[] {
  const definitions: readonly unknown[] = definitionsOf(graph);
  return definitions.filter((manifest) => isManifest(manifest));
}

async function removeObjects(
  io: CliIo,
  cluster: OpenCluster,
  graph: OperatorGraph,
  options: InstallOptions,
): Promise<readonly ObjectChange[]> {
  const changes: ObjectChange[] = [];
  for (const resource of graph.resources) {
    const kind = kindOfDefinition(resource.manifest);
    const found = await cluster.client.list(kind, { signal: io.signal }).catch((error: unknown) => {
      if (isNotFound(error) || isNoKindMatch(error)) return undefined;
      throw error;
    });
    const items = found?.items ?? [];
    if (items.length === 0) continue;
    if (options.deleteObjects !== true && options.dryRun !== true)
      throw new CliError(
        `${items.length === 1 ? '1 object' : `${items.length} objects`} of ${kind.plural}.${kind.group} would be deleted with ${items.length === 1 ? 'its kind: delete it' : 'their kind: delete them'} first, or add --delete-objects`,
      );
    const objects = items.map(({ metadata }) => ({
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      metadata: {
        name: metadata.name ?? '',
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      },
    }));
    changes.push(...(await deleteObjects(io, cluster, objects, options)));
  }
  return changes;
}
