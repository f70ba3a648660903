import type { Kind } from '@kctl/apimachinery';
import type { ApplyConfiguration } from '@kctl/client';
import { NodeFailure } from '../errors.js';
import type { Applied } from './apply-fields.js';
import { compare } from './compare.js';
import type { Comparison } from './compare.js';
import type { Member } from './configuration.js';
import type { Remembered } from './memory.js';
import type { Surroundings } from './outcome.js';
import { isEmpty, valueAt } from './value-at.js';

/** Applies in a row that may leave a difference. */
const maxUnsettled = 3;
/** How long an object that does not converge is left alone, in ms. */
const unsettledRestMs = 10 * 60_000;

/** Whether an object rests, because applies left a difference. */
export function isResting({ unsettled, lastApplyAt }: Remembered, now: number): boolean {
  return unsettled >= maxUnsettled && now - lastApplyAt < unsettledRestMs;
}

/** Whether all differences are empty values, such as `env: []`, which built-in kinds do not store. */
export function isSettled({ differences }: Comparison, { dropped }: Remembered): boolean {
  return differences.length > 0 && differences.every(({ path }) => dropped.has(path));
}

/** Counts applies that leave a difference, and remembers a conflict. */
export async function countUnsettled(
  { node, definition }: Member,
  configuration: ApplyConfiguration<Kind>,
  { applied, around }: { readonly applied: Applied; readonly around: Surroundings },
): Promise<void> {
  const { remembered, now } = around;
  if (around.applying.dryRun) return;
  remembered.lastApplyAt = now;
  remembered.configuration = configuration;
  delete remembered.conflict;
  if (applied.conflict !== undefined)
    remembered.conflict = { failure: applied.conflict, version: applied.object.metadata.resourceVersion };
  if (applied.conflict !== undefined || applied.object.metadata.managedFields === undefined) return;
  const after = await compare(node.kind, configuration, applied.object, definition.fieldOwner);
  const dropped = after.differences.filter(
    (each) => each.reason === 'missing' && isEmpty(valueAt(configuration, each.path)),
  );
  remembered.dropped = new Set(dropped.map(({ path }) => path));
  remembered.unsettled = after.matches || isSettled(after, remembered) ? 0 : remembered.unsettled + 1;
}

/** The failure of an object that rests. */
export function notConverging(paths: readonly string[]): NodeFailure {
  return new NodeFailure(
    'NotConverging',
    `${maxUnsettled} applies left a difference in ${paths.join(', ')}: the server or a webhook rewrites it`,
    { paths },
  );
}
