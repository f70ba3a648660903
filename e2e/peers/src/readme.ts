/** Writes the table of README.md and of the server's README from the results. */
import { readFile, writeFile } from 'node:fs/promises';
import { readResult, totals, type Group, type SuiteResult } from './result.js';

const begin = '<!-- peers:begin -->';
const end = '<!-- peers:end -->';
const suites = ['controller-runtime', 'kubectl', 'helm', 'operators'] as const;
const files = ['../README.md', '../../../packages/apiserver/README.md'] as const;

function cell(group: Group | undefined): string {
  if (group === undefined) return '';
  const total = group.passed + group.failed.length;
  return group.failed.length === 0 ? `${group.passed}` : `${group.passed} of ${total}`;
}

function rowsOf(embedded: SuiteResult | undefined, real: SuiteResult | undefined): string[] {
  const names = new Set([...(embedded?.groups ?? []), ...(real?.groups ?? [])].map(({ name }) => name));
  const find = (result: SuiteResult | undefined, name: string): Group | undefined =>
    result?.groups.find((group) => group.name === name);
  return [...names].map((name) => `| ${name} | ${cell(find(embedded, name))} | ${cell(find(real, name))} |`);
}

function sumRow(embedded: SuiteResult | undefined, real: SuiteResult | undefined): string {
  const sum = (result: SuiteResult | undefined): string => {
    if (result === undefined) return 'not run';
    const { passed, failed } = totals(result.groups);
    return `**${failed === 0 ? passed : `${passed} of ${passed + failed}`}**`;
  };
  return `| **together** | ${sum(embedded)} | ${sum(real)} |`;
}

async function table(): Promise<string> {
  const parts: string[] = [];
  for (const suite of suites) {
    const [embedded, real] = [await readResult(suite, 'embedded'), await readResult(suite, 'real')];
    const known = embedded ?? real;
    if (known === undefined) continue;
    parts.push(
      `| ${`${suite} ${known.version}`.trim()}: passed | embedded | real |\n|---|---|---|\n${[...rowsOf(embedded, real), sumRow(embedded, real)].join('\n')}`,
    );
    const failures = (embedded?.groups ?? []).flatMap(({ name, failed }) =>
      failed.map((each) => `- ${name}: ${each.name}: ${each.cause}`),
    );
    if (failures.length > 0) parts.push(`Not on the embedded server:\n\n${failures.join('\n')}`);
  }
  return parts.join('\n\n');
}

/** Puts the table between the marks of each README that has them. */
export async function updateReadmes(): Promise<void> {
  const text = await table();
  for (const file of files) {
    const url = new URL(file, import.meta.url);
    const before = await readFile(url, 'utf8');
    const [start, stop] = [before.indexOf(begin), before.indexOf(end)];
    if (start < 0 || stop < start) continue;
    await writeFile(url, `${before.slice(0, start + begin.length)}\n${text}\n${before.slice(stop)}`);
  }
}
