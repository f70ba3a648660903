/** `write-matrix <release> <passed> <failed> <skipped>`: adds the client suites to a release's result; writes the matrix. */
import { readdirSync, writeFileSync } from 'node:fs';
import { readVersion, release as own, type VersionResult } from './versions.js';

const folder = new URL('../results/', import.meta.url);

function cells({ version, passed, skipped, differences, clients }: VersionResult): string {
  const stack =
    clients === undefined
      ? 'not run'
      : clients.failed === 0
        ? `${clients.passed} passed`
        : `${clients.passed} passed, **${clients.failed} failed**`;
  return `| ${version} | ${stack} | ${passed} | ${differences.length} | ${skipped} |`;
}

function differencesOf({ version, differences }: VersionResult): string {
  if (differences.length === 0) return '';
  const rows = differences.map(({ case: id, how }) => `- ${id}: ${how.replaceAll(/([<>|*_])/g, '\\$1')}`);
  return `\n## What ${version} does differently from ${own}\n\n${rows.join('\n')}\n`;
}

function matrix(results: readonly VersionResult[]): string {
  return `# Releases of Kubernetes

Written by \`pnpm conformance -- --target real --version <release>\`. Each kube-apiserver is built from its Go module
(newest patch that the module proxy has). The client stack has to pass on every release. The cases of the suite describe
${own}: where an older release answers differently, that is listed, and is no failure of this repository.

| release | client stack | API cases as in ${own} | different | skipped |
|---|---|---|---|---|
${results.map(cells).join('\n')}
${results.map(differencesOf).join('')}`;
}

const [release = '', ...counts] = process.argv.slice(2);
const [passed = 0, failed = 0, skipped = 0] = counts.map(Number);
const found = readVersion(release);
if (found !== undefined) {
  const complete: VersionResult = { ...found, clients: { passed, failed, skipped } };
  writeFileSync(new URL(`${release}.json`, folder), `${JSON.stringify(complete, undefined, 2)}\n`);
}
const versions = readdirSync(folder)
  .map((name) => /^(\d+\.\d+)\.json$/.exec(name)?.[1])
  .filter((name) => name !== undefined)
  .sort();
const results = versions.map(readVersion).filter((result) => result !== undefined);
writeFileSync(new URL('versions.md', folder), matrix(results));
