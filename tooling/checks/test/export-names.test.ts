// docs/coming-from/names.md reviews every export of the seven central packages against Go's names: none is missing there,
// and none is listed that is not exported.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const page = readFileSync(join(root, 'docs', 'coming-from', 'names.md'), 'utf8');
const central = ['workqueue', 'informer', 'cache-index', 'client-delegating', 'leader-election', 'manager', 'builder'];

function exportsOf(name: string): string[] {
  const source = readFileSync(join(root, 'packages', name, 'src', 'index.ts'), 'utf8').replaceAll(
    /\/\*[\s\S]*?\*\//g,
    '',
  );
  const lists = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map(([, names = '']) => names);
  return lists.flatMap((names) =>
    names
      .split(',')
      .map((part) =>
        (
          part
            .trim()
            .replace(/^type /, '')
            .split(' as ')
            .at(-1) ?? ''
        ).trim(),
      )
      .filter((part) => part !== ''),
  );
}

function namesIn(section: string): string[] {
  const cells = [...section.matchAll(/^\|[^|]*\|([^|]*)\|$/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, code = '']) => code));
}

describe.each(central)('the exports of %s', (name) => {
  const section = new RegExp(`^## ${name}$([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm').exec(page)?.[1] ?? '';

  it('are reviewed, each once', () => {
    const listed = namesIn(section);
    expect(listed.toSorted()).toEqual(exportsOf(name).toSorted());
  });

  it('follow the rules: classes of errors have a guard, options are named after their factory', () => {
    const all = exportsOf(name);
    const guards = all.filter((each) => /^is[A-Z]/.test(each)).map((each) => each.slice(2));
    const errors = all.filter((each) => /Error$/.test(each) && /^[A-Z]/.test(each));
    for (const error of errors)
      expect(
        [error, error.replace(/Error$/, '')].some((each) => guards.includes(each)),
        error,
      ).toBe(true);
    expect(all.filter((each) => /^(?:new|get)[A-Z]|Impl$|Interface$|^I[A-Z][a-z]|Helper$|Utils?$/.test(each))).toEqual(
      [],
    );
  });
});

it('a name that two of the packages export is the same thing', () => {
  const exported = central.flatMap((name) => exportsOf(name));
  expect(exported.filter((each, index) => exported.indexOf(each) !== index)).toEqual([]);
});
