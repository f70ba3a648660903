// What was read has its identity by type, and every verb takes an object or a key: for each verb × what a call named.
import {
  defineKind,
  keyOf,
  metadataOnly,
  mutableCopy,
  setControllerReference,
  stripped,
  untyped,
} from '@kctl/apimachinery';
import type {
  KeyOrObject,
  Kind,
  KindWithInput,
  KubeObject,
  NamespacedKey,
  ObjectKey,
  PersistedObject,
} from '@kctl/apimachinery';
import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import { Job } from '@kctl/apimachinery/kinds/batch/v1';
import { ConfigMap, Namespace, Node, Pod, ServiceAccount } from '@kctl/apimachinery/kinds/core/v1';
import { describe, expectTypeOf, it } from 'vitest';
import {
  addFinalizer,
  apply,
  applyIfChanged,
  createOrPatch,
  createOrUpdate,
  exists,
  inNamespace,
  intercept,
  listAll,
  mergeFrom,
  mergePatch,
  removeFinalizer,
  waitFor,
} from '../src/index.js';
import type { Client, ReadObject, SubResourceBodies, WatchingClient } from '../src/index.js';

/** User code: no more than this. */
interface Widget extends KubeObject {
  spec: { size: number };
  status?: { ready: number };
}
interface Region extends KubeObject {
  spec?: { zones: string[] };
}
const Widget = defineKind<Widget>()({ group: 'example.com', version: 'v1', kind: 'Widget', scope: 'Namespaced' });
const Region = defineKind<Region>()({ group: 'example.com', version: 'v1', kind: 'Region', scope: 'Cluster' });
/** As a kind with a schema has it: `size` has a default. */
interface WidgetInput extends KubeObject {
  spec: { size?: number; colour: string };
}
interface Defaulted extends KubeObject {
  spec: { size: number; colour: string };
}
const Defaulted: Kind<Defaulted, 'Namespaced'> & KindWithInput<WidgetInput> = defineKind<Defaulted>()({
  group: 'example.com',
  version: 'v1',
  kind: 'Defaulted',
  scope: 'Namespaced',
});
const Loose = untyped(Widget);
const LooseRegion = untyped(Region);
const Lean = stripped(Widget);
const Meta = metadataOnly(Widget);
const MetaRegion = metadataOnly(Region);

declare const client: Client;
declare const watching: WatchingClient;
const key = { namespace: 'ns', name: 'a' };
const patch = mergePatch({});

/** Type-checked, never run. */
const compiled = (_work: () => Promise<unknown>): void => undefined;

describe('what was read', () => {
  it('has name, uid, resourceVersion and namespace by type, whichever verb returned it', () => {
    compiled(async () => {
      const objects = [
        await client.get(Widget, key),
        ...(await client.list(Widget)).items,
        await client.create(Widget, { metadata: key, spec: { size: 1 } }),
        await client.update(Widget, { metadata: key, spec: { size: 1 } }),
        await client.patch(Widget, key, patch),
        await client.status(Widget).patch(key, patch),
        await client.subResource(Widget, 'status').get(key),
        await apply(client, Widget, { metadata: key }),
        (await applyIfChanged(client, Widget, { metadata: key }, { fieldOwner: 'o' })).object,
        (await createOrUpdate(client, Widget, key, { mutate: () => undefined })).object,
        (await createOrPatch(client, Widget, key, { mutate: () => undefined })).object,
      ];
      for await (const object of listAll(client, Widget)) objects.push(object);
      for (const { metadata } of objects)
        expectTypeOf(metadata).toExtend<NamespacedKey & { readonly uid: string; readonly resourceVersion: string }>();
    });
  });

  it('has them in every shape: untyped, stripped, metadata alone, and as it comes from a watch', () => {
    compiled(async () => {
      for (const { metadata } of [
        await client.get(Loose, key),
        await client.get(Lean, key),
        await client.get(Meta, key),
        ...(await client.list(Meta)).items,
      ])
        expectTypeOf(metadata).toExtend<NamespacedKey & { readonly uid: string; readonly resourceVersion: string }>();
      for await (const event of await watching.watch(Widget))
        if (event.type === 'MODIFIED') expectTypeOf(event.object.metadata.namespace).toEqualTypeOf<string>();
      const draft = mutableCopy(await client.get(Widget, key));
      expectTypeOf(draft.metadata.name).toEqualTypeOf<string>();
      expectTypeOf(draft.metadata.labels).toEqualTypeOf<Record<string, string> | undefined>();
      await client.update(Widget, draft);
    });
  });

  it('has no namespace by type where the kind is cluster-scoped', () => {
    compiled(async () => {
      for (const { metadata } of [
        await client.get(Region, { name: 'a' }),
        await client.get(LooseRegion, { name: 'a' }),
        await client.get(MetaRegion, { name: 'a' }),
      ]) {
        expectTypeOf(metadata.name).toEqualTypeOf<string>();
        expectTypeOf(metadata.uid).toEqualTypeOf<string>();
        expectTypeOf(metadata.namespace).toEqualTypeOf<string | undefined>();
      }
    });
  });

  it('is more than what is made: an object to create needs no identity', () => {
    compiled(async () => {
      await client.create(Widget, { metadata: { generateName: 'w-', namespace: 'ns' }, spec: { size: 1 } });
      const made: Widget = { metadata: { name: 'a' }, spec: { size: 1 } };
      await client.create(Widget, made);
      const read: PersistedObject<typeof Widget> = await client.create(Widget, made);
      expectTypeOf(read).toExtend<Widget>();
      // @ts-expect-error — what was made is not known to the server: it has no uid
      const wrong: ReadObject<typeof Widget> = made;
      return wrong;
    });
  });
});

