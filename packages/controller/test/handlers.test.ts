import type { KubeObject } from '@kctl/apimachinery';
import { noopLogger } from '@kctl/telemetry';
import { describe, expect, it, vi } from 'vitest';
import type { EnqueueOptions, EventHandler, ObjectEvent, ReconcileRequest } from '../src/index.js';
import {
  enqueueRequestForObject,
  enqueueRequestForOwner,
  enqueueRequestsFromMapFunc,
  handlerFuncs,
  lowPriority,
} from '../src/index.js';
import { Node, pod, ReplicaSet } from './fakes.js';

type Added = readonly [ReconcileRequest, EnqueueOptions | undefined];

async function handle(
  handler: EventHandler<KubeObject, ReconcileRequest>,
  event: ObjectEvent<KubeObject>,
): Promise<Added[]> {
  const added: Added[] = [];
  const queue = { add: (request: ReconcileRequest, options?: EnqueueOptions) => void added.push([request, options]) };
  await handler(event, queue, { signal: new AbortController().signal, logger: noopLogger });
  return added;
}

const names = (added: Added[]): string[] => added.map(([{ namespace, name }]) => `${namespace ?? ''}/${name}`);
const owner = (kind: string, name: string, rest = {}) => ({ apiVersion: 'apps/v1', kind, name, uid: name, ...rest });

describe('enqueueRequestForObject', () => {
  const handler = enqueueRequestForObject();

  it.each<[string, ObjectEvent<KubeObject>, EnqueueOptions]>([
    [
      'initial list',
      { type: 'create', object: pod('a'), isInInitialList: true },
      { priority: lowPriority, presence: 'present' },
    ],
    ['create', { type: 'create', object: pod('a'), isInInitialList: false }, { presence: 'present' }],
    [
      'replay',
      { type: 'update', oldObject: pod('a'), object: pod('a') },
      { priority: lowPriority, presence: 'present' },
    ],
    [
      'update',
      { type: 'update', oldObject: pod('a'), object: pod('a', { resourceVersion: '2' }) },
      { presence: 'present' },
    ],
    ['delete', { type: 'delete', object: pod('a'), deleteStateUnknown: true }, { presence: 'gone' }],
    ['generic', { type: 'generic', object: pod('a') }, { presence: 'present' }],
  ])('queues the object of a %s once', async (_name, event, options) => {
    expect(await handle(handler, event)).toEqual([[{ namespace: 'default', name: 'a' }, options]]);
  });

  it('takes an update without versions for a change', async () => {
    const bare = { metadata: { name: 'a', resourceVersion: '' } };
    const added = await handle(handler, { type: 'update', oldObject: bare, object: bare });
    expect(added).toEqual([[{ name: 'a' }, { presence: 'present' }]]);
  });

  it('does not decode an object whose header is there', async () => {
    const decode = vi.fn(() => pod('a'));
    const header = { namespace: 'n', name: 'a', uid: '', resourceVersion: '1', labels: {}, ownerReferences: [] };
    const event = {
      type: 'create',
      isInInitialList: false,
      header: { ...header, generation: undefined, deletionTimestamp: undefined },
      get object() {
        return decode();
      },
    } as const;
    expect(names(await handle(handler, event))).toEqual(['n/a']);
    expect(decode).not.toHaveBeenCalled();
  });
});

describe('enqueueRequestForOwner', () => {
  const owned = (...ownerReferences: ReturnType<typeof owner>[]) => pod('p', { ownerReferences });

  it('compares group and kind, not the version', async () => {
    const object = owned(
      { ...owner('ReplicaSet', 'a'), apiVersion: 'apps/v1beta1' },
      { ...owner('ReplicaSet', 'b'), apiVersion: 'extensions/v1' },
      owner('Deployment', 'c'),
      owner('ReplicaSet', 'd'),
    );
    const added = await handle(enqueueRequestForOwner(ReplicaSet), { type: 'create', object, isInInitialList: false });
    expect(names(added)).toEqual(['default/a', 'default/d']);
  });

  it('ignores a reference that is not valid, alone', async () => {
    const object = owned(
      { ...owner('ReplicaSet', 'a'), apiVersion: 'apps/v1/extra' },
      { ...owner('ReplicaSet', 'b'), apiVersion: undefined as never },
      { ...owner('ReplicaSet', 'c'), name: undefined as never },
      owner('ReplicaSet', 'd'),
    );
    const added = await handle(enqueueRequestForOwner(ReplicaSet), { type: 'create', object, isInInitialList: false });
    expect(names(added)).toEqual(['default/d']);
  });

  it('leaves out what is not an object among the references, for each way in which owners are looked for', async () => {
    const ownerReferences = [null, 5, owner('ReplicaSet', 'a', { controller: true })] as never;
    const object = pod('p', { ownerReferences });
    for (const onlyControllerOwner of [false, true])
      for (const event of [
        { type: 'create', object, isInInitialList: false },
        { type: 'update', oldObject: object, object },
      ] as const)
        expect(names(await handle(enqueueRequestForOwner(ReplicaSet, { onlyControllerOwner }), event))).toEqual([
          'default/a',
        ]);
  });

  it('queues the union of old and new owners, each once', async () => {
    const event = {
      type: 'update',
      oldObject: owned(owner('ReplicaSet', 'a'), owner('ReplicaSet', 'b')),
      object: { ...owned(owner('ReplicaSet', 'b'), owner('ReplicaSet', 'c')) },
    } as const;
    expect(names(await handle(enqueueRequestForOwner(ReplicaSet), event))).toEqual([
      'default/a',
      'default/b',
      'default/c',
    ]);
  });

  it('looks at the first controller reference only when told so', async () => {
    const object = owned(
      owner('ReplicaSet', 'plain'),
      owner('Deployment', 'managing', { controller: true }),
      owner('ReplicaSet', 'second', { controller: true }),
    );
    const event = { type: 'delete', object, deleteStateUnknown: false } as const;
    expect(await handle(enqueueRequestForOwner(ReplicaSet, { onlyControllerOwner: true }), event)).toEqual([]);
    const first = owned(owner('ReplicaSet', 'plain'), owner('ReplicaSet', 'managing', { controller: true }));
    const added = await handle(enqueueRequestForOwner(ReplicaSet, { onlyControllerOwner: true }), {
      ...event,
      object: first,
    });
    expect(names(added)).toEqual(['default/managing']);
  });

  it('sets no namespace for a cluster-scoped owner', async () => {
    const object = owned({ ...owner('Node', 'n1'), apiVersion: 'v1' });
    const added = await handle(enqueueRequestForOwner(Node), { type: 'create', object, isInInitialList: true });
    expect(added).toEqual([[{ name: 'n1' }, { priority: lowPriority }]]);
  });
});

