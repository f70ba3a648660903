import type { DeepReadonly, Kind, KubeObject, ObjectKey } from '@kctl/apimachinery';
import type { RecreatePolicy, ReadyReport } from './options.js';

/** Any object that was read. */
export type AnyObject = DeepReadonly<KubeObject>;

/** An edge to a node that was declared before. */
export interface Edge {
  readonly name: string;
  readonly ready: boolean;
}

/** An object of somebody else that is read. */
export interface RefNode {
  readonly type: 'ref';
  readonly name: string;
  readonly kind: Kind;
  readonly optional: boolean;
  readonly key: (primary: AnyObject) => ObjectKey | undefined;
}

/** One child, or a set of children by id. Without types, because a run treats all kinds alike. */
export interface ChildNode {
  readonly type: 'child' | 'set';
  readonly name: string;
  readonly kind: Kind;
  readonly edges: readonly Edge[];
  /** Children are deleted from the highest wave to the lowest. */
  readonly wave: number;
  readonly when: ((primary: AnyObject) => boolean) | undefined;
  /** The items by id; a child has one, with the id ''. */
  readonly items: (primary: AnyObject) => ReadonlyMap<string, unknown>;
  readonly objectName: ((primary: AnyObject, item: unknown, id: string) => string) | undefined;
  readonly namespace: ((primary: AnyObject) => string) | undefined;
  readonly desired: (primary: AnyObject, item: unknown, needed: object) => unknown;
  readonly initial: ((primary: AnyObject, item: unknown) => unknown) | undefined;
  readonly gate: 'create' | 'always';
  readonly ready: ((object: AnyObject) => boolean | string | ReadyReport) | undefined;
  readonly adopt: 'never' | 'unowned' | ((found: AnyObject) => boolean);
  readonly conflicts: 'force' | 'report';
  readonly onImmutable: 'fail' | { readonly recreate: RecreatePolicy };
  readonly onDelete: 'delete' | 'orphan';
  readonly optionalKind: boolean;
}

export type Node = RefNode | ChildNode;

/** The nodes of a definition in the order of their declaration, in which every edge points back. */
export interface Definition {
  readonly primary: Kind;
  readonly fieldOwner: string;
  readonly formerFieldOwners: readonly string[];
  readonly concurrency: number;
  readonly nodes: readonly Node[];
}

export function childNodes({ nodes }: Definition): ChildNode[] {
  return nodes.filter((node): node is ChildNode => node.type !== 'ref');
}

/**
 * Whether deletion needs more than the garbage collector: an order between children, children that stay, or children that
 * cannot have the primary as their owner.
 */
export function needsFinalizer(definition: Definition): boolean {
  const children = childNodes(definition);
  return children.some(
    (node) =>
      node.wave > 0 || node.onDelete === 'orphan' || node.namespace !== undefined || isForeignScope(definition, node),
  );
}

/** Whether the kind is cluster-scoped below a namespaced primary, which cannot own such an object. */
export function isForeignScope({ primary }: Definition, { kind }: ChildNode): boolean {
  return primary.scope === 'Namespaced' && kind.scope === 'Cluster';
}

/** Whether values of the kind are not shown. */
export function isSecret({ group, kind }: Kind): boolean {
  return group === '' && kind === 'Secret';
}
