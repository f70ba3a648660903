import type { DeepReadonly, Kind, ManagedFieldsEntry } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { AnyObject } from '../definition/node.js';

type Entry = DeepReadonly<ManagedFieldsEntry>;

/**
 * The managed fields of an object after what former owners hold, by apply or update, has moved to the present owner, so
 * that a field that is no longer desired goes away with the next apply. Undefined if former owners hold nothing. Fields
 * of other API versions and of subresources stay. After client-go's `csaupgrade`.
 */
export function withoutFormerOwners(
  object: AnyObject,
  kind: Kind,
  { owner, former }: { readonly owner: string; readonly former: readonly string[] },
): Entry[] | undefined {
  const entries = object.metadata.managedFields ?? [];
  const isFormer = (entry: Entry): boolean =>
    former.includes(entry.manager ?? '') && entry.apiVersion === kind.apiVersion && (entry.subresource ?? '') === '';
  const moved = entries.filter(isFormer);
  if (moved.length === 0) return undefined;
  const isOwn = (entry: Entry): boolean =>
    entry.manager === owner &&
    entry.operation === 'Apply' &&
    entry.apiVersion === kind.apiVersion &&
    (entry.subresource ?? '') === '';
  const own = entries.find(isOwn);
  const fieldsV1 = [own, ...moved].reduce<Record<string, unknown>>((all, entry) => union(all, entry?.fieldsV1), {});
  const rest = entries.filter((entry) => !isFormer(entry) && !isOwn(entry));
  const [{ time } = {}] = moved;
  return [
    ...rest,
    {
      apiVersion: kind.apiVersion,
      fieldsType: 'FieldsV1',
      fieldsV1,
      manager: owner,
      operation: 'Apply',
      ...(time === undefined ? {} : { time }),
    },
  ];
}

function union(a: Record<string, unknown>, b: unknown): Record<string, unknown> {
  if (!isJsonObject(b)) return a;
  const result = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const present = result[name];
    result[name] = isJsonObject(present) && isJsonObject(value) ? union(present, value) : (present ?? value);
  }
  return result;
}

/** Other managers that hold a field, by its path in the notation of differences, e.g. `spec.replicas`. */
export function otherManagers(object: AnyObject, owner: string, path: string): string[] {
  const steps = path.split('.').filter((step) => !step.includes('['));
  return (object.metadata.managedFields ?? []).flatMap((entry) => {
    if (entry.manager === owner || entry.manager === undefined || (entry.subresource ?? '') !== '') return [];
    return holds(entry.fieldsV1, steps) ? [entry.manager] : [];
  });
}

function holds(fields: unknown, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true;
  if (!isJsonObject(fields)) return false;
  const below = fields[`f:${step}`];
  return below !== undefined && holds(below, rest);
}
