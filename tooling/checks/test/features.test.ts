// docs/coming-from/features.md follows from features.json, and what it says that we have is there and tested.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
interface Feature {
  readonly anchor: string;
  readonly feature: string;
  readonly have?: readonly {
    readonly package: string;
    readonly export: string;
    /** Options and members that the feature is about: the test that is named uses each. */
    readonly with?: readonly string[];
    readonly test: string;
  }[];
  readonly missing?: string;
}
const features = JSON.parse(readFileSync(join(root, 'docs', 'coming-from', 'features.json'), 'utf8')) as Feature[];
const have = features.flatMap((feature) => feature.have ?? []);

/** What an entry point exports, `@kctl/client/operations` for example: values and types. */
function exportsOf(entry: string): string[] {
  const [, name = '', ...path] = entry.split('/');
  const source = readFileSync(join(root, 'packages', name, 'src', ...path, 'index.ts'), 'utf8').replaceAll(
    /\/\*[\s\S]*?\*\//g,
    '',
  );
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map(([, names = '']) => names);
  return lists.flatMap((names) =>
    names.split(',').map(
      (part) =>
        part
          .trim()
          .replace(/^type /, '')
          .split(' as ')
          .at(-1) ?? '',
    ),
  );
}

describe('the table of features', () => {
  it('is what the list says: node scripts/docs/features.mjs', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/docs/features.mjs', '--check'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('has for each feature either what does the same, or why it is missing', () => {
    expect(features.length).toBeGreaterThan(170);
    for (const { feature, have: ours, missing } of features)
      expect([(ours ?? []).length > 0, missing !== undefined].filter(Boolean), feature).toHaveLength(1);
    const names = features.map(({ anchor, feature }) => `${anchor}: ${feature}`);
    expect(names).toEqual([...new Set(names)]);
  });

  it.each(have)('$package has $export', ({ package: entry, export: name }) => {
    expect(exportsOf(entry)).toContain(name);
  });

  it.each(have)('$export is exercised by $test', ({ export: name, with: members = [], test }) => {
    expect(existsSync(join(root, test))).toBe(true);
    const body = readFileSync(join(root, test), 'utf8');
    // Not in an import alone.
    const used = body.replaceAll(/^import [\s\S]*?;$/gm, '');
    expect([name, ...members].filter((word) => !new RegExp(`\\b${word}\\b`).test(used))).toEqual([]);
  });
});
