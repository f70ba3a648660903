import { settle } from '@kctl/wait/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readConverted } from '../src/crd/conversion/conversion-review.js';
import { converter, convertWidget } from './converter.js';
import { harness, namesOf, widget, widgets, type Harness } from './harness.js';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const second = widgets.replace('/v1/', '/v2/');
const third = (name: string, spec: Record<string, unknown> = { length: 1 }, metadata = {}) => ({
  ...widget(name, metadata, spec),
  apiVersion: 'ex.io/v2',
});

async function server(options: Parameters<typeof harness>[0] = {}) {
  const webhook = await converter();
  const h = await harness(options);
  expect((await h.post(crds, webhook.crd)).status).toBe(201);
  return { h, webhook };
}

/** Waits for what happens over a real socket. */
async function until(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 2));
}

function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), opened };
}

describe('conversion by webhook', () => {
  it('calls nothing for what is stored in the version of the request', async () => {
    const { h, webhook } = await server();
    await h.post(widgets, widget('a'));
    await h.put(`${widgets}/a`, (await h.get(`${widgets}/a`)).body);
    await h.merge(`${widgets}/a`, { spec: { size: 2 } });
    const watch = await h.watch(`${widgets}?watch=true`);
    expect((await watch.next()).object.spec.size).toBe(2);
    await h.delete(`${widgets}/a`);
    expect((await watch.next()).type).toBe('DELETED');
    expect(webhook.calls).toEqual([]);
    expect(h.server.journal.entries().length).toBeGreaterThan(0);
  });

  it('asks once for a hundred objects of a list, and not again for what has not changed', async () => {
    const { h, webhook } = await server();
    for (let i = 0; i < 250; i++) await h.post(widgets, widget(`w${String(i).padStart(3, '0')}`));
    const [one, other] = await Promise.all([h.get(second), h.get(second)]);
    expect(one.body.items.map(({ spec }: any) => spec.length)).toEqual(Array.from({ length: 250 }, () => 1));
    expect(other.text).toBe(one.text);
    expect(webhook.calls.map(({ count }) => count)).toEqual([100, 100, 50]);
    await h.merge(`${widgets}/w007`, { spec: { size: 7 } });
    expect((await h.get(`${second}?fieldSelector=spec.length%3D7`)).body.items).toHaveLength(1);
    expect(webhook.calls.map(({ count }) => count)).toEqual([100, 100, 50, 1]);
    await h.get(`${second}?limit=10`);
    expect(webhook.calls).toHaveLength(4);
  });

  it('sends no more than about 2 MiB at once', async () => {
    const { h, webhook } = await server();
    const color = 'x'.repeat(900_000);
    for (const name of ['a', 'b', 'c']) await h.post(widgets, widget(name, {}, { size: 1, color }));
    expect((await h.get(second)).body.items).toHaveLength(3);
    expect(webhook.calls.map(({ count }) => count)).toEqual([2, 1]);
  });

  it('asks for no more objects than a page shows', async () => {
    const { h, webhook } = await server();
    for (let i = 0; i < 20; i++) await h.post(widgets, widget(`w${i}`));
    expect((await h.get(`${second}?limit=3`)).body.items).toHaveLength(3);
    expect(webhook.calls).toEqual([{ count: 3, to: 'ex.io/v2' }]);
  });

  it('lets watches wait 30 s for a webhook that fails, ends them then, and refuses new ones', async () => {
    const { h, webhook } = await server();
    await h.post(widgets, widget('a'));
    const watch = await h.watch(`${second}?watch=true`);
    expect((await watch.next()).object.metadata.name).toBe('a');
    webhook.before = () => {
      throw new Error('down');
    };
    await h.post(widgets, widget('b'));
    const since = h.clock.monotonicNow();
    let end: unknown = 'open';
    void watch.next().then((event) => (end = event));
    while (end === 'open') {
      await h.clock.advance(500);
      // The webhook answers over a real socket.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(end).toBeUndefined();
    expect(h.clock.monotonicNow() - since).toBeGreaterThanOrEqual(30_000);
    const refused = await h.watch(`${second}?watch=true`);
    expect(refused.status).toBe(429);
    expect((await h.get(second)).body.message).toBe('conversion webhook for ex.io/v1, Kind=Widget failed: down');
    webhook.before = () => undefined;
    const again = await h.watch(`${second}?watch=true`);
    expect([(await again.next()).object.metadata.name, (await again.next()).object.metadata.name]).toEqual(['a', 'b']);
  });

  it('creates nothing under a definition that was deleted while its webhook was called', async () => {
    const { h, webhook } = await server();
    const { open, opened } = gate();
    webhook.before = () => opened;
    const creating = h.post(second, third('late'));
    await until(() => webhook.calls.length > 0);
    expect((await h.delete(`${crds}/widgets.ex.io`)).status).toBe(200);
    await settle();
    open();
    expect((await creating).status).toBe(404);
    webhook.before = () => undefined;
    expect((await h.post(crds, webhook.crd)).status).toBe(201);
    expect((await h.get(widgets)).body.items).toEqual([]);
  });

  it('creates nothing in a namespace that is being deleted since the webhook was called', async () => {
    const { h, webhook } = await server({ controllers: false });
    await h.post('/api/v1/namespaces', { metadata: { name: 'n' } });
    const { open, opened } = gate();
    webhook.before = () => opened;
    const creating = h.post(second.replace('/default/', '/n/'), third('late'));
    await until(() => webhook.calls.length > 0);
    await h.delete('/api/v1/namespaces/n');
    open();
    expect((await creating).body.reason).toBe('Forbidden');
  });

  it('writes over a change that came while its webhook was called only after reading it', async () => {
    const { h, webhook } = await server();
    await h.post(widgets, widget('a'));
    const { open, opened } = gate();
    let held = 0;
    webhook.before = ({ desiredAPIVersion }) => (desiredAPIVersion === 'ex.io/v1' && held++ === 0 ? opened : undefined);
    const patching = h.merge(`${second}/a`, { spec: { color: 'blue' } });
    await until(() => held > 0);
    await h.merge(`${widgets}/a`, { spec: { size: 9 } });
    open();
    expect((await patching).body.spec).toEqual({ length: 9, color: 'blue', max: 10 });
  });

  it('drops owners that it cannot tell for a failed conversion, and fails an apply', async () => {
    const { h, webhook } = await server();
    await h.post(second, third('a'));
    webhook.before = () => {
      throw new Error('down');
    };
    const patched = await h.merge(`${widgets}/a`, { spec: { size: 2 } });
    expect([patched.status, patched.body.metadata.managedFields]).toEqual([200, undefined]);
    webhook.before = () => undefined;
    await h.merge(`${second}/a`, { spec: { length: 3 } });
    expect((await h.get(`${second}/a`)).body.metadata.managedFields).toBeUndefined();
    await h.post(second, third('b'));
    webhook.before = () => {
      throw new Error('down');
    };
    const applied = await h.call(
      'PATCH',
      `${widgets}/b?fieldManager=m`,
      { ...widget('b'), spec: { color: 'x' } },
      {
        'content-type': 'application/apply-patch+yaml',
      },
    );
    expect([applied.status, applied.body.message]).toEqual([
      500,
      'conversion webhook for ex.io/v1, Kind=Widget failed: down',
    ]);
  });

  it('shows a deleted object as it was last converted, without another call', async () => {
    const { h, webhook } = await server();
    await h.post(widgets, widget('a', { labels: { app: 'x' } }));
    const watch = await h.watch(`${second}?watch=true&labelSelector=app%3Dx`);
    await watch.next();
    const calls = webhook.calls.length;
    webhook.before = () => {
      throw new Error('down');
    };
    await h.delete(`${widgets}/a`);
    const { type, object } = await watch.next();
    expect([type, object.spec.length, webhook.calls.length]).toEqual(['DELETED', 1, calls]);
    expect(Number(object.metadata.resourceVersion)).toBe(h.server.revision);
  });

  it('forgets conversions with the definition that they were made for', async () => {
    const { h, webhook } = await server();
    await h.post(widgets, widget('a'));
    await h.get(second);
    const other = structuredClone(webhook.crd);
    other.spec.versions[1].schema.openAPIV3Schema.properties.spec.properties = { length: { type: 'integer' } };
    const { metadata } = (await h.get(`${crds}/widgets.ex.io`)).body;
    expect((await h.put(`${crds}/widgets.ex.io`, { ...other, metadata })).status).toBe(200);
    expect((await h.get(second)).body.items[0].spec).toEqual({ length: 1 });
    expect(webhook.calls).toHaveLength(2);
  });

  it('keeps lists, watches and both versions in agreement, whatever the webhook does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(6), fc.nat(3), fc.boolean(), fc.nat(9)), { minLength: 5, maxLength: 25 }),
        fc.nat(),
        async (operations, seed) => {
          const { h, webhook } = await server();
          let calls = seed;
          webhook.before = async () => {
            calls++;
            await new Promise((resolve) => setTimeout(resolve, calls % 3));
          };
          const folded = [new Map<string, any>(), new Map<string, any>()];
          const watches = await Promise.all([widgets, second].map((path) => h.watch(`${path}?watch=true`)));
          await Promise.all(
            operations.map(([what, which, isSecond, value]) =>
              perform(h, { what, name: `w${which}`, isSecond, value }),
            ),
          );
          await h.post(widgets, widget('last'));
          await Promise.all(watches.map((watch, index) => fold(watch, folded[index]!)));
          const lists = await Promise.all([widgets, second].map(async (path) => (await h.get(path)).body.items));
          for (const [index, items] of lists.entries()) {
            const seen = [...folded[index]!.values()];
            expect(namesOf(seen).sort()).toEqual(namesOf(items).sort());
            for (const item of items) expect(folded[index]!.get(item.metadata.name)).toEqual(item);
          }
          expect(lists[0].map((item: any) => convertWidget(item, 'ex.io/v2').spec)).toEqual(
            lists[1].map(({ spec }: any) => spec),
          );
          for (const watch of watches) await watch.cancel();
          await h.server.stop();
        },
      ),
      { numRuns: 15 },
    );
  });
});

