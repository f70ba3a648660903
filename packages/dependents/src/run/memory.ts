import type { ObjectKey } from '@kctl/apimachinery';
import { formatKey } from '@kctl/apimachinery';
import type { AnyObject } from '../definition/node.js';
import type { NodeFailure } from '../errors.js';
import type { NodeResult } from '../results.js';
import type { NodeMetrics } from '../status/metrics.js';

/** State of one object that this process keeps between runs. Losing it costs some applies and the times of states. */
export interface Remembered {
  readonly node: string;
  state?: string;
  reason?: string;
  since: number;
  /** When it ceased to be ready, or was first seen; undefined while it is ready. */
  unreadySince: number | undefined;
  /** Applies in a row after which fields still differed. */
  unsettled: number;
  /** The configuration of those applies. */
  configuration?: object;
  /** Paths of its empty values that the server does not store. */
  dropped: ReadonlySet<string>;
  /** A conflict, and the version of the object that has it. */
  conflict?: { readonly failure: NodeFailure; readonly version: string | undefined };
  lastApplyAt: number;
  /** Times at which a field was taken from another manager, by path. */
  readonly takeovers: Map<string, number[]>;
}

interface Primary {
  readonly uid: string | undefined;
  readonly members: Map<string, Remembered>;
}

/** Primaries that are remembered; the one that was used longest ago is forgotten first. */
const maxPrimaries = 20_000;

/** Remembers objects by primary. */
export class Memory {
  readonly #primaries = new Map<string, Primary>();
  /** Set by the first run that has metrics. */
  metrics: NodeMetrics | undefined;

  of(primary: AnyObject, member: { readonly node: string; readonly id: string }, now: number): Remembered {
    const { members } = this.#primaryOf(primary);
    const name = `${member.node}/${member.id}`;
    let known = members.get(name);
    if (known === undefined) {
      const { node } = member;
      known = {
        node,
        since: now,
        unreadySince: now,
        unsettled: 0,
        dropped: new Set(),
        lastApplyAt: 0,
        takeovers: new Map(),
      };
      members.set(name, known);
    }
    return known;
  }

  /** The result with the time at which its state and reason began. */
  note(remembered: Remembered, result: Omit<NodeResult, 'since'>, now: number): NodeResult {
    const { node, state: before } = remembered;
    if (before !== result.state) this.metrics?.moved(node, before, result.state);
    if (before !== result.state || remembered.reason !== result.reason) {
      remembered.state = result.state;
      remembered.reason = result.reason;
      remembered.since = now;
    }
    this.metrics?.wrote(node, result);
    if (result.state !== 'ready') remembered.unreadySince ??= now;
    else if (remembered.unreadySince !== undefined) {
      this.metrics?.becameReady(node, now - remembered.unreadySince);
      remembered.unreadySince = undefined;
    }
    return { ...result, since: remembered.since };
  }

  forget(primary: ObjectKey): void {
    const name = formatKey(primary);
    for (const { node, state } of this.#primaries.get(name)?.members.values() ?? [])
      this.metrics?.moved(node, state, undefined);
    this.#primaries.delete(name);
  }

  #primaryOf({ metadata }: AnyObject): Primary {
    const { namespace = '', name = '', uid } = metadata;
    const key = formatKey({ namespace, name });
    if (this.#primaries.get(key)?.uid !== uid) this.forget({ namespace, name });
    const primary = this.#primaries.get(key) ?? { uid, members: new Map<string, Remembered>() };
    this.#primaries.delete(key);
    this.#primaries.set(key, primary);
    for (const [oldest] of this.#primaries) {
      if (this.#primaries.size <= maxPrimaries) break;
      this.#primaries.delete(oldest);
    }
    return primary;
  }
}
