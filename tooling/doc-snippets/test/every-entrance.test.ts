// Every exported function that takes an object of which members may be left out, as TypeScript's checker sees the entry
// points of all packages, is tried with a misspelled name by one of the tests beside this one, or has a reason not to be.
import { expect, it } from 'vitest';
import { objectCalls } from './calls-of-objects.js';
import { calls, others } from './calls-of-tools.js';
import { dataTypes, explainedObjects } from './data-types.js';
import { entrancesOf } from './entrances.js';
import { explained } from './explained-entrances.js';
import { made, modules } from './parts.js';
import { refuses } from './refusal.js';
import { packageNames, typedEntrances } from './typed-entrances.js';

it.each(Object.entries(objectCalls))('a misspelled member is refused by %s', async (_name, call) => {
  const refused = async (): Promise<unknown> => await call({ zzzz: 1 } as never);
  await expect(refused()).rejects.toThrow(
    /unknown option "[\w.]*zzzz"|, but zzzz|"zzzz" is not known|^label selector: the value of/,
  );
});

it('every exported function that takes an object is tried', { timeout: 300_000 }, async () => {
  const tried = new Set<string>();
  for (const { package: name, of, name: called, position } of packageNames.flatMap(entrancesOf)) {
    const isTried = of === undefined ? called in (modules[name] ?? {}) : of in made;
    if (isTried) tried.add(`${of ?? name}.${called}.${position}`);
  }
  const known = new Set([...Object.keys(calls), ...others]);
  const missing = typedEntrances().filter(({ package: owner, of, name, position, types }) => {
    if (types.every((type) => dataTypes.has(type))) return false;
    const named = `${of ?? owner}.${name}`;
    return !(
      tried.has(`${named}.${position}`) ||
      known.has(of === undefined ? name : named) ||
      explained.has(named) ||
      named in objectCalls ||
      explainedObjects.has(`${named}: ${types.join(' | ')}`) ||
      explainedObjects.has(types.join(' | '))
    );
  });
  const silent: string[] = [];
  for (const entrance of missing) {
    const { package: owner, of, types } = entrance;
    const target = of === undefined ? modules[owner] : made[of];
    if (target === undefined || !(await refuses(target, entrance)))
      silent.push(`${of ?? owner}.${entrance.name}: ${types.join(' | ')}`);
  }
  expect(silent).toEqual([]);
});
