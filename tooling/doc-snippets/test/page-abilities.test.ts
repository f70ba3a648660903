// What the pages that compare state about kctl: each row has a test that proves it, each name in code exists, each command
// of kctl is one, and a page that states that something is missing is known here.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** The cells of the rows of a page's tables, without their heads. */
function rowsOf(page: string): string[][] {
  const lines = read(page).split('\n');
  return lines
    .filter(
      (line, index) =>
        line.startsWith('|') && !/^\|[-:| ]+\|$/.test(line) && !/^\|[-:| ]+\|$/.test(lines[index + 1] ?? ''),
    )
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
}

/** The first cell of each row of a table about kctl, its cell, and the test that proves it. */
const proofs: Record<string, Record<string, readonly [statement: string, test: string]>> = {
  'docs/why.md': {
    'duplicate and concurrent work': [
      '[one slot per key](/concepts/life-of-a-key): events merge, one worker per key, back-off per key',
      'packages/workqueue/src/slot-table.test.ts',
    ],
    'stale reads': [
      '[read your own writes](/packages/client-delegating) by default, for get and list',
      'packages/runtime/test/read-your-writes.test.ts',
    ],
    'hung watches': [
      'every list and watch has an idle deadline; [the informer](/packages/informer) reports what it is doing and why',
      'packages/informer/test/server-faults.test.ts',
    ],
    'corrupted caches': [
      'cached objects are readonly by type and frozen in fact; no copy on read',
      'packages/cache-index/test/model.test.ts',
    ],
    'two leaders': [
      '[fenced leadership](/concepts/leadership): deadlines on the monotonic clock, writes of a lost term refused',
      'packages/runtime/test/fence.test.ts',
    ],
    shutdown: [
      '[one order](/concepts/start-and-stop), one timeout, stragglers named',
      'packages/manager/test/manager.test.ts',
    ],
    tests: [
      '[an API server in the test process](/guides/testing), with faults and a fake clock',
      'packages/apiserver/test/faults.test.ts',
    ],
    observability: [
      'metric names and log keys of controller-runtime and client-go',
      'packages/controller/test/observer.test.ts',
    ],
  },
  'docs/comparison.md': {
    model: ['level-triggered', 'packages/controller/test/semantics.test.ts'],
    'work queue: merging, one worker per key, back-off': ['yes', 'packages/workqueue/src/slot-table.test.ts'],
    'priorities in the queue': ['yes', 'packages/workqueue/src/priority/aged-levels.test.ts'],
    'shared informers, indexes': ['yes', 'packages/informer/src/shared-informer.test.ts'],
    'reads own writes': ['**yes, without waiting**', 'packages/runtime/test/read-your-writes.test.ts'],
    'objects of the cache cannot be corrupted': ['**yes**', 'packages/cache-index/test/model.test.ts'],
    'leader election': ['yes, **fenced**', 'packages/runtime/test/fence.test.ts'],
    'replicas survive an outage of the API server': ['**yes**', 'packages/runtime/test/outage.test.ts'],
    webhooks: ['yes', 'packages/runtime/test/webhook.test.ts'],
    'several clusters': ['one more cluster in a manager, by hand', 'packages/manager/test/cluster.test.ts'],
    'test server in the process': ['**yes**, with faults', 'packages/apiserver/test/faults.test.ts'],
    'CRD from types': ['**yes, from schemas**', 'packages/crd/src/resource/define-resource.test.ts'],
    'scaffolding and CLI': ['**yes**', 'packages/create/test/create.test.ts'],
    'RBAC generated': ['**from what runs**', 'packages/runtime/test/access-needs.test.ts'],
    'exec, logs, port-forward': ['yes', 'packages/pods/test/pods.test.ts'],
    protobuf: ['no', 'docs/coming-from/features.json'],
    maturity: ['0.x', 'packages/runtime/package.json'],
  },
};

describe.each(Object.entries(proofs))('%s', (page, rows) => {
  it('has a proof for each row', () => {
    const stated = rowsOf(page).map(([name = '', ours = '']) => [name, ours]);
    expect(stated).toEqual(Object.entries(rows).map(([name, [ours]]) => [name, ours]));
  });

  it.each(Object.entries(rows))('%s', (_name, [, proof]) => {
    expect(globSync(proof, { cwd: root })).toEqual([proof]);
  });
});

const packageSources = globSync('packages/*/src/**/*.ts', { cwd: root, exclude: (file) => file.endsWith('kinds') })
  .filter((file) => !file.endsWith('.test.ts'))
  .map(read)
  .join('\n');
const words = new Set(packageSources.match(/\b[A-Za-z_]\w*\b/g));
const pages = globSync('docs/**/*.md', {
  cwd: root,
  exclude: (file) => /^docs\/(api|packages|node_modules|\.vitepress)$/.test(file),
});

describe('the kctl column of the pages for those who come from elsewhere', () => {
  const comparing = ['pepr', 'kopf', 'go', 'client-node', 'defaults'].map((name) => `docs/coming-from/${name}.md`);
  it.each(comparing)('%s names what exists', (page) => {
    const cells = rowsOf(page).flatMap((row) => (page.endsWith('defaults.md') ? row.slice(2) : row.slice(1)));
    const code = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text));
    // Called, a method, or a field of an object literal: what a reader would write and not choose.
    const names = code.flatMap((text) => [
      ...text.replaceAll(/'[^']*'/g, '').matchAll(/\b([a-z]\w*[A-Z]\w*)\b|\.([a-z]\w+)\(/g),
    ]);
    const unknown = names.map(([, name, method]) => name ?? method ?? '').filter((name) => !words.has(name));
    expect([...new Set(unknown)]).toEqual([]);
  });
});

describe('commands of kctl', () => {
  const commands = new Set(
    [
      ...['program', 'define-commands', 'plan/define-plan']
        .map((file) => read(`packages/cli/src/${file}.ts`))
        .join('\n')
        .matchAll(/(?:command|change)\(\s*'(\w+)|\bname: '(\w+)'|\['(\w+)', '/g),
    ].map(([, a, b, c]) => a ?? b ?? c),
  );
  it.each(pages)('%s', (page) => {
    const named = [...read(page).matchAll(/(?:npx kctl|`kctl) ([a-z]+)/g)].map(([, name]) => name);
    expect(named.filter((name) => !commands.has(name))).toEqual([]);
  });
});

it.each(pages)('%s does not state that something is missing that exists', (page) => {
  const stated =
    read(page).match(
      /[^.|]*\b(?:no CLI|has no [a-z-]+ yet|not (?:yet )?supported|You write manifests|you write manifests)[^.|]*/g,
    ) ?? [];
  expect(stated).toEqual([]);
});
