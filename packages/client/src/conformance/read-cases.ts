import { isNotFound, metadataOnly, untyped } from '@kctl/apimachinery';
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { describe, expect, it } from 'vitest';
import { listAll } from '../list-all.js';
import { needs } from './case.js';
import type { SkipReasons } from './case.js';
import { configMap } from './context.js';
import type { ConformanceContext } from './context.js';

export function readCases(context: ConformanceContext, reasons: SkipReasons): void {
  const { namespace } = context;

  async function group(size: number): Promise<{ label: Record<string, string>; names: string[] }> {
    const label = { group: context.name() };
    const names: string[] = [];
    for (let i = 0; i < size; i++) {
      const name = context.name();
      await context.client.create(
        ConfigMap,
        configMap(context, name, { ...label, parity: i % 2 === 0 ? 'even' : 'odd' }),
      );
      names.push(name);
    }
    return { label, names: names.sort() };
  }

  const namesOf = (items: readonly { readonly metadata: { readonly name?: string } }[]): (string | undefined)[] =>
    items.map(({ metadata }) => metadata.name).sort();

  describe('get', () => {
    it('returns the object, with its kind', async () => {
      const name = context.name();
      const created = await context.client.create(ConfigMap, configMap(context, name));
      const read = await context.client.get(ConfigMap, { namespace, name });
      expect(read).toEqual(created);
      expect(read).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { a: '1' } });
    });

    it('fails with NotFound where there is none, and names it', async () => {
      const name = context.name();
      const failure: unknown = await context.client
        .get(ConfigMap, { namespace, name })
        .catch((error: unknown) => error);
      expect(isNotFound(failure)).toBe(true);
      expect(failure).toMatchObject({ status: { status: 'Failure', code: 404, details: { name } } });
      expect(String(failure)).toContain(name);
    });

    it('reads a cluster-scoped object by its name alone', async () => {
      const read = await context.client.get(Namespace, { name: namespace });
      expect(read).toMatchObject({ kind: 'Namespace', metadata: { name: namespace } });
      expect(read.metadata.namespace).toBeUndefined();
    });

    it('reads an object without knowing its type', async () => {
      const name = context.name();
      await context.client.create(ConfigMap, configMap(context, name));
      const read = await context.client.get(untyped(ConfigMap), { namespace, name });
      expect(read['data']).toEqual({ a: '1' });
    });

    needs(reasons, 'metadataOnly')('reads metadata alone', async () => {
      const { label, names } = await group(1);
      const [name = ''] = names;
      const read = await context.client.get(metadataOnly(ConfigMap), { namespace, name });
      expect(read.metadata).toMatchObject({ name, namespace, labels: label });
      expect(read).not.toHaveProperty('data');
      const { items } = await context.client.list(metadataOnly(ConfigMap), { namespace, labelSelector: label });
      expect(namesOf(items)).toEqual(names);
      expect(items[0]).not.toHaveProperty('data');
    });

    it('rejects with the reason of an aborted signal', async () => {
      const reason = new Error('not now');
      const signal = AbortSignal.abort(reason);
      await expect(context.client.get(Namespace, { name: namespace }, { signal })).rejects.toBe(reason);
      await expect(context.client.list(Namespace, { signal })).rejects.toBe(reason);
    });
  });

  describe('list', () => {
    it('returns items with their kind, and the version of the collection', async () => {
      const { label, names } = await group(2);
      const list = await context.client.list(ConfigMap, { namespace, labelSelector: label });
      expect(namesOf(list.items)).toEqual(names);
      for (const item of list.items) expect(item).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
      expect(list.metadata.resourceVersion).toMatch(/^[1-9][0-9]*$/);
    });

    it('selects by labels, however they are written', async () => {
      const { label, names } = await group(3);
      const key = `group=${label['group'] ?? ''}`;
      const odd = await context.client.list(ConfigMap, { namespace, labelSelector: `${key},parity=odd` });
      expect(odd.items).toHaveLength(1);
      const even = await context.client.list(ConfigMap, { namespace, labelSelector: `${key},parity notin (odd)` });
      expect(even.items).toHaveLength(2);
      const both = await context.client.list(ConfigMap, {
        namespace,
        labelSelector: {
          matchLabels: label,
          matchExpressions: [{ key: 'parity', operator: 'In', values: ['odd', 'even'] }],
        },
      });
      expect(namesOf(both.items)).toEqual(names);
    });

    it('selects by the name as a field', async () => {
      const { names } = await group(2);
      const [first = ''] = names;
      const record = await context.client.list(ConfigMap, { namespace, fieldSelector: { 'metadata.name': first } });
      expect(namesOf(record.items)).toEqual([first]);
      const text = await context.client.list(ConfigMap, { namespace, fieldSelector: `metadata.name=${first}` });
      expect(namesOf(text.items)).toEqual([first]);
    });

    needs(reasons, 'allNamespaces')('spans all namespaces where none is named', async () => {
      const { label, names } = await group(1);
      expect(namesOf((await context.client.list(ConfigMap, { labelSelector: label })).items)).toEqual(names);
      const elsewhere = await context.client.list(ConfigMap, { namespace: context.name(), labelSelector: label });
      expect(elsewhere.items).toEqual([]);
    });

    needs(reasons, 'paging')('hands out pages', async () => {
      const { label, names } = await group(5);
      const first = await context.client.list(ConfigMap, { namespace, labelSelector: label, limit: 2 });
      expect(first.items).toHaveLength(2);
      expect(first.metadata.continue).toBeTruthy();
      const second = await context.client.list(ConfigMap, {
        namespace,
        labelSelector: label,
        limit: 10,
        continue: first.metadata.continue ?? '',
      });
      expect(namesOf([...first.items, ...second.items])).toEqual(names);
      expect(second.metadata.continue ?? '').toBe('');
    });

    it('can be iterated whole, whatever the size of a page', async () => {
      const { label, names } = await group(5);
      for (const pageSize of [0, 1, 2, 5, 500]) {
        const found = [];
        for await (const item of listAll(context.client, ConfigMap, { namespace, labelSelector: label, pageSize }))
          found.push(item);
        expect(namesOf(found)).toEqual(names);
      }
    });
  });
}
