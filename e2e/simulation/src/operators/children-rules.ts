import type { UntypedObject } from '@kctl/apimachinery';
import { isConditionTrue, type Condition } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { World } from '@kctl/simulation';

/** How long an object must have been there for an operator to know of it, in ms. */
const knownAfterMs = 60_000;

/** One child, as the server has it. */
interface Child {
  readonly name: string;
  readonly owner: string;
  readonly wave: number;
  readonly since: number;
}

/** The values that the data of a child had. */
interface History {
  value: string | undefined;
  /** By value, when it was there last. */
  readonly until: Map<string, number>;
}

interface Owner {
  readonly name: string;
  isDeleting: boolean;
  /** By generation. */
  readonly specs: Map<number, { readonly size: number; readonly since: number }>;
}

/** The data of each child that a size leads to, by name. */
export type Wanted = (name: string, size: number) => ReadonlyMap<string, Readonly<Record<string, string>>>;

/**
 * What is promised beyond the end state: `wave-order`, that a deletion goes from the highest wave to the lowest, and
 * `ready-too-early`, that Ready is True for a generation only if every child is as that generation wants it, or
 * was so shortly before, because a cache may be behind.
 */
export class ChildrenRules {
  readonly #world: World;
  readonly #wanted: Wanted;
  readonly #children = new Map<string, Child>();
  readonly #owners = new Map<string, Owner>();
  readonly #histories = new Map<string, History>();

  constructor(world: World, wanted: Wanted, isForeign: (metadata: UntypedObject['metadata']) => boolean) {
    this.#world = world;
    this.#wanted = wanted;
    world.server.onCommit(({ resource, change, object }) => {
      if (resource === 'example.com/widgets') this.#sawOwner(object, change === 'DELETED');
      if (resource === '/configmaps' && !isForeign(object.metadata)) this.#sawChild(object, change === 'DELETED');
    });
  }

  /** The operator sends the deletion of an object. */
  deleting(uid: string | undefined): void {
    const child = this.#children.get(uid ?? '');
    const owner = this.#owners.get(child?.owner ?? '');
    if (child === undefined || owner?.isDeleting !== true) return;
    // A run that does not know of the deletion yet deletes what a generation does not want.
    const isWanted = [...owner.specs.values()].every(({ size }) => this.#wanted(owner.name, size).has(child.name));
    if (!isWanted) return;
    const now = this.#world.clock.now();
    const higher = [...this.#children.values()].find(
      (each) => each.owner === child.owner && each.wave > child.wave && now - each.since > knownAfterMs,
    );
    if (higher !== undefined)
      this.#world.violate(
        'wave-order',
        `${child.name} of wave ${child.wave} is deleted while ${higher.name} of wave ${higher.wave} exists`,
        `configmaps ${child.name}`,
      );
  }

  #sawOwner({ metadata, spec, status }: UntypedObject, isGone: boolean): void {
    const { uid = '', name = '', generation = 0, deletionTimestamp } = metadata;
    if (isGone) return void this.#owners.delete(uid);
    const owner = this.#owners.get(uid) ?? { name, isDeleting: false, specs: new Map() };
    this.#owners.set(uid, owner);
    owner.isDeleting = deletionTimestamp !== undefined;
    const size = isJsonObject(spec) ? Number(spec['size']) : 0;
    if (!owner.specs.has(generation)) owner.specs.set(generation, { size, since: this.#world.clock.now() });
    if (!owner.isDeleting && isJsonObject(status)) this.#judgeReady(uid, owner, conditionsIn(status));
  }

  #judgeReady(uid: string, { name, specs }: Owner, conditions: readonly Condition[]): void {
    if (!isConditionTrue(conditions, 'Ready')) return;
    const { observedGeneration = 0 } = conditions.find(({ type }) => type === 'Ready') ?? {};
    const spec = specs.get(observedGeneration);
    for (const [child, data] of spec === undefined ? [] : this.#wanted(name, spec.size)) {
      const history = this.#histories.get(`${uid} ${child}`);
      const value = valueOf(data);
      // A watch that hangs shows what others changed or deleted a moment ago.
      const seenSince = (spec?.since ?? 0) - knownAfterMs;
      if (history?.value === value || (history?.until.get(value) ?? -Infinity) >= seenSince) continue;
      this.#world.violate(
        'ready-too-early',
        `${name} is Ready for generation ${observedGeneration}, and ${child} was not ${value} since`,
        `widgets ${name}`,
      );
    }
  }

  #sawChild({ metadata, data }: UntypedObject, isGone: boolean): void {
    const { uid = '', name = '', annotations = {}, ownerReferences = [], labels = {} } = metadata;
    const before = this.#children.get(uid);
    const owner = ownerReferences.find(({ controller }) => controller === true)?.uid;
    if (owner === undefined || labels['kctl.dev/part-of'] === undefined) return;
    const now = this.#world.clock.now();
    const history = this.#histories.get(`${owner} ${name}`) ?? { value: undefined, until: new Map() };
    this.#histories.set(`${owner} ${name}`, history);
    if (history.value !== undefined) history.until.set(history.value, now);
    history.value = isGone ? undefined : valueOf(isJsonObject(data) ? data : {});
    if (isGone) this.#children.delete(uid);
    else {
      const wave = Number(annotations['kctl.dev/wave'] ?? 0);
      this.#children.set(uid, { name, owner, wave, since: before?.since ?? now });
    }
  }
}

function conditionsIn(status: Readonly<Record<string, unknown>>): readonly Condition[] {
  const { conditions } = status;
  return Array.isArray(conditions) ? conditions : [];
}

/** The data as a string that does not depend on the order of fields. */
function valueOf(data: object): string {
  return JSON.stringify(Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
