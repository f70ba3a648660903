import type { Kind, ObjectKey } from '@kctl/apimachinery';
import { isNotFound } from '@kctl/apimachinery';
import type { Client, ReadObject } from '@kctl/client';
import type { Logger, Metrics } from '@kctl/telemetry';
import type { Clock } from '@kctl/wait';
import type { AnyObject } from '../definition/node.js';

/** Records Events about the primary; an EventRecorder of @kctl/events is one. */
export interface DependentsEvents {
  normal(regarding: AnyObject, reason: string, note: string): void;
  warning(regarding: AnyObject, reason: string, note: string): void;
}

/** Parts that a run needs. The context of a reconcile, with a client, has them. */
export interface DependentsContext {
  /** Reads children, from a cache if it has one, and writes them. */
  readonly client: Client;
  /** Aborting it starts no further write. */
  readonly signal?: AbortSignal;
  /** A newer event waits: no further write starts, and the nodes that are left wait for the next run. */
  readonly isSuperseded?: boolean;
  /** @default none */
  readonly logger?: Logger;
  /** @default none */
  readonly events?: DependentsEvents;
  /** @default none */
  readonly metrics?: Metrics;
  /** @default the system's */
  readonly clock?: Clock;
}

/** A newer event for the primary waits. */
export class Superseded extends Error {}

/** The calls of one run, all of which carry its signal. */
export class Calls {
  readonly client: Client;
  readonly #context: DependentsContext;

  constructor(context: DependentsContext) {
    this.client = context.client;
    this.#context = context;
  }

  get abort(): { readonly signal?: AbortSignal } {
    const { signal } = this.#context;
    return signal === undefined ? {} : { signal };
  }

  /** Called before each write. */
  beforeWrite(): void {
    this.#context.signal?.throwIfAborted();
    if (this.#context.isSuperseded === true) throw new Superseded('a newer event waits');
  }

  async find(kind: Kind, key: ObjectKey, options: { readonly live?: boolean } = {}): Promise<AnyObject | undefined> {
    try {
      // A key without a namespace is that of a cluster-scoped kind.
      const found: ReadObject<Kind> = await this.client.get(kind, key, { ...this.abort, ...options });
      return found;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
