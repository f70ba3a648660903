import type { Kind, ObjectKey } from '@kctl/apimachinery';
import { formatKey, setControllerReference } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { ApplyConfiguration } from '@kctl/client';
import type { AnyObject, ChildNode, Definition } from '../definition/node.js';
import { isForeignScope, isSecret } from '../definition/node.js';
import { NodeFailure } from '../errors.js';
import { ownLabels, ownPrefix, partOf, waveAnnotation, onDeleteAnnotation } from '../ownership/labels.js';

/** One object of a node in one run. */
export interface Member {
  readonly definition: Definition;
  readonly primary: AnyObject;
  readonly node: ChildNode;
  readonly id: string;
  readonly item: unknown;
  readonly key: ObjectKey;
}

/** `Deployment shop/web`. */
export function targetOf(kind: Kind, key: ObjectKey): string {
  return `${kind.kind} ${formatKey(key)}`;
}

/** Whether the primary can be the owner of the object. */
export function isOwnable({ definition, primary, node, key }: Member): boolean {
  return !isForeignScope(definition, node) && (primary.metadata.namespace ?? key.namespace) === key.namespace;
}

/**
 * The whole configuration of an object: the desired fields with identity, owner and labels.
 *
 * @throws NodeFailure for a desired object that is not one of this node
 */
export function completeConfiguration(member: Member, desired: unknown): ApplyConfiguration<Kind> {
  const { definition, primary, node, id, key } = member;
  const fields = requireFields(member, desired);
  const metadata = isJsonObject(fields['metadata']) ? fields['metadata'] : {};
  const own = {
    labels: ownLabels(partOf(definition.primary, primary), node, id),
    annotations: {
      [waveAnnotation]: String(node.wave),
      ...(node.onDelete === 'orphan' ? { [onDeleteAnnotation]: 'orphan' } : {}),
    },
  };
  const owned: { metadata: { name: string; namespace?: string; ownerReferences?: never[] } } = { metadata: { ...key } };
  if (isOwnable(member)) setControllerReference(primary, definition.primary, owned);
  const configuration = {
    ...fields,
    apiVersion: node.kind.apiVersion,
    kind: node.kind.kind,
    metadata: {
      ...metadata,
      ...owned.metadata,
      labels: { ...(isJsonObject(metadata['labels']) ? metadata['labels'] : {}), ...own.labels },
      annotations: { ...(isJsonObject(metadata['annotations']) ? metadata['annotations'] : {}), ...own.annotations },
    },
  };
  return configuration as unknown as ApplyConfiguration<Kind>;
}

/** A server answers values of another type with the values, and its answer gets into the status of the primary. */
function checkValues(desired: Readonly<Record<string, unknown>>, refuse: (problem: string) => never): void {
  for (const field of ['data', 'stringData']) {
    const values = desired[field] ?? {};
    if (!isJsonObject(values)) return refuse(`has the wrong type: ${field} is not an object`);
    for (const [name, value] of Object.entries(values))
      if (value !== undefined && value !== null && typeof value !== 'string')
        refuse(`has a value of the wrong type: ${field}.${name} is not a string`);
  }
}

/** Checks desired or initial fields. @throws NodeFailure naming the field */
export function requireFields(
  { node, key }: Member,
  desired: unknown,
  what = 'desired',
): Readonly<Record<string, unknown>> {
  const refuse = (problem: string): never => {
    throw new NodeFailure('InvalidDesired', `${what} of ${node.name} ${problem}`);
  };
  if (!isJsonObject(desired)) return refuse('is not an object: expected the fields of the child, or notYet(reason)');
  const { apiVersion, kind, metadata, status } = desired;
  if (apiVersion !== undefined && apiVersion !== node.kind.apiVersion)
    refuse(`has the apiVersion ${JSON.stringify(apiVersion)}: expected ${node.kind.apiVersion}`);
  if (kind !== undefined && kind !== node.kind.kind)
    refuse(`has the kind ${JSON.stringify(kind)}: expected ${node.kind.kind}`);
  if (status !== undefined) refuse('has a status: expected the fields of the object alone');
  if (isSecret(node.kind)) checkValues(desired, refuse);
  if (metadata === undefined) return desired;
  if (!isJsonObject(metadata)) return refuse('has metadata that is not an object');
  for (const field of ['generateName', 'ownerReferences', 'managedFields', 'finalizers', 'uid', 'resourceVersion'])
    if (metadata[field] !== undefined) refuse(`has metadata.${field}: leave it out`);
  if (metadata['name'] !== undefined && metadata['name'] !== key.name)
    refuse(`has the name ${JSON.stringify(metadata['name'])}: expected ${key.name}, or use the option name`);
  if (metadata['namespace'] !== undefined && metadata['namespace'] !== key.namespace)
    refuse(
      `has the namespace ${JSON.stringify(metadata['namespace'])}: expected ${key.namespace ?? 'none'}, or use the option namespace`,
    );
  for (const field of ['labels', 'annotations'])
    for (const name of Object.keys(isJsonObject(metadata[field]) ? metadata[field] : {}))
      if (name.startsWith(ownPrefix)) refuse(`has metadata.${field} ${name}: the prefix ${ownPrefix} is reserved`);
  return desired;
}

/** Fields of both. Items of lists are matched by `name`. @throws NodeFailure for a field that both set */
export function mergeFields(desired: unknown, initial: unknown, path = ''): unknown {
  if (initial === undefined) return desired;
  if (desired === undefined) return initial;
  if (isJsonObject(desired) && isJsonObject(initial)) {
    const names = new Set([...Object.keys(desired), ...Object.keys(initial)]);
    return Object.fromEntries(
      [...names].map((name) => [name, mergeFields(desired[name], initial[name], `${path}.${name}`)]),
    );
  }
  if (isNamed(desired) && isNamed(initial))
    return desired.map((item) => {
      const other = initial.find(({ name }) => name === item.name);
      return other === undefined
        ? item
        : mergeFields(item, { ...other, name: undefined }, `${path}[name=${item.name}]`);
    });
  throw new NodeFailure('InvalidDesired', `${path.slice(1)} is in desired and in initial: leave it out of one`);
}

interface NamedItem {
  readonly name: string;
}

/** Whether all items of a list have a name. */
export function isNamed(list: unknown): list is readonly NamedItem[] {
  if (!Array.isArray(list)) return false;
  const items: readonly unknown[] = list;
  return items.every((item) => isJsonObject(item) && typeof item['name'] === 'string');
}
