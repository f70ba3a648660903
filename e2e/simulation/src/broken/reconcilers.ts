import { hasFinalizer, isDeleting } from '@kctl/apimachinery';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { addFinalizer, createOrUpdate, ignoreNotFound, removeFinalizer, setControllerReference } from '@kctl/runtime';
import type { SimulateOptions } from '@kctl/simulation';
import { sleep } from '@kctl/wait';
import { namespace, Widget, widgetOperator } from './widget.js';

/** A mistake that authors make, the rules of which one must find it, and words of the advice. */
export interface Broken {
  readonly options: SimulateOptions;
  readonly rules: readonly string[];
  readonly advice: RegExp;
}

const finalizer = 'example.com/cleanup';

/** The twelve. */
export const broken: Readonly<Record<string, Broken>> = {
  'create with generateName on each run': {
    rules: ['creates-again', 'differs-from-undisturbed', 'write-storm'],
    advice: /generateName|done twice|loop writes/,
    options: widgetOperator(({ client }) => ({
      widget: async (key) => {
        const widget = await ignoreNotFound(client.get(Widget, key));
        if (widget === undefined || isDeleting(widget)) return;
        const metadata = { namespace, generateName: `${key.name}-` };
        const child = { metadata, data: {} };
        setControllerReference(widget, Widget, child);
        await client.create(ConfigMap, child);
      },
    })),
  },
  'status written on each run': {
    rules: ['wakes-itself', 'writes-nothing-new', 'write-storm'],
    advice: /checkedAt|loop writes/,
    options: widgetOperator(({ client, clock }) => ({
      widget: async (key) => {
        const widget = await ignoreNotFound(client.get(Widget, key));
        if (widget === undefined) return;
        await sleep(1000, { clock });
        const checkedAt = new Date(clock.now()).toISOString();
        await client.status(Widget).patch(key, { type: 'merge', body: { status: { checkedAt } } });
      },
    })),
  },
  'owner reference forgotten': {
    rules: ['orphan'],
    advice: /setControllerReference/,
    options: widgetOperator(({ client }) => ({
      widget: async (key) => {
        const widget = await ignoreNotFound(client.get(Widget, key));
        if (widget === undefined) return;
        const size = String(widget.spec.size);
        await createOrUpdate(client, ConfigMap, key, { mutate: (draft) => void (draft.data = { size }) });
      },
    })),
  },
  'finalizer removed first': {
    rules: ['orphan'],
    advice: /before the finalizer is removed/,
    options: widgetOperator(({ client }) => ({
      widget: async (key) => {
        const widget = await ignoreNotFound(client.get(Widget, key));
        if (widget === undefined) return;
        if (isDeleting(widget)) {
          await removeFinalizer(client, Widget, widget, finalizer);
          await ignoreNotFound(client.delete(ConfigMap, key));
          return;
        }
        await addFinalizer(client, Widget, widget, finalizer);
        await createOrUpdate(client, ConfigMap, key, { mutate: () => undefined });
      },
    })),
  },
  'child name from a counter in memory': {
    rules: ['differs-from-undisturbed', 'creates-again'],
    advice: /memory that a crash lost|counter/,
    options: widgetOperator(({ client }) => {
      let count = 0;
      const names = new Map<string, string>();
      return {
        widget: async (key) => {
          const widget = await ignoreNotFound(client.get(Widget, key));
          if (widget === undefined || isDeleting(widget)) return;
          const name = names.get(key.name) ?? `child-${key.name}-${++count}`;
          names.set(key.name, name);
          await createOrUpdate(
            client,
            ConfigMap,
            { namespace, name },
            {
              mutate: (draft) => setControllerReference(widget, Widget, draft),
            },
          );
        },
      };
    }),
  },
  'cached object mutated through a cast': {
    rules: ['reconcile-fails'],
    advice: /mutableCopy/,
    options: widgetOperator(({ client }) => ({
      widget: async (key) => {
        const widget = await ignoreNotFound(client.get(Widget, key));
        if (widget === undefined) return;
        (widget as unknown as Widget).spec.size = 3;
        await client.update(Widget, widget);
      },
    })),
  },
  'requeue for ever': {
    rules: ['requeues-for-ever'],
    advice: /asks (to be retried|for a run)/,
    options: widgetOperator(({ client }) => ({
      widget: async (key) => {
        await ignoreNotFound(client.get(Widget, key));
        return { backoff: true };
      },
    })),
  },
  'ignoring AbortSignal': {
    rules: ['piles-up', 'stop-hangs', 'stop-fails', 'left-behind'],
    advice: /signal|left|did not/,
    options: widgetOperator(({ client, clock }) => ({
      widget: async (key) => {
        await ignoreNotFound(client.get(Widget, key));
        await sleep(3_600_000, { clock });
      },
    })),
  },
  'trusting event types': {
    rules: ['differs-from-undisturbed', 'convergence', 'orphan'],
    advice: /done twice, never|memory|delete/,
    options: widgetOperator(({ client }) => ({
      widget: async (key, { reasons }) => {
        const isCreated = reasons.some((reason) => reason.includes('create'));
        const widget = await ignoreNotFound(client.get(Widget, key));
        if (widget === undefined || isDeleting(widget) || !isCreated) return;
        const child = { metadata: { ...key } };
        setControllerReference(widget, Widget, child);
        await client.create(ConfigMap, child);
      },
    })),
  },
  'list with a stale index': {
    rules: ['differs-from-undisturbed', 'creates-again'],
    advice: /list that may be behind|done twice/,
    options: widgetOperator(({ client, clock }) => {
      let seen: readonly { readonly owner: string }[] = [];
      let seenAt = -Infinity;
      return {
        widget: async (key) => {
          const widget = await ignoreNotFound(client.get(Widget, key));
          if (widget === undefined || isDeleting(widget)) return;
          if (clock.monotonicNow() - seenAt > 60_000) {
            const { items } = await client.list(ConfigMap, { namespace });
            seen = items.map(({ data }) => ({ owner: data?.['owner'] ?? '' }));
            seenAt = clock.monotonicNow();
          }
          if (seen.some(({ owner }) => owner === key.name)) return;
          const child = { metadata: { namespace, generateName: `${key.name}-` }, data: { owner: key.name } };
          setControllerReference(widget, Widget, child);
          await client.create(ConfigMap, child);
        },
      };
    }),
  },
  'two controllers that fight over a field': {
    rules: ['controllers-fight', 'write-storm'],
    advice: /let one of them own|loop writes/,
    options: widgetOperator(({ client, clock }) => {
      const set = (size: number) => async (key: { readonly namespace: string; readonly name: string }) => {
        const widget = await ignoreNotFound(client.get(Widget, key));
        if (widget === undefined || widget.status?.size === size) return;
        await sleep(2000, { clock });
        await client.status(Widget).patch(key, { type: 'merge', body: { status: { size } } });
      };
      return { large: set(10), small: set(1) };
    }),
  },
  'cleanup that is not idempotent': {
    rules: ['deletion-stuck', 'reconcile-fails', 'differs-from-undisturbed'],
    advice: /cleanup must succeed|not found/,
    options: widgetOperator(({ client }) => ({
      widget: async (key) => {
        const widget = await ignoreNotFound(client.get(Widget, key));
        if (widget === undefined) return;
        if (!isDeleting(widget)) {
          await addFinalizer(client, Widget, widget, finalizer);
          await createOrUpdate(client, ConfigMap, key, { mutate: () => undefined });
          return;
        }
        if (!hasFinalizer(widget, finalizer)) return;
        await client.delete(ConfigMap, key); // fails where an earlier run did it
        await removeFinalizer(client, Widget, widget, finalizer);
      },
    })),
  },
};
