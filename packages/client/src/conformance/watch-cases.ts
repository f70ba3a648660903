import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { describe, expect, it } from 'vitest';
import type { WatchEvent } from '../client.js';
import { mergePatch } from '../patch.js';
import type { SkipReasons } from './case.js';
import { configMap } from './context.js';
import type { ConformanceContext } from './context.js';

export function watchCases(context: ConformanceContext, _reasons: SkipReasons): void {
  const { namespace } = context;
  type Event = WatchEvent<ConfigMap>;
  const brief = (event: Event): string =>
    'object' in event ? `${event.type} ${event.object.data?.['a'] ?? ''}` : event.type;

  async function next(events: AsyncIterator<Event>): Promise<Event> {
    for (;;) {
      const result = await events.next();
      if (result.done === true) throw new Error('the watch ended');
      if (result.value.type !== 'BOOKMARK') return result.value;
    }
  }

  describe('watch', () => {
    it('tells what happens after a version, in order, and nothing before', async () => {
      const name = context.name();
      const label = { group: context.name() };
      await context.client.create(ConfigMap, configMap(context, context.name(), label));
      const { metadata } = await context.client.list(ConfigMap, {
        namespace,
        labelSelector: label,
        live: true,
      });
      await using stream = await context.client.watch(ConfigMap, {
        namespace,
        labelSelector: label,
        resourceVersion: metadata.resourceVersion ?? '',
      });
      await context.client.create(ConfigMap, configMap(context, context.name(), { group: 'other' }));
      await context.client.create(ConfigMap, configMap(context, name, label));
      await context.client.patch(ConfigMap, { namespace, name }, mergePatch({ data: { a: '2' } }));
      await context.client.delete(ConfigMap, { namespace, name });
      const events = stream[Symbol.asyncIterator]();
      const seen = [brief(await next(events)), brief(await next(events)), brief(await next(events))];
      expect(seen).toEqual(['ADDED 1', 'MODIFIED 2', 'DELETED 2']);
    });

    it('begins with what is there where no version is given', async () => {
      const label = { group: context.name() };
      const created = await context.client.create(ConfigMap, configMap(context, context.name(), label));
      await using stream = await context.client.watch(ConfigMap, { namespace, labelSelector: label });
      const event = await next(stream[Symbol.asyncIterator]());
      expect(event).toMatchObject({
        type: 'ADDED',
        object: { kind: 'ConfigMap', metadata: { uid: created.metadata.uid } },
      });
    });

    it('shows an object that ceases to match as deleted, and one that begins to as added', async () => {
      const name = context.name();
      const label = { group: context.name() };
      await context.client.create(ConfigMap, configMap(context, name));
      const { metadata } = await context.client.list(ConfigMap, { namespace, live: true });
      await using stream = await context.client.watch(ConfigMap, {
        namespace,
        labelSelector: label,
        resourceVersion: metadata.resourceVersion ?? '',
      });
      await context.client.patch(ConfigMap, { namespace, name }, mergePatch({ metadata: { labels: label } }));
      await context.client.patch(ConfigMap, { namespace, name }, mergePatch({ metadata: { labels: null } }));
      const events = stream[Symbol.asyncIterator]();
      expect([(await next(events)).type, (await next(events)).type]).toEqual(['ADDED', 'DELETED']);
    });

    it('ends when its signal is aborted', async () => {
      const controller = new AbortController();
      const stream = await context.client.watch(ConfigMap, {
        namespace,
        labelSelector: { group: context.name() },
        signal: controller.signal,
      });
      const pending = stream[Symbol.asyncIterator]().next();
      const reason = new Error('enough');
      controller.abort(reason);
      const outcome: unknown = await pending.then(
        ({ done }) => done,
        (error: unknown) => error,
      );
      expect([true, reason]).toContain(outcome);
    });

    it('ends when it is disposed', async () => {
      const stream = await context.client.watch(ConfigMap, { namespace, labelSelector: { group: context.name() } });
      const pending = stream[Symbol.asyncIterator]().next();
      await stream[Symbol.asyncDispose]();
      const hasEnded = await pending.then(
        ({ done }) => done === true,
        () => true,
      );
      expect(hasEnded).toBe(true);
    });

    it('does not begin when the signal is aborted', async () => {
      const reason = new Error('not now');
      await expect(context.client.watch(ConfigMap, { namespace, signal: AbortSignal.abort(reason) })).rejects.toBe(
        reason,
      );
    });
  });
}