interface Operation {
  readonly what: number;
  readonly name: string;
  readonly isSecond: boolean;
  readonly value: number;
}

async function perform(h: Harness, { what, name, isSecond, value }: Operation): Promise<void> {
  const path = isSecond ? second : widgets;
  const spec = isSecond ? { length: value } : { size: value };
  if (what <= 2) await h.post(path, { ...widget(name, {}, spec), apiVersion: isSecond ? 'ex.io/v2' : 'ex.io/v1' });
  else if (what <= 4) await h.merge(`${path}/${name}`, { spec });
  else if (what === 5) await h.delete(`${path}/${name}`);
  else await h.get(path);
}

/** Folds the events of a watch up to the object `last`: revisions grow, and nothing comes twice. */
async function fold(watch: Awaited<ReturnType<Harness['watch']>>, state: Map<string, any>): Promise<void> {
  for (let seen = 0; ; ) {
    const { type, object } = await watch.next();
    const { name, resourceVersion } = object.metadata;
    expect(Number(resourceVersion)).toBeGreaterThan(seen);
    seen = Number(resourceVersion);
    expect(state.has(name)).toBe(type !== 'ADDED');
    if (type === 'DELETED') state.delete(name);
    else state.set(name, object);
    if (name === 'last') return;
  }
}

