import type { Kind } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import { apply, extractApplied } from '@kctl/client';
import type { ApplyConfiguration, FieldDifference } from '@kctl/client';
import type { AnyObject } from '../definition/node.js';
import { asRead } from './compare.js';
import type { Applying } from './apply-fields.js';
import { isNamed } from './configuration.js';
import { valueAt } from './value-at.js';

/** The owner of fields that are set once. */
export function initialOwner(fieldOwner: string): string {
  return `${fieldOwner}-initial`;
}

/**
 * Takes over, with their present values, the fields that the owner holds and no longer wants, and that are initial fields:
 * then they keep their values when the owner lets go of them. Applies under the owner of initial fields.
 */
export async function keepInitialFields(
  { calls, definition, node, dryRun }: Applying,
  present: AnyObject,
  { initial, released }: { readonly initial: unknown; readonly released: readonly FieldDifference[] },
): Promise<void> {
  if (!released.some(({ path, reason }) => reason === 'noLongerDesired' && isWithin(initial, path))) return;
  const owner = initialOwner(definition.fieldOwner);
  const own = extractApplied(node.kind, asRead(present), definition.fieldOwner);
  const held = extractApplied(node.kind, asRead(present), owner);
  const { uid } = present.metadata;
  const configuration = overlay(held, {
    ...asObject(restrict(own, initial)),
    metadata: uid === undefined ? {} : { uid },
  });
  await applyInitial({ calls, definition, node, dryRun }, configuration);
}

/** Applies a configuration under the owner of initial fields. */
export async function applyInitial(
  { calls, definition, node, dryRun }: Applying,
  configuration: unknown,
): Promise<AnyObject> {
  calls.beforeWrite();
  return await apply(calls.client, node.kind, configuration as ApplyConfiguration<Kind>, {
    ...calls.abort,
    fieldOwner: initialOwner(definition.fieldOwner),
    force: true,
    ...(dryRun ? { dryRun } : {}),
  });
}

/** Whether a field is one of the initial fields, or part of one, or contains one. */
function isWithin(initial: unknown, path: string): boolean {
  return valueAt(initial, path) !== undefined;
}

/** The part of a value that has the shape of another. Items of lists are matched by name. */
function restrict(value: unknown, shape: unknown): unknown {
  if (isJsonObject(value) && isJsonObject(shape))
    return Object.fromEntries(
      Object.keys(shape)
        .filter((name) => value[name] !== undefined)
        .map((name) => [name, restrict(value[name], shape[name])]),
    );
  if (isNamed(value) && isNamed(shape))
    return value.flatMap((item) => {
      const part = shape.find(({ name }) => name === item.name);
      return part === undefined ? [] : [restrict(item, part)];
    });
  return value;
}

function overlay(base: unknown, over: unknown): unknown {
  if (!isJsonObject(base) || !isJsonObject(over)) return over ?? base;
  const names = new Set([...Object.keys(base), ...Object.keys(over)]);
  return Object.fromEntries(
    [...names].map((name) => [name, over[name] === undefined ? base[name] : overlay(base[name], over[name])]),
  );
}

function asObject(value: unknown): object {
  return isJsonObject(value) ? value : {};
}
