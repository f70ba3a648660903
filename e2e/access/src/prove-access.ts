import { type AccessNeed } from '@kctl/rbac';
import { formatResource } from '@kctl/rbac/internal';
import { eventually, type OperatorAccess } from '@kctl/testing';

/**
 * Proves that the rights that were used are those of `needs`, and that each of them is named where it is taken away.
 *
 * @returns how many rights there are
 * @throws Error with the difference
 */
export async function proveAccess(access: OperatorAccess, needs: readonly AccessNeed[]): Promise<number> {
  await eventually(() => {
    const report = access.report(needs);
    if (report !== '') throw new Error(report);
  });
  const rights = needs.flatMap((need) => (need.when === undefined ? need.verbs.map((verb) => ({ need, verb })) : []));
  for (const { need, verb } of rights) {
    const without = needs.map((each) =>
      each.group === need.group && each.resource === need.resource
        ? { ...each, verbs: each.verbs.filter((other) => other !== verb) }
        : each,
    );
    const expected = `not granted: ${verb} ${formatResource(need)}`;
    const report = access.report(without);
    if (!report.split('\n').some((line) => line.startsWith(expected)))
      throw new Error(`without the right to ${verb} ${formatResource(need)}, the report is ${JSON.stringify(report)}`);
  }
  return rights.length;
}