describe('readConverted', () => {
  const question = {
    reviewVersion: 'v1',
    uid: 'u',
    desiredApiVersion: 'ex.io/v2',
    objects: [widget('a', { namespace: 'n', uid: '1', generation: 3 })],
  };

  it('refuses or repairs whatever a webhook answers', () => {
    const pieces = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, 'ex.io/v2', 'ex.io/v1', 'Widget', 'a', 'n', '1', 'u', 'Success', 'Failed', 1, true),
        fc.array(tie('value'), { maxLength: 2 }),
        fc.dictionary(
          fc.constantFrom(
            ...['kind', 'apiVersion', 'metadata', 'name', 'namespace', 'uid', 'labels', 'annotations', 'spec'],
            ...['response', 'convertedObjects', 'result', 'status', 'message', '__proto__', 'constructor'],
          ),
          tie('value'),
          { maxKeys: 5 },
        ),
      ),
    })).value;
    fc.assert(
      fc.property(pieces, fc.boolean(), (value, isObject) => {
        const answer = isObject
          ? {
              apiVersion: 'apiextensions.k8s.io/v1',
              kind: 'ConversionReview',
              response: { uid: 'u', result: { status: 'Success' }, convertedObjects: [value] },
            }
          : value;
        let converted;
        try {
          converted = readConverted(question, structuredClone(answer));
        } catch (error) {
          expect(error).not.toBeInstanceOf(TypeError);
          return;
        }
        expect(converted).toHaveLength(1);
        const [object] = converted;
        expect([object!.apiVersion, object!.kind]).toEqual(['ex.io/v2', 'Widget']);
        expect(object!.metadata).toMatchObject({ name: 'a', namespace: 'n', uid: '1', generation: 3 });
      }),
      { numRuns: 2000 },
    );
  });
});
