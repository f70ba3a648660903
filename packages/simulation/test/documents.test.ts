// What the documents say of faults, rules, options and the machine is what the code has.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defaultFaultRates, ruleNames } from '../src/index.js';
import { compileOptions } from '../src/options.js';
import { outside } from '../src/virtual-io.js';

const root = join(import.meta.dirname, '..', '..', '..');
const read = (...path: string[]): string => readFileSync(join(root, ...path), 'utf8');
const readme = read('packages', 'simulation', 'README.md');
const guide = read('docs', 'guides', 'simulation.md');
const source = (file: string): string => read('packages', 'simulation', 'src', file);

/** Rows of the table of a section, as cells. */
function rowsOf(title: string): string[][] {
  const section = readme.split(`\n## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('faults', () => {
  const kinds = Object.keys(defaultFaultRates).length;
  const perHour = Object.values(defaultFaultRates).reduce((sum, rate) => sum + rate, 0);

  it('are those of the README, with their rates and what their comments say', () => {
    const comments = [...source('faults/fault.ts').matchAll(/\/\*\* (.+) \*\/\n {2}'?([a-z-]+)'?: ([\d.]+),/g)];
    expect(rowsOf('Faults')).toEqual(comments.map(([, what, name, rate]) => [`\`${name}\``, rate, what]));
    expect(rowsOf('Faults').map(([name, rate]) => [name, Number(rate)])).toEqual(
      Object.entries(defaultFaultRates).map(([name, rate]) => [`\`${name}\``, rate]),
    );
  });

  it('are counted right', () => {
    expect(readme).toContain(`There are ${kinds} kinds; together they strike ${perHour} times per simulated hour`);
    expect(guide).toContain(`${kinds} kinds, together ${perHour} in a simulated hour`);
    expect(Math.round(3600 / perHour)).toBe(10); // `one every ten seconds`
  });
});

describe('rules', () => {
  it('are those of the README, each once', () => {
    const named = rowsOf('Rules').flatMap(([names = '']) => [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect(named.toSorted()).toEqual([...ruleNames].toSorted());
  });

  it('are counted right', () => {
    expect(guide).toContain(`the ${ruleNames.length} rules`);
  });

  it('of the guide and the design exist', () => {
    const texts = `${guide}${read('designs', '008-simulation.md')}`;
    const options = [...texts.matchAll(/(?:only|except): \[([^\]]*)\]/g)].flatMap(([, list = '']) => list.split(','));
    const rules = options.map((rule) => rule.trim().slice(1, -1));
    expect(rules.length).toBeGreaterThan(0);
    for (const rule of rules) expect(ruleNames).toContain(rule);
    const faults = [...`${guide}${readme}`.matchAll(/faults: \{ (.*?) \}/g)].flatMap(([, list = '']) =>
      list.split(','),
    );
    expect(faults.length).toBeGreaterThan(0);
    for (const fault of faults)
      expect(defaultFaultRates).toHaveProperty([fault.split(':')[0]?.trim().replaceAll("'", '') ?? '']);
  });
});

describe('options', () => {
  const text = source('options.ts').split('export interface SimulateOptions {')[1]?.split('\n}\n')[0] ?? '';
  const documented = [...text.matchAll(/@default ([^\n*]+?)(?:, or [^\n]*)?\s*\*\/\n {2}readonly (\w+)\?/g)].map(
    ([, value = '', name = '']) => [name, value] as const,
  );
  const compiled: Readonly<Record<string, unknown>> = {
    ...compileOptions({ operator: () => ({ run: () => Promise.resolve() }) }, {}),
  };

  it('each have a default that is written down', () => {
    const names = [...text.matchAll(/readonly (\w+)\?:/g)].map(([, name]) => name);
    expect(documented.map(([name]) => name)).toEqual(names);
  });

  it.each(documented)('%s defaults to %s', (name, value) => {
    if (name === 'simulatedMinutes') expect(compiled['faultMs']).toBe(Number(value) * 60_000);
    else if (name === 'faults') expect([value, compiled['rates']]).toEqual(["'all'", defaultFaultRates]);
    else if (/^\d+$/.test(value)) expect(compiled[name]).toBe(Number(value));
    else if (/^(?:true|false|'first')$/.test(value)) expect(String(compiled[name])).toBe(value.replaceAll("'", ''));
    else expect(value).toMatch(/^(?:none|nothing|nothing is checked|all)$/);
  });
});

describe('the machine', () => {
  it('is that of the README', () => {
    const table = rowsOf('The machine').flat().join('\n');
    for (const { module } of outside) expect(table).toContain(`\`${module}\``);
    const names = ['virtual-globals.ts', 'virtual-engine.ts', 'virtual-random.ts', 'virtual-io.ts'].flatMap((file) => [
      ...source(file).matchAll(/(?:stray\(\s*scope,|now\()\s*'(?:new )?([\w.]+)(?:\(\))?(?: of [\w:/]+)?'/g),
    ]);
    expect(names.length).toBeGreaterThan(10);
    for (const [, name = ''] of names)
      if (name !== 'a')
        expect(table, name).toContain(
          name === 'Date' ? 'new Date()' : name.replace(/\.(?:bigint|format|formatToParts|register|measure)$/, ''),
        );
  });
});

describe('other numbers', () => {
  it('the longest workload is that of the README', () => {
    expect(source('workload.ts')).toContain('longestWorkMs = 4 * 3_600_000');
    expect(readme).toContain('has not ended four hours after the faults');
  });

  it('what a scaffolded project runs is what the guide says', () => {
    const template = read('packages', 'create', 'template', 'test', 'simulation.test.ts');
    expect(template).toContain('seeds: isLong ? 50 : 2');
    expect(guide).toContain('`npm test` runs two short seeds of it, `npm run simulate` fifty longer ones');
  });

  it('the design says what the code does', () => {
    const design = read('designs', '008-simulation.md');
    expect(source('scheduler.ts')).toContain('tasksPerTurn = 128');
    expect(design).toContain('queued 128 at a time');
    expect(source('run.ts')).toContain('controllerDelayMs = 1000');
    expect(design).toContain('it now waits a second, `controllerDelayMs`');
    expect(source('faults/strikes.ts')).toContain('requestMs: 20_000 * a ** 3');
    expect(design).toContain('`delay` (up to 20 s each way');
    expect(source('run.ts')).toContain('patienceMs: 2 * options.convergeWithinMs');
    expect(design).toContain('does not end in twice the convergence time');
    expect(source('run.ts')).toContain('mostStacks = 100;\nconst stacksThen = 50;');
    expect(design).toContain('the first hundred uses are looked at, then one in fifty');
  });
});