describe('every verb', () => {
  it('takes a name that was declared for the kind, for every form of it', () => {
    compiled(async () => {
      const named: KeyOrObject<typeof Job> = await client.get(Job, key);
      const meta: KeyOrObject<typeof Meta> = key;
      await client.get(metadataOnly(Job), named);
      await client.patch(metadataOnly(Job), named, patch);
      await client.delete(metadataOnly(Job), named);
      await waitFor(client, metadataOnly(Job), named, { until: exists() });
      await client.get(Widget, meta);
    });
  });

  it('takes an object as read or a key, of a namespaced kind', () => {
    compiled(async () => {
      const object = await client.get(Job, key);
      const item = (await client.list(Job)).items[0]!;
      const created = await client.create(Job, { metadata: key });
      const metadata = await client.get(metadataOnly(Job), key);
      for (const named of [key, object, item, created, metadata, keyOf(object), keyOf(item), keyOf(metadata)]) {
        await client.get(Job, named);
        await client.get(metadataOnly(Job), named);
        await client.patch(Job, named, patch);
        await client.delete(Job, named);
        await client.status(Job).patch(named, patch);
        const scale = client.subResource<typeof Job, { spec: object }>(Job, 'scale');
        await scale.get(named);
        await scale.create(named, { spec: {} });
        await scale.update(named, { spec: {} });
        await scale.patch(named, patch);
        await createOrUpdate(client, Job, named, { mutate: () => undefined });
        await createOrPatch(client, Job, named, { mutate: () => undefined });
        await waitFor(client, Job, named, { until: exists() });
        await inNamespace(client, 'ns').delete(Job, named);
      }
      await client.update(Job, object);
      await client.update(Job, item);
      await client.status(Job).update(item);
      await addFinalizer(client, Job, item, 'a/b');
      await removeFinalizer(client, Job, created, 'a/b');
      await inNamespace(client, 'ns').get(Job, { name: 'a' });
    });
  });

  it('takes an object as read or a key, of a cluster-scoped kind', () => {
    compiled(async () => {
      const object = await client.get(Node, { name: 'a' });
      for (const named of [{ name: 'a' }, object, keyOf(object), (await client.list(Node)).items[0]!]) {
        await client.get(Node, named);
        await client.patch(Node, named, patch);
        await client.delete(Node, named);
        await client.status(Node).patch(named, patch);
        await client.subResource(Node, 'proxy').get(named);
      }
      await client.delete(Region, (await client.list(LooseRegion)).items[0]!);
    });
  });

  it('refuses what does not name an object', () => {
    compiled(async () => {
      // @ts-expect-error — a namespaced kind needs a namespace
      await client.delete(Job, { name: 'a' });
      // @ts-expect-error — also in an object
      await client.delete(Job, { metadata: { name: 'a' } });
      // @ts-expect-error — an object of a cluster-scoped kind has none
      await client.delete(Job, await client.get(Node, { name: 'a' }));
      // @ts-expect-error — nor has its key
      await client.delete(Job, keyOf(await client.get(Namespace, { name: 'a' })));
      // @ts-expect-error — a name is no key: which namespace?
      await client.delete(Job, 'a');
      // @ts-expect-error — a text is parsed with parseKey
      await client.delete(Node, 'a');
      const made: Job = { metadata: key };
      // @ts-expect-error — what was made need not have a name
      await client.delete(Job, made);
      // @ts-expect-error — nor need its key have a namespace
      await client.delete(Job, keyOf(made));
    });
  });

  it('hands hooks a key, whatever the caller passed', () => {
    compiled(() =>
      Promise.resolve(
        intercept(client, (next) => ({
          delete: (kind, at, options) => {
            expectTypeOf(at.name).toEqualTypeOf<string>();
            return next.delete(kind, at, options);
          },
        })),
      ),
    );
  });
});

describe('keyOf', () => {
  it('has a namespace by type where the object has one', () => {
    compiled(async () => {
      expectTypeOf(keyOf(await client.get(Pod, key))).toEqualTypeOf<NamespacedKey>();
      expectTypeOf(keyOf(mutableCopy(await client.get(Pod, key)))).toEqualTypeOf<NamespacedKey>();
      expectTypeOf(keyOf(await client.get(Node, { name: 'a' }))).toEqualTypeOf<ObjectKey>();
      const made: Widget = { metadata: {}, spec: { size: 1 } };
      expectTypeOf(keyOf(made)).toEqualTypeOf<ObjectKey>();
    });
  });
});

