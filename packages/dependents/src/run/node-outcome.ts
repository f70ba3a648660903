import type { AnyObject, Edge, Node } from '../definition/node.js';
import type { NodeResult } from '../results.js';

/** Outcome of a node that has settled. */
export interface NodeOutcome {
  readonly node: Node;
  /** By id; of a child or a ref, with the id ''. */
  readonly results: ReadonlyMap<string, NodeResult>;
  /** Not wanted, or its kind is missing: an edge to it is met, with undefined. */
  readonly isAbsent: boolean;
}

/** Why an edge is not met; undefined if it is. */
export function unmetEdge({ ready }: Edge, { node, results, isAbsent }: NodeOutcome): string | undefined {
  if (isAbsent) return undefined;
  for (const [id, { state, object }] of results) {
    const name = id === '' ? node.name : `${node.name}/${id}`;
    if (state === 'failed') return name;
    if (object === undefined && !(node.type === 'ref' && node.optional)) return name;
    if (ready && state !== 'ready') return name;
  }
  return undefined;
}

/** The argument of `desired` for an edge: an object, objects by id, or undefined. */
export function neededValue({ node, results, isAbsent }: NodeOutcome): unknown {
  if (isAbsent) return node.type === 'set' ? new Map() : undefined;
  if (node.type !== 'set') return results.get('')?.object;
  const objects = new Map<string, AnyObject>();
  for (const [id, { object }] of results) if (object !== undefined) objects.set(id, object);
  return objects;
}

/** Whether `desired` can be called: each needed object is there, or may be missing by type. */
export function isValuePresent({ node, results, isAbsent }: NodeOutcome): boolean {
  if (isAbsent || node.type === 'set' || (node.type === 'ref' && node.optional)) return true;
  return results.get('')?.object !== undefined;
}
