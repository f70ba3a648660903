// Draws ARCHITECTURE.md's diagram and README.md's package table from architecture.json and the manifests.
// Without arguments it writes, with `--check` it fails when they are stale.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readArchitecture } from './sync-packages.mjs';

/** @param {string} root */
export function diagram(root) {
  const { layers, scope } = readArchitecture(root);
  const lines = ['```mermaid', 'flowchart BT'];
  for (const { layer, packages } of layers) {
    lines.push(`  subgraph L${layer}["layer ${layer}"]`);
    for (const name of packages) lines.push(`    ${name}`);
    lines.push('  end');
  }
  for (const { packages } of layers) {
    for (const name of packages) {
      const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8'));
      const dependencies = Object.keys(manifest.dependencies ?? {})
        .filter((other) => other.startsWith(`${scope}/`))
        .sort();
      for (const other of dependencies) lines.push(`  ${name} --> ${other.slice(scope.length + 1)}`);
    }
  }
  lines.push('```');
  return lines.join('\n');
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
    ['ARCHITECTURE.md', between(read('ARCHITECTURE.md'), 'diagram', diagram(root))],
    ['README.md', between(read('README.md'), 'packages', packageTable(root))],
  ]);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const root = process.cwd();
  for (const [file, content] of drawnFiles(root)) {
    if (readFileSync(join(root, file), 'utf8') === content) continue;
    if (process.argv.includes('--check')) {
      console.error(`${file} is stale: run node scripts/architecture.mjs`);
      process.exitCode = 1;
    } else writeFileSync(join(root, file), content);
  }
}