describe('mergeFrom', () => {
  it('takes what changed inline, of a frozen object, of a copy and of what a write returned', () => {
    compiled(async () => {
      const w = await client.get(Widget, key);
      mergeFrom(w, { ...w, status: { ready: 1 } });
      mergeFrom(w, { ...w, metadata: { ...w.metadata, labels: { a: 'b' } } });
      const { status: _status, ...rest } = w;
      mergeFrom(w, rest);
      const draft = mutableCopy(w);
      mergeFrom(w, draft);
      mergeFrom(draft, w);
      const deployment = await client.get(Deployment, key);
      mergeFrom(deployment, { ...deployment, status: {} });
      const created = await client.create(ConfigMap, { metadata: key });
      mergeFrom(created, { ...created, data: { a: 'b' } });
      const loose = await client.get(Loose, key);
      mergeFrom(loose, { ...loose, spec: { size: 2 } });
      const meta = await client.get(Meta, key);
      mergeFrom(meta, { ...meta, metadata: { ...meta.metadata, labels: {} } });
      const desired: Widget = { metadata: key, spec: { size: 3 } };
      mergeFrom(w, desired);
      mergeFrom(desired, { ...desired, spec: { size: 4 } });
    });
  });

  it('refuses another kind of object', () => {
    compiled(async () => {
      const w = await client.get(Widget, key);
      // @ts-expect-error — a Pod is no Widget
      mergeFrom(w, await client.get(Pod, key));
      // @ts-expect-error — the size is a number
      mergeFrom(w, { ...w, spec: { size: '1' } });
      // @ts-expect-error — there is no such field
      mergeFrom(w, { ...w, stats: {} });
    });
  });
});

describe('user code', () => {
  it('passes what it read to what it wrote for objects that are made', () => {
    compiled(async () => {
      const read = await client.get(Widget, key);
      const sizeOf = (widget: Pick<Widget, 'spec'>): number => widget.spec.size;
      sizeOf(read);
      const child: Pod = { metadata: { namespace: read.metadata.namespace, name: `${read.metadata.name}-0` } };
      setControllerReference(read, Widget, child);
      const generic = async <T extends KubeObject>(kind: ReturnType<typeof defineKind<T>>): Promise<string> =>
        (await client.get(kind, key)).metadata.name;
      await generic(Widget);
    });
  });
});

describe('the draft of createOrUpdate and createOrPatch', () => {
  it('may lack what has a default, and is checked otherwise', () => {
    compiled(async () => {
      const owner = await client.get(Widget, key);
      const { object } = await createOrUpdate(client, Defaulted, key, {
        mutate: (draft) => {
          draft.spec = { colour: 'blue' };
          setControllerReference(owner, Widget, draft);
        },
      });
      expectTypeOf(object.spec.size).toEqualTypeOf<number>();
      await createOrPatch(client, Defaulted, key, { mutate: (draft) => void (draft.spec = { colour: 'blue' }) });
      await createOrUpdate(client, Defaulted, key, {
        mutate: (draft) => {
          // @ts-expect-error: what has no default is required
          draft.spec = { size: 1 };
        },
      });
      await createOrUpdate(client, Widget, key, {
        mutate: (draft) => {
          // @ts-expect-error: a kind without a schema has no defaults
          draft.spec = {};
        },
      });
    });
  });

  it('is taken by a function of the object as it is read, too', () => {
    const grow = (draft: Defaulted): void => void (draft.spec.size += 1);
    compiled(() => createOrUpdate(client, Defaulted, key, { mutate: grow }));
  });
});

describe('subresources with bodies of their own', () => {
  it('have the type of their name, in what is sent and what is answered', () => {
    compiled(async () => {
      type Bodies = SubResourceBodies;
      expectTypeOf(await client.subResource(Deployment, 'scale').get(key)).toEqualTypeOf<Bodies['scale']>();
      const token = await client
        .subResource(ServiceAccount, 'token')
        .create(key, { metadata: {}, spec: { audiences: ['shop'], expirationSeconds: 600 } });
      expectTypeOf(token).toEqualTypeOf<Bodies['token']>();
      const eviction = { metadata: key, deleteOptions: { gracePeriodSeconds: 0 } };
      expectTypeOf(await client.subResource(Pod, 'eviction').create(key, eviction)).toEqualTypeOf<Bodies['eviction']>();
      const binding = { metadata: key, target: { kind: 'Node', name: 'one' } };
      expectTypeOf(await client.subResource(Pod, 'binding').create(key, binding)).toEqualTypeOf<Bodies['binding']>();
      // @ts-expect-error: a binding has a target
      await client.subResource(Pod, 'binding').create(key, { metadata: key });
      // @ts-expect-error: seconds are a number
      await client.subResource(ServiceAccount, 'token').create(key, { metadata: {}, spec: { expirationSeconds: '5' } });
    });
  });
});
