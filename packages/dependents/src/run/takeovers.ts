import type { AnyObject } from '../definition/node.js';
import { otherManagers } from '../ownership/field-owners.js';
import type { Comparison } from './compare.js';
import { targetOf } from './configuration.js';
import type { Member } from './configuration.js';
import type { Surroundings } from './outcome.js';

/** Takeovers of one field within {@link fightMs} that count as a fight. */
const maxTakeovers = 5;
const fightMs = 10 * 60_000;

/** Counts fields that another manager has changed again and again, and reports a fight. */
export function countTakeovers(
  member: Member,
  {
    present,
    before,
    around,
  }: { readonly present: AnyObject; readonly before: Comparison; readonly around: Surroundings },
): void {
  const { node, definition } = member;
  if (node.conflicts !== 'force' || around.applying.dryRun) return;
  for (const { path } of before.differences) {
    const others = otherManagers(present, definition.fieldOwner, path);
    if (others.length === 0) continue;
    const times = (around.remembered.takeovers.get(path) ?? []).filter((time) => around.now - time < fightMs);
    times.push(around.now);
    around.remembered.takeovers.set(path, times);
    if (times.length === maxTakeovers + 1)
      around.onEvent(
        'warning',
        'FieldFight',
        `${path} of ${targetOf(node.kind, member.key)} was taken from ${others.join(', ')} ${times.length} times in 10 minutes: declare it in initial, or leave it out`,
      );
  }
}
