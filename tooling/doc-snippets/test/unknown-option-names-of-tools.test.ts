// The packages for development and tests refuse a name of an option that they do not have. Each entrance of theirs is called
// with its own arguments: what takes a misspelled name for none writes files, starts servers or runs for minutes.
import * as testing from '@kctl/testing';
import { describe, expect, it } from 'vitest';
import { calls, others, type Call } from './calls-of-tools.js';
import { entrancesOf, type Entrance } from './entrances.js';

const modules: Readonly<Record<string, object>> = {
  apiserver: await import('@kctl/apiserver'),
  cel: await import('@kctl/cel'),
  cli: await import('@kctl/cli'),
  crd: await import('@kctl/crd'),
  create: await import('@kctl/create'),
  delivery: await import('@kctl/delivery'),
  operator: await import('@kctl/operator'),
  simulation: await import('@kctl/simulation'),
  testing,
  yaml: await import('@kctl/yaml'),
};
const nameOf = ({ of, name }: Entrance): string => (of === undefined ? name : `${of}.${name}`);
const exported = Object.entries(modules).flatMap(([name, module]) =>
  entrancesOf(name).filter(({ of, name: called }) => of === undefined && called in module),
);

async function refusal(call: Call, options: unknown): Promise<string> {
  try {
    await call(options as never);
    return 'taken';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe('a misspelled option', () => {
  it('is tried with every exported function that takes options', () => {
    const known = new Set([...Object.keys(calls), ...others]);
    expect(exported.map(nameOf).filter((name) => !known.has(name))).toEqual([]);
  });

  it.each(Object.entries(calls))('is refused by %s', async (_name, call) => {
    expect(await refusal(call, { zzzz: 1 })).toContain('unknown option "zzzz"');
  });

  it.each(Object.entries(calls))('is refused by %s if it is inherited', async (_name, call) => {
    expect(await refusal(call, Object.create({ zzzz: 1 }))).toContain('unknown option "zzzz"');
  });

  it.each(Object.entries(calls))('is not taken for options by %s: null, an array, a promise', async (_name, call) => {
    for (const options of [null, [], Promise.resolve({})])
      expect(await refusal(call, options)).toMatch(/expected (?:options|an object of options)/);
  });
});
