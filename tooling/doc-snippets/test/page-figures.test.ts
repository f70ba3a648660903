// Each figure in the prose of the site follows from a measurement in bench/results or from a default in the sources. A row
// names the page and the words around the figure; a figure that no row explains fails, and so does one that has changed.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

interface Row {
  readonly figure: string;
  readonly unit: string;
  readonly ours: number;
  readonly peer: number | null;
  readonly peerName: string | null;
}

/** A row of bench/results, by the start of its figure, its unit and its peer. */
function measured(benchmark: string, figure: string, unit: string, peerName?: string): Row {
  const { rows } = JSON.parse(read(`bench/results/${benchmark}.json`)) as { rows: Row[] };
  const found = rows.filter(
    (row) =>
      row.figure.replace(/ \(\d+ for the peer\)/, '') === figure &&
      row.unit === unit &&
      (peerName === undefined || row.peerName === peerName),
  );
  const [row] = found;
  if (row === undefined) throw new Error(`bench/results/${benchmark}.json has no row ${JSON.stringify(figure)}`);
  return row;
}
const ours = (...of: Parameters<typeof measured>): number => measured(...of).ours;
const peer = (...of: Parameters<typeof measured>): number => measured(...of).peer ?? Number.NaN;

/** The number that the sources of a package give a name, as `name: 120_000` or `name = 120_000`: one, wherever it is. */
function value(name: string, pack: string): number {
  const files = globSync(`packages/${pack}/src/**/*.ts`, { cwd: root }).filter((file) => !file.endsWith('.test.ts'));
  // Without comments: an example may choose another value.
  const texts = files.map((file) => read(file).replaceAll(/\/\*[\s\S]*?\*\//g, ''));
  const by = (sign: string): string[] =>
    texts.flatMap((text) =>
      [...text.matchAll(new RegExp(`\\b${name}(?:: number)?${sign}(\\d[\\d_]*(?: \\* [\\d_]+)*)`, 'g'))].map(
        ([, digits = '']) => digits,
      ),
    );
  const defaults = by(' = ');
  const found = new Set(defaults.length > 0 ? defaults : by(': '));
  const [digits] = found;
  if (digits === undefined || found.size > 1)
    throw new Error(`packages/${pack}/src gives ${name} ${[...found].join(' and ') || 'no value'}: expected one`);
  return digits.split(' * ').reduce((product, factor) => product * Number(factor.replaceAll('_', '')), 1);
}

const whole = (n: number): string => Math.round(n).toLocaleString('en-US');
const thousands = (n: number): string => (Math.round(n / 1000) * 1000).toLocaleString('en-US');
const tenths = (n: number): string => (Math.round(n * 10) / 10).toString();
const seconds = (ms: number): string => `${ms / 1000} s`;
const minutes = (ms: number): string => `${ms / 60_000} minutes`;

const events = 'watch events to two handlers: CPU';
const resident = 'resident memory per object';
const cached = 'memory with 10000 resources cached';
const loop = 'no-op reconciles: generic events for 10000 keys, 5 times';
const early = '200 updates a second, first 5 s: write sent to reconcile, p99';
const late = '200 updates a second, after 20 s: write sent to reconcile, p99';
const longest = 'list 50000 pods: longest turn of the event loop';

const sync = value('cacheSyncTimeoutMs', 'controller');
const lease = (name: string): number => value(name, 'leader-election');

/** Those of Go and of the API server stand as they are: they do not change with a commit here. */
const claims: readonly (readonly [page: string, ...words: string[]])[] = [
  [
    'comparison.md',
    `CPU per watch event ${whole(ours('informer', events, 'CPU µs/op'))} µs, client-node ${whole(peer('informer', events, 'CPU µs/op', 'client-node'))} µs, client-go with protobuf ${whole(peer('informer', events, 'CPU µs/op', 'client-go protobuf'))} µs, kube-rs typed ${whole(peer('informer', events, 'CPU µs/op', 'kube-rs typed'))} µs`,
    `Memory per object ${tenths(ours('informer', resident, 'bytes/key') / 1000)} KB, client-go with protobuf ${tenths(peer('informer', resident, 'bytes/key', 'client-go protobuf') / 1000)} KB`,
    `every object is read, ${whole(ours('informer', 'watch events to two handlers, each object read: CPU', 'CPU µs/op'))} µs and ${tenths(ours('informer', `${resident}, each read`, 'bytes/key') / 1000)} KB`,
    `${thousands(ours('reconcile', loop, 'ops/s'))} per second, controller-runtime ${thousands(peer('reconcile', loop, 'ops/s'))}`,
    `${whole(ours('reconcile', cached, 'MiB RSS'))} MiB of resident memory, ${whole(ours('reconcile', `${cached}: @kctl/runtime as its scaffold's image runs it`, 'MiB RSS'))} MiB with the settings of the generated image, **controller-runtime ${whole(peer('reconcile', cached, 'MiB RSS', 'controller-runtime'))} MiB**`,
    `${whole(ours('reconcile', early, 'ms'))} ms in the first 5 s, **controller-runtime ${whole(peer('reconcile', early, 'ms'))} ms**; ${whole(ours('reconcile', late, 'ms'))} ms after 20 s, controller-runtime ${whole(peer('reconcile', late, 'ms'))} ms`,
    'waits up to 5 s', // Kopf's settings.persistence.consistency_timeout
  ],
  [
    'coming-from/client-node.md',
    `a get costs ${whole(peer('client', 'get a pod: CPU time', 'CPU µs/op', 'client-node') / ours('client', 'get a pod: CPU time', 'CPU µs/op'))} times the CPU`,
    `${whole(ours('client', longest, 'ms'))} ms instead of ${whole(peer('client', longest, 'ms', 'client-node'))} ms`,
  ],
  [
    'coming-from/defaults.md',
    'client-go: 5 requests per second',
    'every 10 h',
    `${seconds(value('defaultGracefulShutdownTimeoutMs', 'manager'))}, then errors | 30 s, then an error`,
    `back-off (${value('baseMs', 'workqueue')} ms doubling to ${value('maxMs', 'workqueue') / 1000} s)`,
    `\`cacheSyncTimeoutMs\` ${sync / 60_000} min, lease ${seconds(lease('leaseDurationMs'))} / ${seconds(lease('renewDeadlineMs'))} / ${seconds(lease('retryPeriodMs'))}`,
    'watch timeouts of 5 to 10 min',
  ],
  [
    'guides/deployment.md',
    `more than \`gracefulShutdownTimeoutMs\` (${seconds(value('defaultGracefulShutdownTimeoutMs', 'manager'))})`,
    `more than their \`checkTimeoutMs\` (${seconds(value('defaultCheckTimeoutMs', 'manager'))})`,
    `a base of about ${whole(ours('reconcile', 'memory of an idle manager', 'MiB RSS'))} MB, plus the cache: [${tenths(ours('informer', resident, 'bytes/key') / 1000)} KB per Pod]`,
    `within \`cacheSyncTimeoutMs\` (${minutes(sync)})`,
  ],
  [
    'troubleshooting.md',
    `\`cacheSyncTimeoutMs\` (${minutes(sync)})`,
    `no leader for ${seconds(lease('leaseDurationMs'))} after a crash`,
  ],
  [
    'concepts/leadership.md',
    `after renewDeadlineMs, ${seconds(lease('renewDeadlineMs'))}; another replica may lead after leaseDurationMs, ${seconds(lease('leaseDurationMs'))}. The ${seconds(lease('leaseDurationMs') - lease('renewDeadlineMs'))} between`,
    `\`renewDeadlineMs\` (${seconds(lease('renewDeadlineMs'))})`,
    `\`leaseDurationMs\` (${seconds(lease('leaseDurationMs'))})`,
    `in every ${seconds(lease('renewDeadlineMs'))}`,
  ],
  [
    'concepts/life-of-a-key.md',
    `${value('baseMs', 'workqueue')} ms, doubling, up to ${value('maxMs', 'workqueue') / 1000} s`,
    `more than ${value('maxPerMinute', 'controller')} times in a minute`,
  ],
  [
    'concepts/start-and-stop.md',
    `\`gracefulShutdownTimeoutMs\` (${seconds(value('defaultGracefulShutdownTimeoutMs', 'manager'))})`,
    'for the default of 30 s',
  ],
  [
    'guides/bundling.md',
    `at most ${Number(/toBeLessThanOrEqual\(([\d_]+)\)/.exec(read('packages/runtime/test/bundle.test.ts'))?.[1]?.replaceAll('_', '')) / 1e6} MB`,
  ],
  ['guides/external-systems.md', `\`timeoutMs\` (${seconds(value('defaultLookupTimeoutMs', 'controller'))})`],
  ['guides/finalizers.md', `After ${minutes(value('defaultStuckAfterMs', 'controller'))} (\`stuckAfterMs\`)`],
  ['guides/inspection.md', `${value('defaultBudgetBytes', 'inspection') / 1_048_576} MiB by default`],
  ['guides/kctl.md', `takes effect within ${seconds(value('reloadMs', 'operator'))}`],
  ['guides/webhooks.md', 'waits 10 s by default'], // the API server's timeoutSeconds
];

/** The text outside of code blocks. */
function proseOf(page: string): string {
  return read(`docs/${page}`).replaceAll(/^ *```[\s\S]*?^ *```/gm, '');
}

const figure =
  /(?<![\w.`])\d[\d,.]*(?: s| h| ?(?:µs|ms|min|minutes?|seconds?|hours?|MB|KB|MiB|GB|%|times|requests?|per second|packages))(?![\w])/g;

describe.each(claims)('%s', (page, ...words) => {
  it.each(words.map((each) => [each]))('%s', (expected) => {
    expect(read(`docs/${page}`)).toContain(expected);
  });
});

/** Written by scripts/costs.mjs from the tests that count. */
const generated = new Set(['costs.md']);
const pages = globSync('docs/**/*.md', {
  cwd: root,
  exclude: (file) => /^docs\/(api|packages|node_modules|\.vitepress)$/.test(file),
})
  .map((file) => file.slice('docs/'.length))
  .filter((page) => !generated.has(page) && !/^(performance|examples|changelog)\.md$/.test(page));

it.each(pages)('%s has no figure that nothing explains', (page) => {
  const words = claims.filter(([name]) => name === page).flatMap(([, ...each]) => each);
  const unexplained = words.reduce((text, each) => text.replaceAll(each, ''), proseOf(page));
  expect(unexplained.match(figure) ?? []).toEqual([]);
});
