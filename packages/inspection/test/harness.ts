import { defineKind, type Kind, type KubeObject } from '@kctl/apimachinery';
import type { Client } from '@kctl/client';
import type { ReconcileContext, SettledRun, SourceEnqueueOptions } from '@kctl/controller';
import { FakeClock } from '@kctl/wait/testing';
import { createInspection, type Inspection, type InspectionOptions } from '../src/index.js';

/** A kind with content. */
export interface Widget extends KubeObject {
  spec?: { password?: string };
}
export const Widget: Kind<Widget, 'Namespaced'> = defineKind<Widget>()({
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  scope: 'Namespaced',
});

/** Drives the observer as a controller does. */
export interface Driver {
  readonly clock: FakeClock;
  readonly inspection: Inspection;
  event(controller: string, key: string, event: Partial<EventOf>): void;
  run<T>(controller: string, key: string, options?: RunOf<T>): Promise<T | undefined>;
}

interface EventOf {
  readonly source: string;
  readonly type: 'create' | 'update' | 'delete' | 'generic';
  readonly name: string;
  readonly resourceVersion: string;
}

interface RunOf<T> {
  readonly attempt?: number;
  readonly reasons?: readonly string[];
  readonly work?: () => Promise<T>;
  readonly settled?: Partial<SettledRun>;
}

export function createDriver(options: InspectionOptions = {}): Driver {
  const clock = new FakeClock();
  const inspection = createInspection({ clock, ...options });
  const { observer, requestCounter } = inspection;
  return {
    clock,
    inspection,
    event: (
      controller,
      key,
      { source = 'kind source: Widget.example.com', type = 'update', name = key, resourceVersion = '' },
    ) => {
      const header = { resourceVersion } as NonNullable<SourceEnqueueOptions['cause']>['header'];
      observer.queued(controller, key, { reason: `${source} ${type} ${name}`, cause: { source, type, name, header } });
    },
    run: async (controller, key, { attempt = 1, reasons = [], work, settled = {} } = {}) => {
      const context = { attempt, reasons, reconcileId: `id-of-${key}` } as unknown as ReconcileContext;
      const tally = observer.started(controller, key, context);
      const result = work === undefined ? undefined : await requestCounter.run(tally, work);
      observer.settled(tally, { result: 'success', error: undefined, nextMs: undefined, isLooping: false, ...settled });
      return result;
    },
  };
}

/** A client that answers each write with the object, at the next version. */
export function answeringClient(): Client {
  let version = 100;
  const answer = (object: object, { kind }: Pick<Kind, 'kind'> = Widget): never => {
    const { metadata } = object as KubeObject;
    return { ...object, kind, metadata: { ...metadata, resourceVersion: String(++version) } } as never;
  };
  const keyed = async (kind: Kind, key: object): Promise<never> => answer({ metadata: key }, kind);
  const client = {
    get: keyed,
    list: async () => ({ items: [], metadata: {} }),
    create: async (kind: Kind, object: object) => answer(object, kind),
    update: async (kind: Kind, object: object) => answer(object, kind),
    patch: keyed,
    delete: keyed,
    deleteAllOf: async () => ({ items: [], metadata: {} }),
    status: () => ({
      update: async (object: object) => answer(object),
      patch: async (key: object) => answer({ metadata: key }),
    }),
    subResource: () => ({
      get: async (key: object) => answer({ metadata: key }),
      create: async (key: object) => answer({ metadata: key }),
      update: async (_key: object, object: object) => answer(object),
      patch: async (key: object) => answer({ metadata: key }),
    }),
  };
  return client;
}
