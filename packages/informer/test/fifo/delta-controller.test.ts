// The low-level controller: batches, and failures of process functions that must not vanish.
import { noopLogger } from '@kctl/telemetry';
import { settle } from '@kctl/wait/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createDeltaController, createDeltaFifo, createRealFifo, createReflector } from '../../src/index.js';
import type { DeltaController, Queue } from '../../src/index.js';
import { added, modified, ScriptedServer, thing } from '../rules/scripted-server.js';
import type { Thing } from '../rules/scripted-server.js';
import { ThingKind } from '../rules/scripted-session.js';

function source(...names: string[]): ScriptedServer {
  const server = new ScriptedServer();
  server.page = () => ({ version: 10, items: names.map((name, index) => thing(name, index + 1)) });
  return server;
}
const common = (server: ScriptedServer) => ({ kind: ThingKind, listerWatcher: server.objects(false) });
function running(controller: DeltaController): { readonly run: Promise<void> } & AsyncDisposable {
  const stop = new AbortController();
  const run = controller.run(stop.signal);
  return { run, [Symbol.asyncDispose]: () => (stop.abort(), run) };
}

describe('processBatch', () => {
  it('gets deltas of several objects at once, those of the initial list apart; what comes alone goes to process', async () => {
    const server = source('a', 'b', 'c');
    const seen: string[] = [];
    const controller = createDeltaController<Thing>({
      ...common(server),
      queue: createRealFifo(),
      process: ([delta], { key, isInInitialList }) => void seen.push(`alone ${delta?.type} ${key} ${isInInitialList}`),
      processBatch: (deltas, { isInInitialList }) =>
        void seen.push(`batch ${deltas.map(({ type, key }) => `${type} ${key}`).join()} ${isInInitialList}`),
    });
    await using _ = running(controller);
    await settle();
    expect([seen.splice(0), controller.hasSynced]).toEqual([
      ['batch Replaced a/a,Replaced a/b,Replaced a/c true'],
      true,
    ]);
    server.watch.send(modified(thing('a', 11)), added(thing('d', 12)), modified(thing('a', 13)));
    await settle();
    expect(seen.splice(0).join()).toMatch(/Updated a\/a.*Added a\/d.*Updated a\/a false$/);
    server.watch.send(modified(thing('d', 14)));
    await settle();
    expect(seen).toEqual(['alone Updated a/d false']);
  });

  it('is enough by itself: then batches of one are batches', async () => {
    const sizes: number[] = [];
    const server = source('a');
    const controller = createDeltaController<Thing>({
      ...common(server),
      queue: createRealFifo(),
      processBatch: async (deltas) => {
        await settle();
        sizes.push(deltas.length);
      },
    });
    await using _ = running(controller);
    await vi.waitFor(() => expect(sizes).toEqual([1]));
  });

  it('falls back to process where the queue has no batches, and is refused without one', async () => {
    const server = source('a', 'b');
    const seen: string[] = [];
    const options = { ...common(server), processBatch: () => expect.unreachable() };
    const queue = createDeltaFifo<never>();
    expect(() => createDeltaController({ ...options, queue } as never)).toThrow(
      'createDeltaController: process undefined is not valid: expected a function of deltas, as the queue has no popBatch',
    );
    const controller = createDeltaController<Thing>({
      ...options,
      queue: createDeltaFifo(),
      process: (_deltas, { key }) => void seen.push(key),
    });
    await using _ = running(controller);
    await settle();
    expect(seen).toEqual(['a/a', 'a/b']);
  });

  it.each([
    [{ processBatch: 'all' }, 'processBatch is a value of type string: expected a function'],
    [{ process: 5 }, 'createDeltaController: process 5 is not valid: expected a function of deltas'],
    [{ process: undefined }, 'createDeltaController: process undefined is not valid: expected a function of deltas'],
    [{ onProcessError: {} }, 'onProcessError is a value of type object: expected a function'],
    [{ queue: new Map() }, 'createDeltaController: queue'],
    [{ queue: undefined }, 'createDeltaController: queue undefined is not valid: expected a queue'],
  ])('refuses %o', (wrong, message) => {
    const options = { ...common(source()), queue: createRealFifo<never>(), process: () => undefined };
    expect(() => createDeltaController({ ...options, ...wrong } as never)).toThrow(message);
  });
});