describe('enqueueRequestsFromMapFunc', () => {
  const requests = (object: KubeObject) =>
    (object.metadata.annotations?.['for'] ?? '').split(',').map((name) => ({ name }));
  const annotated = (value: string, resourceVersion: string) =>
    pod('p', { annotations: { for: value }, resourceVersion });
  const event = { type: 'update', oldObject: annotated('a,b,a', '1'), object: annotated('c,b', '2') } as const;

  it('maps old, then new, and adds each request once in the order of first mention', async () => {
    expect(names(await handle(enqueueRequestsFromMapFunc(requests), event))).toEqual(['/a', '/b', '/c']);
  });

  it('waits for an asynchronous map', async () => {
    const handler = enqueueRequestsFromMapFunc<KubeObject, ReconcileRequest>(async (object) => requests(object));
    expect(names(await handle(handler, event))).toEqual(['/a', '/b', '/c']);
  });

  it.each([
    ['old', '1'],
    ['new', '2'],
  ])(
    'adds each once and in order, also where the map of the %s object alone has to be awaited',
    async (_which, late) => {
      const handler = enqueueRequestsFromMapFunc<KubeObject, ReconcileRequest>((object) => {
        const mapped = requests(object);
        return object.metadata.resourceVersion === late ? Promise.resolve(mapped) : mapped;
      });
      expect(names(await handle(handler, event))).toEqual(['/a', '/b', '/c']);
    },
  );

  it.each([
    ['undefined', () => undefined],
    ['null', () => null],
    ['a promise of undefined', async () => undefined],
  ])('takes %s for no requests, as a nil slice is', async (_, map) => {
    expect(await handle(enqueueRequestsFromMapFunc(map as never), event)).toEqual([]);
  });

  it.each([
    [5, 'the map function returned a value of type number: expected requests'],
    ['abc', 'the map function returned a value of type string: expected requests'],
    [{ name: 'a' }, 'the map function returned a value of type object: expected requests'],
  ])('names what a map returns instead of requests: %j', async (returned, message) => {
    await expect(async () => handle(enqueueRequestsFromMapFunc((() => returned) as never), event)).rejects.toThrow(
      message,
    );
  });

  it('adds the requests of a map that are in order, and fails for the others', async () => {
    const added: unknown[] = [];
    const add = (request: unknown): void => {
      if (request === null) throw new Error('null is none');
      added.push(request);
    };
    const handler = enqueueRequestsFromMapFunc<KubeObject, unknown>(() => ['a', null, 'b']);
    const context = { signal: new AbortController().signal, logger: noopLogger };
    expect(() => handler({ type: 'generic', object: pod('p') }, { add }, context)).toThrow('null is none');
    expect(added).toEqual(['a', 'b']);
  });
});

describe('handlerFuncs', () => {
  it('refuses a member that is not known, instead of ignoring its events', () => {
    expect(() => handlerFuncs({ created: () => undefined } as never)).toThrow(
      'unknown option "created": did you mean "create"?',
    );
    expect(() => handlerFuncs({ create: 5 } as never)).toThrow('create is a value of type number: expected a function');
  });

  it('ignores what has no member, and lowers the priority where none was given', async () => {
    const handler = handlerFuncs<KubeObject, ReconcileRequest>({
      create: (_event, queue) => {
        queue.add({ name: 'x' });
        queue.add({ name: 'y' }, { priority: 3 });
      },
    });
    expect(await handle(handler, { type: 'generic', object: pod('a') })).toEqual([]);
    expect(await handle(handler, { type: 'create', object: pod('a'), isInInitialList: true })).toEqual([
      [{ name: 'x' }, { priority: lowPriority }],
      [{ name: 'y' }, { priority: 3 }],
    ]);
  });
});
