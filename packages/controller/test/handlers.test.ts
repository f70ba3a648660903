import type { KubeObject } from '@kctl/apimachinery';
import { noopLogger, type Logger } from '@kctl/telemetry';
import { describe, expect, it, vi } from 'vitest';
import type {
  EnqueueOptions,
  EventHandler,
  HandlerContext,
  ObjectEvent,
  ReconcileRequest,
  RequestQueue,
} from '../src/index.js';
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
  logger: Logger = noopLogger,
): Promise<Added[]> {
  const added: Added[] = [];
  const queue = { add: (request: ReconcileRequest, options?: EnqueueOptions) => void added.push([request, options]) };
  await handler(event, queue, { signal: new AbortController().signal, logger });
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

  it('ignores an object without a name, and says so', async () => {
    const lines: string[] = [];
    const added: unknown[] = [];
    const context = {
      signal: new AbortController().signal,
      logger: { ...noopLogger, error: (message: string) => void lines.push(message) },
    };
    await handler(
      { type: 'generic', object: { metadata: {} } },
      { add: (request) => void added.push(request) },
      context,
    );
    expect([added, lines]).toEqual([[], ['an event of an object without a name was received, it is ignored']]);
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
      owner('ReplicaSet', ''),
      owner('ReplicaSet', 'd'),
      { ...owner('Deployment', 'e'), apiVersion: 'apps/v1/extra' },
    );
    const lines: unknown[] = [];
    const logger = { ...noopLogger, error: (_message: string, fields?: object) => void lines.push(fields) };
    const added = await handle(
      enqueueRequestForOwner(ReplicaSet),
      { type: 'create', object, isInInitialList: false },
      logger,
    );
    expect(names(added)).toEqual(['default/d']);
    expect(lines).toMatchObject(
      ['a', 'b', undefined, ''].map((name) => ({ namespace: 'default', name: 'p', reference: { name } })),
    );
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
    const unmanaged = owned(owner('ReplicaSet', 'plain'));
    const none = enqueueRequestForOwner(ReplicaSet, { onlyControllerOwner: true });
    expect(await handle(none, { ...event, object: unmanaged })).toEqual([]);
  });

  it('names an owner without a namespace for an object that has none', async () => {
    const object: KubeObject = { metadata: { name: 'p', ownerReferences: [owner('ReplicaSet', 'a')] } };
    const added = await handle(enqueueRequestForOwner(ReplicaSet), { type: 'generic', object });
    expect(added).toEqual([[{ name: 'a' }, undefined]]);
  });

  it.each<[unknown, object, string]>([
    [undefined, {}, 'enqueueRequestForOwner'],
    ['ReplicaSet', {}, 'enqueueRequestForOwner'],
    [ReplicaSet, { onlyControllerOwner: 'yes' }, 'onlyControllerOwner'],
    [ReplicaSet, { onlyController: true }, 'unknown option "onlyController": did you mean "onlyControllerOwner"?'],
  ])('refuses the owner %o with %o', (kind, options, message) => {
    expect(() => enqueueRequestForOwner(kind as never, options)).toThrow(message);
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

describe('requests of a map that are odd', () => {
  it('are one if they are the same, although they have no JSON', async () => {
    const [one, other]: { self?: unknown }[] = [{}, {}];
    one!.self = one;
    other!.self = other;
    const added: unknown[] = [];
    const handler = enqueueRequestsFromMapFunc<KubeObject, unknown>(() => [one, other, one]);
    const context = { signal: new AbortController().signal, logger: noopLogger };
    void handler({ type: 'generic', object: pod('p') }, { add: (request) => void added.push(request) }, context);
    expect(added).toEqual([one, other]);
  });

  it('are not the bytes of a buffer', async () => {
    const handler = enqueueRequestsFromMapFunc((() => Buffer.from('ab')) as never);
    await expect(async () => handle(handler, { type: 'generic', object: pod('p') })).rejects.toThrow(
      'the map function returned a value of type object: expected requests',
    );
  });

  it('fail with the first failure, after all that can be added', async () => {
    const map = (object: KubeObject): ReconcileRequest[] =>
      object.metadata.resourceVersion === '1' ? (5 as never) : [{ name: 'new' }];
    const added: ReconcileRequest[] = [];
    const event = { type: 'update', oldObject: pod('p'), object: pod('p', { resourceVersion: '2' }) } as const;
    const context = { signal: new AbortController().signal, logger: noopLogger };
    const queue = { add: (request: ReconcileRequest) => void added.push(request) };
    expect(() => enqueueRequestsFromMapFunc(map)(event, queue, context)).toThrow('returned a value of type number');
    expect(added).toEqual([{ name: 'new' }]);
  });

  it('leave no rejection behind when the map of the other object throws', async () => {
    let rejected = 0;
    const handler = enqueueRequestsFromMapFunc<KubeObject, ReconcileRequest>((object) => {
      if (object.metadata.resourceVersion !== '1') throw new Error('of the new object');
      return {
        then: (_ok: unknown, no?: (error: unknown) => void) => void (no?.(new Error('of the old')), rejected++),
      } as never;
    });
    const event = { type: 'update', oldObject: pod('p'), object: pod('p', { resourceVersion: '2' }) } as const;
    await expect(async () => handle(handler, event)).rejects.toThrow('of the new object');
    expect(rejected).toBe(1);
  });

  it.each([undefined, null, 'map'])('%o is not a map', (map) => {
    expect(() => enqueueRequestsFromMapFunc(map as never)).toThrow('enqueueRequestsFromMapFunc: map');
  });
});

describe('an event that changed nothing has a low priority', () => {
  const withVersion = (resourceVersion: unknown): unknown => ({ metadata: { name: 'a', resourceVersion } });
  const queued = async (event: object): Promise<number | undefined> => {
    const handler = handlerFuncs<never, ReconcileRequest>(
      Object.fromEntries(
        ['create', 'update', 'delete', 'generic'].map((type) => [
          type,
          (_event: unknown, queue: RequestQueue<ReconcileRequest>) => queue.add({ name: 'a' }),
        ]),
      ),
    );
    return (await handle(handler as never, event as never))[0]?.[1]?.priority;
  };

  it.each<[string, object, boolean]>([
    ['a create of the initial list', { type: 'create', object: pod('a'), isInInitialList: true }, true],
    ['a later create', { type: 'create', object: pod('a'), isInInitialList: false }, false],
    ['a delete', { type: 'delete', object: pod('a'), oldObject: pod('a') }, false],
    ['a generic event', { type: 'generic', object: pod('a'), oldObject: pod('a') }, false],
    ['an update of one version', { type: 'update', oldObject: withVersion('1'), object: withVersion('1') }, true],
    ['an update to another version', { type: 'update', oldObject: withVersion('1'), object: withVersion('2') }, false],
    ...[
      undefined,
      null,
      'x',
      5,
      {},
      { metadata: null },
      { metadata: 'x' },
      { metadata: {} },
      withVersion(''),
      withVersion(5),
    ].map((object): [string, object, boolean] => [
      `an update of ${JSON.stringify(object)}, which has no version`,
      { type: 'update', oldObject: object, object },
      false,
    ]),
    [
      'an update by the headers, whatever the objects hold',
      {
        type: 'update',
        header: { resourceVersion: '1' },
        oldHeader: { resourceVersion: '1' },
        oldObject: withVersion('1'),
        object: withVersion('2'),
      },
      true,
    ],
    [
      'an update with headers that differ',
      {
        type: 'update',
        header: { resourceVersion: '2' },
        oldHeader: { resourceVersion: '1' },
        oldObject: withVersion('1'),
        object: withVersion('1'),
      },
      false,
    ],
    [
      'an update with headers without versions',
      {
        type: 'update',
        header: { resourceVersion: '' },
        oldHeader: { resourceVersion: '' },
        oldObject: {},
        object: {},
      },
      false,
    ],
  ])('%s', async (_what, event, isLow) => {
    expect(await queued(event)).toBe(isLow ? lowPriority : undefined);
  });
});

describe('handlerFuncs', () => {
  it('calls the member of each event with the event, the queue and the context, and waits for what it returns', async () => {
    const events: ObjectEvent<KubeObject>[] = [
      { type: 'create', object: pod('a'), isInInitialList: false },
      { type: 'update', oldObject: pod('a'), object: pod('a', { resourceVersion: '2' }) },
      { type: 'delete', object: pod('a'), deleteStateUnknown: false },
      { type: 'generic', object: pod('a') },
    ];
    for (const event of events) {
      const seen: unknown[] = [];
      const handler = handlerFuncs<KubeObject, ReconcileRequest>({
        [event.type]: async (...given: [unknown, RequestQueue<ReconcileRequest>, HandlerContext]) => {
          await Promise.resolve();
          seen.push(given[0], given[2].logger);
          given[1].add({ name: event.type });
          return 'ignored';
        },
      });
      expect(names(await handle(handler, event))).toEqual([`/${event.type}`]);
      expect(seen).toEqual([event, noopLogger]);
      for (const other of events) if (other !== event) expect(await handle(handler, other)).toEqual([]);
      const context = { signal: new AbortController().signal, logger: noopLogger };
      expect(await handler(event, { add: () => undefined }, context)).toBeUndefined();
      expect(handlerFuncs({ [event.type]: () => 'ignored' })(event, { add: () => undefined }, context)).toBeUndefined();
    }
  });

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
