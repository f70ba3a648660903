import { compareResourceVersions } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient } from '@kctl/client-http';
import { createDeltaController, createDeltaFifo, listerWatcherFor, RequeueError } from '@kctl/informer';
import type { ReplicaWorld } from '@kctl/simulation';
import { sleep } from '@kctl/wait';

interface Seen {
  readonly metadata: { readonly name?: string; readonly uid?: string; readonly resourceVersion?: string };
}

/** What a consumer of deltas knows of ConfigMaps: it is slow, fails now and then, and looks at the uid of each object. */
export class Mirror {
  readonly #world: ReplicaWorld;
  readonly #namespace: string;
  readonly #known = new Map<string, Seen>();

  constructor(world: ReplicaWorld, namespace: string) {
    this.#world = world;
    this.#namespace = namespace;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { connection, clock, logger, random, violate } = this.#world;
    await using client = createHttpClient({ connection, clock });
    const fifo = createDeltaFifo<Seen>({
      key: ({ metadata }) => String(metadata.name),
      knownObjects: { keys: () => this.#known.keys(), get: (key) => this.#known.get(key) },
    });
    const controller = createDeltaController({
      kind: ConfigMap,
      listerWatcher: listerWatcherFor(client, ConfigMap, { namespace: this.#namespace }),
      queue: fifo,
      clock,
      logger,
      onProcessError: () => undefined,
      process: async (deltas, { key }) => {
        await sleep(random() < 0.5 ? 0 : 8_000 * random(), { clock, signal });
        if (random() < 0.2) throw new RequeueError(new Error('the consumer is not ready'));
        for (const delta of deltas) {
          const before = this.#known.get(key)?.metadata;
          if (delta.type === 'Deleted') {
            this.#known.delete(key);
            continue;
          }
          const { uid, resourceVersion } = delta.object.metadata;
          // A relist says what there is now; a watch says what happened.
          const isEvent = delta.type === 'Added' || delta.type === 'Updated';
          if (isEvent && before !== undefined && before.uid !== uid)
            violate('illegal-deltas', `${key} became another object without a deletion`, `configmaps ${key}`);
          if (isEvent && before?.uid === uid && isBackwards(before?.resourceVersion, resourceVersion))
            violate('illegal-deltas', `${key} went back to version ${resourceVersion}`, `configmaps ${key}`);
          this.#known.set(key, delta.object);
        }
      },
    });
    await controller.run(signal);
  }

  /** @throws Error naming an object of which it has another version, or none */
  compare(objects: readonly Seen[]): void {
    const present = new Map(objects.map((object) => [String(object.metadata.name), object]));
    for (const [name, { metadata }] of present)
      if (this.#known.get(name)?.metadata.resourceVersion !== metadata.resourceVersion)
        throw new Error(`${this.#world.name}: the mirror has another version of ${name}`);
    for (const name of this.#known.keys())
      if (!present.has(name)) throw new Error(`${this.#world.name}: the mirror has ${name}, which is gone`);
  }
}

function isBackwards(before: string | undefined, next: string | undefined): boolean {
  return before !== undefined && next !== undefined && compareResourceVersions(next, before) === 'older';
}
