// The table of docs/coming-from/features.md: what client-go, controller-runtime and others export, and what is ours.
// The list is docs/coming-from/features.json; tooling/checks/test/features.test.ts holds it to the packages and their tests.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ package: string, export: string, with?: string[], test: string }} Have */
/** @typedef {{ anchor: string, feature: string, have?: Have[], missing?: string }} Feature */

const page = 'docs/coming-from/features.md';

/** @param {string} root @returns {Feature[]} */
function readFeatures(root) {
  return JSON.parse(readFileSync(join(root, 'docs', 'coming-from', 'features.json'), 'utf8'));
}

/** @param {Feature[]} features */
function featurePage(features) {
  const anchors = [...new Set(features.map(({ anchor }) => anchor))];
  const missing = features.filter((feature) => feature.missing !== undefined);
  return [
    '# Features beside those of others',
    '',
    `What other libraries export for controllers, and what does the same here: ${features.length - missing.length} of ${features.length}. Generated from \`features.json\` by \`node scripts/docs/features.mjs\`; a test checks that each export exists and that the test that is named uses it.`,
    ...anchors.flatMap((anchor) => [
      '',
      `## ${anchor}`,
      '',
      ...tableOf(features.filter((feature) => feature.anchor === anchor)),
    ]),
    '',
  ].join('\n');
}

/** @param {Feature[]} features */
function tableOf(features) {
  return [
    '| theirs | ours | tested in |',
    '|---|---|---|',
    ...features.map(({ feature, have = [], missing }) =>
      missing === undefined
        ? `| ${feature} | ${unique(have.map(ours))} | ${unique(have.map(({ test }) => `\`${test}\``))} |`
        : `| ${feature} | missing: ${missing} | |`,
    ),
  ];
}

/** @param {Have} have */
function ours({ package: from, export: name, with: members = [] }) {
  const used = members.length === 0 ? '' : ` (${members.map((member) => `\`${member}\``).join(', ')})`;
  return `\`${name}\` of ${from}${used}`;
}

/** @param {string[]} texts */
function unique(texts) {
  return [...new Set(texts)].join(', ');
}

const root = join(import.meta.dirname, '..', '..');
const text = featurePage(readFeatures(root));
if (!process.argv.includes('--check')) writeFileSync(join(root, page), text);
else if (readFileSync(join(root, page), 'utf8') !== text) {
  console.error(`${page} is stale: run node scripts/docs/features.mjs`);
  process.exitCode = 1;
}
