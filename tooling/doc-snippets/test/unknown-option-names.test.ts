// What takes options refuses a name that it does not have, with the nearest one: an option that is dropped in silence
// means its default, such as a patch without its lock. The entrances are read from the sources, so that a new one is
// judged without a line here.
import { expect, it } from 'vitest';
import { entrancesOf } from './entrances.js';
import { explained } from './explained-entrances.js';
import { made, modules } from './parts.js';
import { refuses } from './refusal.js';

const entrances = Object.keys(modules).flatMap(entrancesOf);

it('unknown names of options are refused by every exported function', { timeout: 300_000 }, async () => {
  const silent: string[] = [];
  for (const entrance of entrances.filter(({ of }) => of === undefined)) {
    const exported = modules[entrance.package] ?? {};
    const what = `${entrance.package}.${entrance.name}`;
    if (!(entrance.name in exported) || explained.has(what)) continue;
    if (!(await refuses(exported, entrance))) silent.push(what);
  }
  expect([...new Set(silent)]).toEqual([]);
});

it('unknown names of options are refused by every method of what factories make', { timeout: 300_000 }, async () => {
  const silent: string[] = [];
  for (const entrance of entrances) {
    const target = made[entrance.of ?? ''];
    if (target !== undefined && !explained.has(`${entrance.of}.${entrance.name}`)) {
      if (!(await refuses(target, entrance))) silent.push(`${entrance.of}.${entrance.name}`);
    }
  }
  expect([...new Set(silent)]).toEqual([]);
});
