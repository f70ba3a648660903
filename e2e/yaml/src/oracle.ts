import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../oracle/', import.meta.url));
const binary = fileURLToPath(new URL('../../../.cache/yaml-oracle', import.meta.url));

/** The reading of a document by Go: a value in canonical form, or an error. */
export type Verdict = { readonly value: string } | { readonly error: string };

/** Reads documents by sigs.k8s.io/yaml. */
export function readByGo(documents: readonly string[]): readonly Verdict[] {
  mkdirSync(fileURLToPath(new URL('../../../.cache', import.meta.url)), { recursive: true });
  const built = spawnSync('go', ['build', '-buildvcs=false', '-o', binary, '.'], { cwd: source, encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`go build of the oracle failed: ${built.stderr}`);
  const input = `${documents.map((each) => Buffer.from(each).toString('base64')).join('\n')}\n`;
  const { stdout } = spawnSync(binary, { input, maxBuffer: 1 << 30, encoding: 'utf8' });
  const lines = stdout.split('\n');
  return documents.map((_, index): Verdict => {
    const line = lines[index] ?? '';
    const text = Buffer.from(line.slice(1), 'base64').toString();
    return line.startsWith('J') ? { value: canonicalJson(text) } : { error: text };
  });
}

/** One form for equal values: members in order by their names in hexadecimal digits, numbers by value, integers exact. */
export function canonical(value: unknown, nameOf = hex): string {
  if (typeof value === 'bigint') return `#${value}`;
  if (typeof value === 'number') return Number.isInteger(value) ? `#${BigInt(value)}` : `#${value}`;
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, nameOf)).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${nameOf(key)}:${canonical(member, nameOf)}`);
  return `{${members.sort().join()}}`;
}

function canonicalJson(text: string): string {
  const value: unknown = JSON.parse(text, (_key, member: unknown, context?: { readonly source?: string }) => {
    const digits = context?.source ?? '';
    return typeof member === 'number' && /^-?\d+$/.test(digits) ? BigInt(digits) : member;
  });
  return canonical(value, (key) => key);
}

function hex(key: string): string {
  return Buffer.from(key).toString('hex');
}
