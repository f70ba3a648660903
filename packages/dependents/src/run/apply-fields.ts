import type { Kind } from '@kctl/apimachinery';
import { apply, isApplyConflict } from '@kctl/client';
import type { ApplyConfiguration, ApplyConflictError } from '@kctl/client';
import { mutableCopy } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { AnyObject, ChildNode, Definition } from '../definition/node.js';
import { NodeFailure } from '../errors.js';
import type { Calls } from './run-context.js';

/** One way to apply: for real, or as a dry run. */
export interface Applying {
  readonly calls: Calls;
  readonly definition: Definition;
  readonly node: ChildNode;
  readonly dryRun: boolean;
}

/** An applied object, and the conflict because of which some fields were left out. */
export interface Applied {
  readonly object: AnyObject;
  readonly conflict?: NodeFailure;
}

/** Applies a configuration under the owner of the definition; fields that others hold as the node declares it. */
export async function applyFields(
  { calls, definition, node, dryRun }: Applying,
  configuration: ApplyConfiguration<Kind>,
): Promise<Applied> {
  const options = { ...calls.abort, fieldOwner: definition.fieldOwner, ...(dryRun ? { dryRun } : {}) };
  calls.beforeWrite();
  if (node.conflicts === 'force')
    return { object: await apply(calls.client, node.kind, configuration, { ...options, force: true }) };
  try {
    return { object: await apply(calls.client, node.kind, configuration, options) };
  } catch (error) {
    if (!isApplyConflict(error)) throw error;
    const rest = mutableCopy<object>(configuration);
    for (const { field } of error.conflicts) removeField(rest, field);
    calls.beforeWrite();
    return {
      object: await apply(calls.client, node.kind, rest as ApplyConfiguration<Kind>, options),
      conflict: conflictFailure(error),
    };
  }
}

function conflictFailure(error: ApplyConflictError): NodeFailure {
  const fields = error.conflicts.map(({ field, manager }) => `${field.slice(1)} (${manager})`).join(', ');
  return new NodeFailure('Conflict', `others own ${fields}`, {
    cause: error,
    paths: error.conflicts.map(({ field }) => field.slice(1)),
  });
}

/** Removes the field of a conflict, such as `.spec.containers[name="app"].image`. */
export function removeField(object: unknown, path: string): void {
  const steps = [...path.matchAll(/\.((?:[^.[\\]|\\.)+)|\[([^\]]*)\]/g)].map(([, name, selector]) => ({
    name,
    selector,
  }));
  const last = steps.pop();
  let present: unknown = object;
  for (const step of steps) present = below(present, step);
  if (last?.name !== undefined && isJsonObject(present)) Reflect.deleteProperty(present, last.name);
  else if (last?.selector !== undefined && Array.isArray(present)) {
    const item = below(present, last);
    const index = present.indexOf(item);
    if (index >= 0) present.splice(index, 1);
  }
}

interface Step {
  readonly name: string | undefined;
  readonly selector: string | undefined;
}

function below(value: unknown, { name, selector }: Step): unknown {
  if (name !== undefined) return isJsonObject(value) ? value[name] : undefined;
  if (!Array.isArray(value) || selector === undefined) return undefined;
  // A set: [="value"]; a list by keys: [containerPort=80,protocol="TCP"].
  const keys = selector.split(',').map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at), pair.slice(at + 1)] as const;
  });
  return value.find((item: unknown) =>
    keys.every(
      ([key, text]) => JSON.stringify(key === '' ? item : isJsonObject(item) ? item[key] : undefined) === text,
    ),
  );
}