describe('what a process function throws', () => {
  afterEach(() => vi.restoreAllMocks());
  const stderr = (): string[] => {
    const lines: string[] = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
    return lines;
  };

  it.each([
    ['alone', { process: () => Promise.reject(new Error('broken')) }],
    ['of a batch', { processBatch: () => Promise.reject(new Error('broken')) }],
  ])('is written to standard error where there is neither hook nor logger: %s', async (_, work) => {
    const lines = stderr();
    const controller = createDeltaController<Thing>({
      ...common(source('a')),
      queue: createRealFifo(),
      ...work,
    } as never);
    await using running_ = running(controller);
    await settle();
    expect(lines.join('')).toMatch(/"msg":"processing deltas failed".*broken/);
    void running_;
  });

  it('goes to the logger, or to the hook, that is given, and nowhere else', async () => {
    const lines = stderr();
    const error = vi.fn();
    const hook = vi.fn();
    const broken = { ...common(source('a')), process: () => Promise.reject(new Error('broken')) };
    await using _one = running(
      createDeltaController<Thing>({ ...broken, queue: createDeltaFifo(), logger: { ...noopLogger, error } }),
    );
    await using _two = running(
      createDeltaController<Thing>({ ...broken, queue: createDeltaFifo(), onProcessError: hook }),
    );
    await using _three = running(
      createDeltaController<Thing>({ ...broken, queue: createDeltaFifo(), logger: noopLogger }),
    );
    await settle();
    expect([error.mock.calls.length, hook.mock.calls.map(([failure]) => String(failure)), lines]).toEqual([
      1,
      ['Error: broken'],
      [],
    ]);
  });

  it('is reported as well where it comes after the end of the run has begun', async () => {
    const hook = vi.fn();
    const release = Promise.withResolvers<undefined>();
    const controller = createDeltaController<Thing>({
      ...common(source('a')),
      queue: createDeltaFifo(),
      process: () => release.promise.then(() => Promise.reject(new Error('late'))),
      onProcessError: hook,
    });
    const stop = new AbortController();
    const run = controller.run(stop.signal);
    await settle();
    stop.abort();
    release.resolve(undefined);
    await run;
    expect(hook.mock.calls.map(([failure]) => String(failure))).toEqual(['Error: late']);
  });

  it('does not end the consumer, also where it says that another queue is closed', async () => {
    const other = createDeltaFifo<never>();
    other.close();
    const hook = vi.fn();
    const seen: string[] = [];
    const controller = createDeltaController<Thing>({
      ...common(source('a', 'b')),
      queue: createDeltaFifo(),
      process: async (_deltas, { key }) => {
        seen.push(key);
        await other.pop(() => undefined);
      },
      onProcessError: hook,
    });
    await using _ = running(controller);
    await settle();
    expect([seen, hook.mock.calls.length]).toEqual([['a/a', 'a/b'], 2]);
  });
});

it('reports to standard error what a store throws that has neither hook nor logger', async () => {
  const lines: string[] = [];
  vi.spyOn(process.stderr, 'write').mockImplementation((line) => lines.push(String(line)) > 0);
  const full = (): never => {
    throw new Error('full');
  };
  const reflector = createReflector<Thing>({
    ...common(source('a')),
    store: { add: full, update: full, delete: full, replace: full },
  });
  const stop = new AbortController();
  const run = reflector.run(stop.signal);
  await settle();
  stop.abort();
  await run;
  vi.restoreAllMocks();
  expect(lines.join('')).toMatch(/"msg":"store failed".*full/);
});

describe('the run', () => {
  it('ends when the queue was closed and is empty: what came later would only pile up', async () => {
    const queue: Queue<never> = createDeltaFifo();
    const seen: string[] = [];
    const controller = createDeltaController<Thing>({
      ...common(source('a', 'b')),
      queue: queue,
      process: (_deltas, { key }) => void seen.push(key),
    });
    const run = controller.run(new AbortController().signal);
    await settle();
    queue.close();
    await run;
    expect(seen).toEqual(['a/a', 'a/b']);
  });

  it('is refused a second time, and the first one goes on', async () => {
    const queue = createDeltaFifo<Thing>();
    const controller = createDeltaController<Thing>({
      ...common(source('a')),
      queue: queue as never,
      process: () => undefined,
    });
    const stop = new AbortController();
    const first = controller.run(stop.signal);
    await settle();
    await expect(controller.run(stop.signal)).rejects.toThrow('controller of Thing was started already');
    await settle();
    expect([controller.reflector.state.phase, queue.isClosed]).toEqual(['watching', false]);
    stop.abort();
    await first;
    await expect(controller.run(stop.signal)).rejects.toThrow('was started already');
  });

  it('refuses to begin without a signal', async () => {
    const controller = createDeltaController<Thing>({
      ...common(source()),
      queue: createRealFifo(),
      process: () => undefined,
    });
    await expect(controller.run(undefined as never)).rejects.toThrow('DeltaController.run needs an AbortSignal');
  });
});
