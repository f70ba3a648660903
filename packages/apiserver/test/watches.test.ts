import { settle } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { configMap, configMaps, harness, widgetCrd, widgets, widget, namesOf } from './harness.js';

const initialEvents = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

describe('WATCH', () => {
  it('§2.4-22: without a resourceVersion it begins with ADDED for what is there, then tells changes', async () => {
    const h = await harness();
    const a = await h.post(configMaps, configMap('a'));
    const watch = await h.watch(`${configMaps}?watch=1`);
    expect(await watch.take(1)).toEqual([`ADDED a@${a.body.metadata.resourceVersion}`]);
    const b = await h.post(configMaps, configMap('b'));
    expect(await watch.take(1)).toEqual([`ADDED b@${b.body.metadata.resourceVersion}`]);
  });

  it('§2.4-22: from revision N it tells only what came after N; DELETED shows the last state under the deletion', async () => {
    const h = await harness();
    const a = await h.post(configMaps, configMap('a', undefined, { x: '1' }));
    const from = a.body.metadata.resourceVersion;
    const b = await h.put(`${configMaps}/a`, configMap('a', undefined, { x: '2' }));
    await h.delete(`${configMaps}/a`);
    const watch = await h.watch(`${configMaps}?watch=1&resourceVersion=${from}`);
    expect(await watch.take(1)).toEqual([`MODIFIED a@${b.body.metadata.resourceVersion}`]);
    const deleted = await watch.next();
    expect(deleted.type).toBe('DELETED');
    expect(deleted.object.data).toEqual({ x: '2' });
    expect(Number(deleted.object.metadata.resourceVersion)).toBeGreaterThan(Number(b.body.metadata.resourceVersion));
  });

  it('§2.4-23: leaving a selector is DELETED with the old object and the new revision, entering it is ADDED', async () => {
    const h = await harness();
    await h.post(configMaps, configMap('a', { l: 'a' }, { x: '1' }));
    const watch = await h.watch(`${configMaps}?watch=1&labelSelector=l%3Da`);
    await watch.take(1);
    const left = await h.put(`${configMaps}/a`, configMap('a', { l: 'b' }, { x: '2' }));
    const event = await watch.next();
    expect([
      event.type,
      event.object.metadata.labels,
      event.object.data,
      event.object.metadata.resourceVersion,
    ]).toEqual(['DELETED', { l: 'a' }, { x: '1' }, left.body.metadata.resourceVersion]);
    const entered = await h.put(`${configMaps}/a`, configMap('a', { l: 'a' }));
    const stayed = await h.put(`${configMaps}/a`, configMap('a', { l: 'a', more: '1' }));
    expect(await watch.take(2)).toEqual([
      `ADDED a@${entered.body.metadata.resourceVersion}`,
      `MODIFIED a@${stayed.body.metadata.resourceVersion}`,
    ]);
  });

  it('§2.4-23: field selectors of a custom resource make the same transitions', async () => {
    const h = await harness();
    await h.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgetCrd);
    const watch = await h.watch(`${widgets}?watch=1&fieldSelector=spec.color%3Dred`);
    await h.post(widgets, widget('a', {}, { size: 1, color: 'red' }));
    await h.merge(`${widgets}/a`, { spec: { color: 'blue' } });
    await h.merge(`${widgets}/a`, { spec: { color: 'red' } });
    expect((await watch.take(3)).map((line) => line.split('@')[0])).toEqual(['ADDED a', 'DELETED a', 'ADDED a']);
  });

  it('§2.4-24: an expired watch gets 200 and one ERROR event', async () => {
    const h = await harness();
    const a = await h.post(configMaps, configMap('a'));
    await h.post(configMaps, configMap('b'));
    h.server.compact();
    const watch = await h.watch(`${configMaps}?watch=1&resourceVersion=${a.body.metadata.resourceVersion}`);
    expect(watch.status).toBe(200);
    const error = await watch.next();
    expect(error).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } });
    expect(error.object.message).toMatch(/^too old resource version: \d+ \(\d+\)$/);
    expect(await watch.next()).toBeUndefined();
  });

  it('§2.4-24: revision 1 of a running server has expired', async () => {
    const h = await harness();
    const watch = await h.watch(`${configMaps}?watch=1&resourceVersion=1`);
    expect((await watch.next()).object.code).toBe(410);
  });

  it('§2.4-24: a watch from the future is silent', async () => {
    const h = await harness();
    const watch = await h.watch(`${configMaps}?watch=1&resourceVersion=${h.server.revision + 2}`);
    await h.post(configMaps, configMap('a'));
    await h.post(configMaps, configMap('b'));
    await h.post(configMaps, configMap('c'));
    expect((await watch.pending()).map((event) => event.object.metadata.name)).toEqual(['c']);
  });

  it('§2.4-25: bookmarks come each interval, only where the revision moved on, and before the timeout', async () => {
    const h = await harness();
    const from = h.server.revision;
    const watch = await h.watch(
      `${configMaps}?watch=1&resourceVersion=${from}&allowWatchBookmarks=true&timeoutSeconds=100`,
    );
    await settle();
    await h.clock.advance(60_000);
    expect(await watch.pending()).toEqual([]);
    await h.post('/api/v1/namespaces', { metadata: { name: 'elsewhere' } });
    await settle();
    await h.clock.advance(38_000);
    expect(await watch.pending()).toEqual([
      {
        type: 'BOOKMARK',
        object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: String(h.server.revision) } },
      },
    ]);
    await h.clock.advance(2000);
    expect(await watch.next()).toBeUndefined();
  });

  it('§2.4-26: a watch list sends what is there, then a bookmark that says so, then changes', async () => {
    const h = await harness();
    await h.post(configMaps, configMap('a'));
    await h.post(configMaps, configMap('b'));
    const revision = h.server.revision;
    const watch = await h.watch(`${configMaps}?${initialEvents}`);
    expect((await watch.take(2)).map((line) => line.split('@')[0])).toEqual(['ADDED a', 'ADDED b']);
    const end = await watch.next();
    expect(end.type).toBe('BOOKMARK');
    expect(end.object.metadata).toEqual({
      resourceVersion: String(revision),
      annotations: { 'k8s.io/initial-events-end': 'true' },
    });
    await h.delete(`${configMaps}/a`);
    expect((await watch.next()).type).toBe('DELETED');
  });

  it('§2.4-26: what must not be combined answers 422', async () => {
    const h = await harness();
    for (const query of [
      'watch=1&sendInitialEvents=true',
      'watch=1&resourceVersionMatch=NotOlderThan',
      'watch=1&continue=abc',
      'sendInitialEvents=true',
    ]) {
      const answer = await h.get(`${configMaps}?${query}`);
      expect([query, answer.status, answer.body.reason]).toEqual([query, 422, 'Invalid']);
    }
  });

  it('§2.4-26: a watch list from the future ends with an ERROR event 504', async () => {
    const h = await harness();
    const watch = await h.watch(`${configMaps}?${initialEvents}&resourceVersion=99999`);
    expect(await watch.next()).toMatchObject({ type: 'ERROR', object: { code: 504, reason: 'Timeout' } });
    expect(await watch.next()).toBeUndefined();
  });

  it('§2.4-27: timeoutSeconds ends the stream properly, and nothing is left behind', async () => {
    const h = await harness();
    const before = h.clock.pendingTimers;
    const watch = await h.watch(`${configMaps}?watch=1&timeoutSeconds=5&allowWatchBookmarks=1`);
    await settle();
    expect(h.server.watchers).toBe(1);
    // As upstream, a watch from no revision asks for initial events, and with bookmarks for their end.
    expect((await watch.next()).object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
    await h.clock.advance(5000);
    expect(await watch.next()).toBeUndefined();
    await settle();
    expect([h.server.watchers, h.clock.pendingTimers]).toEqual([0, before]);
    expect((await h.get(`${configMaps}?watch=1&timeoutSeconds=abc`)).status).toBe(400);
  });

  it('§2.4-28: a Table watch names its columns in the first event only', async () => {
    const h = await harness();
    await h.post(configMaps, configMap('a'));
    const watch = await h.watch(`${configMaps}?watch=1`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    const first = await watch.next();
    expect(first.object.kind).toBe('Table');
    expect(first.object.columnDefinitions.length).toBeGreaterThan(0);
    await h.post(configMaps, configMap('b'));
    expect((await watch.next()).object.columnDefinitions).toBeNull();
  });

  it('§2.4-29: a list and a watch from its revision together lose nothing and double nothing', async () => {
    const h = await harness();
    for (let i = 0; i < 1200; i++) void h.post(configMaps, configMap(`c-${i}`));
    const list = await h.get(configMaps);
    const watch = await h.watch(`${configMaps}?watch=1&resourceVersion=${list.body.metadata.resourceVersion}`);
    const seen = new Set<string>(namesOf(list.body.items));
    let revision = Number(list.body.metadata.resourceVersion);
    while (seen.size < 1200) {
      const event = await watch.next();
      expect(seen.has(event.object.metadata.name)).toBe(false);
      expect(Number(event.object.metadata.resourceVersion)).toBeGreaterThan(revision);
      revision = Number(event.object.metadata.resourceVersion);
      seen.add(event.object.metadata.name);
    }
  });

  it('§2.4-29: a consumer that does not read is cut, and others go on', async () => {
    const h = await harness({ maxWatchBufferBytes: 10_000 });
    const slow = await h.server.fetch(`${configMaps}?watch=1`);
    const quick = await h.watch(`${configMaps}?watch=1`);
    for (let i = 0; i < 20; i++) {
      await h.post(configMaps, configMap(`c-${i}`, undefined, { x: 'x'.repeat(1000) }));
      await settle();
      expect((await quick.next()).object.metadata.name).toBe(`c-${i}`);
    }
    await expect(slow.text()).rejects.toThrow();
    expect(h.server.watchers).toBe(1);
  });

  it('§2.2-28: many watchers with different selectors each see their own part', async () => {
    const h = await harness();
    const watches = await Promise.all(
      Array.from({ length: 10 }, (_, i) => h.watch(`/api/v1/configmaps?watch=1&labelSelector=n%3D${i}`)),
    );
    await settle();
    for (let i = 0; i < 10; i++) await h.post(configMaps, configMap(`c-${i}`, { n: String(i) }));
    for (const [i, watch] of watches.entries()) {
      const events = await watch.pending();
      expect(events.map((event) => event.object.metadata.name)).toEqual([`c-${i}`]);
    }
  });

  it('§2.12-74: a graceful stop ends watches properly', async () => {
    const h = await harness();
    const watch = await h.watch(`${configMaps}?watch=1`);
    await h.server.stop();
    expect(await watch.next()).toBeUndefined();
    expect((await h.get(configMaps)).status).toBe(503);
  });
});
