import type { Kind, ObjectKey } from '@kctl/apimachinery';
import { formatKey } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { AnyObject, ChildNode, Node } from '../definition/node.js';
import { idLabel, idValue, nodeLabel } from '../ownership/labels.js';
import type { NodeOutcome } from './node-outcome.js';

/** An object that a node wants. */
export interface Wanted {
  readonly node: ChildNode;
  readonly id: string;
  readonly key: ObjectKey;
}

/** What is known of the wishes of all nodes. */
export interface Wishes {
  readonly nodes: ReadonlyMap<string, NodeOutcome>;
  readonly wanted: readonly Wanted[];
  /** Nodes of which it is not known what they want. */
  readonly unknown: ReadonlySet<string>;
}

/** Why an object is not wanted; undefined if it is, or if that is not known. */
export function unwanted({ wanted, unknown, nodes }: Wishes, kind: Kind, object: AnyObject): string | undefined {
  const name = object.metadata.labels?.[nodeLabel] ?? '';
  if (unknown.has(name)) return undefined;
  const isOfKind = (each: Node): boolean => formatGroupKind(each.kind) === formatGroupKind(kind);
  // A node may have been renamed, and its object may have kept its name.
  if (wanted.some((each) => isOfKind(each.node) && formatKey(each.key) === keyText(object))) return undefined;
  const node = nodes.get(name)?.node;
  if (node === undefined) {
    const mayBeWanted = [...nodes.values()].some((each) => unknown.has(each.node.name) && isOfKind(each.node));
    return mayBeWanted ? undefined : 'no node of this name is declared';
  }
  const sameNode = wanted.filter((each) => each.node === node);
  const id = object.metadata.labels?.[idLabel] ?? '';
  const successor = sameNode.find((each) => each.node.type === 'child' || idValue(each.id) === id);
  if (successor === undefined) return sameNode.length === 0 ? 'it is not wanted' : `${id} is not in the set`;
  return isReplaced(nodes, successor) ? `${formatKey(successor.key)} replaces it` : undefined;
}

function keyText(object: AnyObject): string {
  const { namespace, name = '' } = object.metadata;
  return (namespace ?? '') === '' ? name : `${namespace}/${name}`;
}

/** The object of the new name exists, and is ready if another node needs it ready. */
function isReplaced(nodes: ReadonlyMap<string, NodeOutcome>, { node, id }: Wanted): boolean {
  const result = nodes.get(node.name)?.results.get(id);
  if (result?.object === undefined) return false;
  const needsReady = [...nodes.values()].some(
    (each) => each.node.type !== 'ref' && each.node.edges.some((edge) => edge.ready && edge.name === node.name),
  );
  return !needsReady || result.state === 'ready';
}
