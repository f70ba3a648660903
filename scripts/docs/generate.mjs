// Writes the pages of the site that come from elsewhere: one for each package from its README, and the performance page
// from bench/results. They are not committed.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import { repository } from '../../docs/.vitepress/pages.mjs';

/**
 * Turns the relative links of a document of the repository into links of the site, or of the repository.
 * @param {string} markdown @param {string} folder where the document is
 */
export function siteLinks(markdown, folder) {
  return markdown.replace(
    /(?<!!)\[((?:[^[\]]|\[[^\]]*\])*)\]\((?!https?:|#|\/|mailto:)([^)\s]+)\)/g,
    (_whole, text, target) => {
      const [path = '', hash] = target.split('#');
      const file = posix.normalize(posix.join(folder, path)).replace(/\/$/, '');
      const anchor = hash === undefined ? '' : `#${hash}`;
      const page = /^packages\/([^/]+)(?:\/README\.md)?$/.exec(file)?.[1];
      if (page !== undefined) return `[${text}](/packages/${page}${anchor})`;
      if (file.startsWith('docs/') && file.endsWith('.md'))
        return `[${text}](/${file.slice('docs/'.length, -'.md'.length)}${anchor})`;
      return `[${text}](${repository}/blob/main/${file}${anchor})`;
    },
  );
}

/** @param {string} name */
function packagePage(name) {
  const manifest = JSON.parse(readFileSync(join('packages', name, 'package.json'), 'utf8'));
  const readme = siteLinks(readFileSync(join('packages', name, 'README.md'), 'utf8'), `packages/${name}`);
  const [title = '', ...rest] = readme.split('\n');
  const install = ['```sh', `npm install ${manifest.name}`, '```'];
  const hasInstall = /npm (install|i) @kctl\//.test(readme);
  const reference = `[API reference](/api/${name}/) · [source](${repository}/tree/main/packages/${name})`;
  return [title, '', reference, '', ...(hasInstall ? [] : install), ...rest].join('\n');
}

const titles = {
  reconcile: 'Reconciles: the whole stack on a kube-apiserver',
  informer: 'Informers: 100,000 objects, 500,000 events',
  workqueue: 'Work queues',
  client: 'Clients',
  apiserver: 'The embedded API server',
  webhook: 'Admission webhooks',
  growth: 'Growth: a thousand to a million objects',
};

/** @typedef {{ at: number, value: number }} Point */
/** @typedef {{ axis: string, figure: string, unit: string, points: Point[], exponent: number | null, inherent: number, isDefect: boolean }} GrowthCurve */

/** The curves as a picture and a table. @param {GrowthCurve[]} curves */
function growthLines(curves) {
  return [
    'Each figure beside what grows, both axes logarithmic; below each the power with which it grows at its end, where it is',
    'large enough to tell. What is n times as much work may take n times as much (n¹); what is for one event or one turn of the',
    'event loop may not grow (n⁰).',
    '',
    '![Memory, CPU, the longest turn and latency by the number of objects, kinds, namespaces and handlers](/pictures/growth.svg)',
    '',
    '| grows | figure | unit | from | to | power | of the work |',
    '|---|---|---|---:|---:|---:|---:|',
    ...curves.map(({ axis, figure, unit, points, exponent, inherent, isDefect }) => {
      const power = exponent === null ? '–' : isDefect ? `**${exponent.toFixed(2)}**` : exponent.toFixed(2);
      const [first, last] = [points.at(0), points.at(-1)];
      return `| ${cell(axis)} | ${cell(figure)} | ${unit} | ${number(first?.value ?? null)} | ${number(last?.value ?? null)} | ${power} | ${inherent} |`;
    }),
  ];
}

/** @typedef {{ figure: string, unit: string, ours: number | null, peer: number | null, peerName: string | null, ratio: number | null }} Row */

export function performancePage() {
  const names = Object.keys(titles);
  const place = (/** @type {string} */ name) => (names.includes(name) ? names.indexOf(name) : names.length);
  const files = readdirSync(join('bench', 'results'))
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .sort((a, b) => place(a) - place(b));
  const lines = [
    '# Performance',
    '',
    'Every figure on this page comes from `bench/results`, which `pnpm bench` writes. Ours and the peer run alternately in the',
    'same run, as fresh processes on the same machine; the medians of all rounds count. A ratio above 1 means that kctl is',
    `better. [How the measurements work](${repository}/blob/main/bench/README.md).`,
    '',
    'Read the rows below 1 as well: they are where a Go controller needs less.',
  ];
  for (const name of files) {
    const { machine, versions, rows, curves } = JSON.parse(
      readFileSync(join('bench', 'results', `${name}.json`), 'utf8'),
    );
    lines.push('', `## ${titles[/** @type {keyof typeof titles} */ (name)] ?? name}`, '');
    if (curves === undefined) {
      lines.push('| figure | unit | kctl | peer | ratio | peer is |', '|---|---|---:|---:|---:|---|');
      for (const row of /** @type {Row[]} */ (rows))
        lines.push(
          `| ${cell(row.figure)} | ${cell(row.unit)} | ${number(row.ours)} | ${number(row.peer)} | ${row.ratio === null ? '' : `**${row.ratio.toFixed(1)}**`} | ${cell(row.peerName ?? '')} |`,
        );
    } else lines.push(...growthLines(curves));
    lines.push(
      '',
      `Machine: ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, load ${machine.loadBefore} before the run, ${machine.rounds} rounds.`,
      `Versions: ${Object.entries(versions)
        .map(([what, version]) => `${what} ${version}`)
        .join('; ')}.`,
      `Repeat it with \`pnpm bench -- ${name}\`.`,
    );
  }
  return `${lines.join('\n')}\n`;
}

const cell = (/** @type {string} */ text) => text.replaceAll('|', '\\|');
const number = (/** @type {number | null} */ value) =>
  value === null
    ? '–'
    : value >= 1000
      ? Math.round(value).toLocaleString('en-US')
      : String(Number(value.toPrecision(3)));

/** The examples of the README's table, and how to start with them. */
export function examplesPage() {
  const readme = readFileSync('README.md', 'utf8');
  const section = /^## Examples\n([\s\S]*?)^## /m.exec(readme)?.[1] ?? '';
  const advice = /^\| to learn[\s\S]*/m.exec(readFileSync(join('examples', 'README.md'), 'utf8'))?.[0] ?? '';
  const count = readdirSync('examples').filter((name) => existsSync(join('examples', name, 'package.json'))).length;
  return [
    '# Examples',
    '',
    `${count} programs, each with a README, tests and a scene. [The CronJob tutorial](/guides/cronjob-tutorial) goes through one of them.`,
    '',
    siteLinks(section.trim(), '.'),
    '',
    '## Where to start',
    '',
    siteLinks(advice.trim(), 'examples'),
    '',
  ].join('\n');
}

/** The changelogs of all packages, the upper layers first. @param {readonly string[]} names */
export function changelogPage(names) {
  const entries = names.flatMap((name) => {
    const [, ...lines] = readFileSync(join('packages', name, 'CHANGELOG.md'), 'utf8').split('\n');
    const text = lines
      .join('\n')
      .trim()
      .replaceAll(/^(#+) /gm, '#$1 ');
    return ['', `## ${name}`, '', siteLinks(text, `packages/${name}`)];
  });
  return [
    '# Changelog',
    '',
    `All packages have one version and are released together. [What a release may change](${repository}/blob/main/VERSIONING.md); [Upgrade](/guides/upgrading) has the steps.`,
    ...entries,
    '',
  ].join('\n');
}

export function generate() {
  const folder = join('docs', 'packages');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync('packages').filter((entry) => existsSync(join('packages', entry, 'README.md'))))
    writeFileSync(join(folder, `${name}.md`), packagePage(name));
  writeFileSync(join('docs', 'performance.md'), performancePage());
  writeFileSync(join('docs', 'examples.md'), examplesPage());
  const { layers } = JSON.parse(readFileSync('architecture.json', 'utf8'));
  const names = layers.toReversed().flatMap((/** @type {{ packages: string[] }} */ { packages }) => packages);
  writeFileSync(join('docs', 'changelog.md'), changelogPage(names));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) generate();
