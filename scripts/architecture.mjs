// Draws the picture of the layers for ARCHITECTURE.md and README.md's package table from architecture.json and the manifests,
// and copies the path of an event from its page.
// Without arguments it writes, with `--check` it fails when they are stale.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readArchitecture } from './sync-packages.mjs';

const picture = join('docs', 'public', 'pictures', 'layers.svg');

/**
 * The packages by layer, as a picture: what a package may import is below its own row. Readable in light and dark.
 * @param {string} root
 */
export function layersPicture(root) {
  const { layers } = readArchitecture(root);
  const [rowHeight, left, boxHeight, gap] = [52, 92, 34, 10];
  const width = 920;
  const rows = layers
    .toReversed()
    .map((/** @type {{ layer: number, packages: string[] }} */ { layer, packages }, /** @type {number} */ row) => {
      const y = 12 + row * rowHeight;
      const size = Math.min(190, (width - left - 12 - gap * (packages.length - 1)) / packages.length);
      const boxes = packages.map((name, column) => {
        const x = left + column * (size + gap);
        return (
          `  <rect class="box" x="${x.toFixed(0)}" y="${y}" width="${size.toFixed(0)}" height="${boxHeight}" rx="6"/>\n` +
          `  <text class="soft middle" x="${(x + size / 2).toFixed(0)}" y="${y + 22}">${name}</text>`
        );
      });
      return [`  <text class="soft" x="12" y="${y + 22}">layer ${layer}</text>`, ...boxes].join('\n');
    });
  const height = 12 + layers.length * rowHeight;
  const style = [
    'text { font: 15px ui-sans-serif, system-ui, sans-serif; fill: #1f2933 }',
    '.soft { font-size: 13px; fill: #52606d }',
    '.middle { text-anchor: middle }',
    '.box { fill: #eef4fd; stroke: #1d5fc4; stroke-width: 1.5 }',
    '@media (prefers-color-scheme: dark) { text { fill: #e6e8eb } .soft { fill: #a9b3bd } .box { fill: #22304a; stroke: #8ab6f9 } }',
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    `  <style>\n    ${style.join('\n    ')}\n  </style>`,
    ...rows,
    '</svg>',
    '',
  ].join('\n');
}

/** @param {string} root */
export function diagram(root) {
  const { layers, scope } = readArchitecture(root);
  const names = layers
    .toReversed()
    .map(
      (/** @type {{ layer: number, packages: string[] }} */ { layer, packages }) =>
        `layer ${layer}: ${packages.join(', ')}`,
    );
  return `![The ${scope} packages by layer. From the top: ${names.join('; ')}.](${picture.replaceAll('\\', '/')})`;
}

/** @param {string} root */
export function packageTable(root) {
  const { layers, packages, scope } = readArchitecture(root);
  const rows = layers
    .toReversed()
    .flatMap((/** @type {any} */ entry) =>
      entry.packages.map(
        (/** @type {string} */ name) => `| [\`${scope}/${name}\`](packages/${name}) | ${packages[name].promise} |`,
      ),
    );
  return ['| package | promise |', '|---|---|', ...rows].join('\n');
}

const pathPage = join('docs', 'concepts', 'path-of-an-event.md');

/** The files on the path of an event, from the page that explains it, as a table with links. @param {string} page */
export function pathTable(page) {
  const rows = [...page.matchAll(/^\| `([a-z-]+\/src\/[^`]+)` \| (.+) \|$/gm)];
  return [
    '| file | what it does |',
    '|---|---|',
    ...rows.map(([, file, what]) => `| [${file}](packages/${file}) | ${what} |`),
  ].join('\n');
}

/** Replaces what stands between the two marks. @param {string} text @param {string} mark @param {string} content */
function between(text, mark, content) {
  const [begin, end] = [`<!-- ${mark}:begin -->`, `<!-- ${mark}:end -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < 0) throw new Error(`the marks ${begin} and ${end} are missing`);
  return `${text.slice(0, from + begin.length)}\n${content}\n${text.slice(to)}`;
}

/** @param {string} root @returns {Map<string, string>} file → content as it should be */
export function drawnFiles(root) {
  const read = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8');
  return new Map([
    [picture, layersPicture(root)],
    [
      'ARCHITECTURE.md',
      between(between(read('ARCHITECTURE.md'), 'diagram', diagram(root)), 'path', pathTable(read(pathPage))),
    ],
    ['README.md', between(read('README.md'), 'packages', packageTable(root))],
  ]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const root = process.cwd();
  for (const [file, content] of drawnFiles(root)) {
    const path = join(root, file);
    if (existsSync(path) && readFileSync(path, 'utf8') === content) continue;
    if (process.argv.includes('--check')) {
      console.error(`${file} is stale: run node scripts/architecture.mjs`);
      process.exitCode = 1;
    } else {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
  }
}
