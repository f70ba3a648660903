/** Small judgements about objects; each throws a sentence that says what is so instead. */
import type { KubeObject } from './api.js';

export function equal(what: string, got: unknown, wanted: unknown): void {
  const [left, right] = [JSON.stringify(got), JSON.stringify(wanted)];
  if (left !== right) throw new Error(`${what}: got ${left ?? 'nothing'}, want ${right ?? 'nothing'}`);
}

export function isTrue(what: string, got: boolean): void {
  if (!got) throw new Error(`${what}: not so`);
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** A condition of the object has this status. */
export function condition(object: KubeObject, type: string, status: string): void {
  const conditions = (object.status?.['conditions'] ?? []) as readonly Condition[];
  const found = conditions.find((each) => each.type === type);
  if (found?.status === status) return;
  const state = found === undefined ? 'absent' : `${found.status} (${found.reason ?? ''}: ${found.message ?? ''})`;
  throw new Error(`${object.kind ?? 'object'} ${object.metadata.name}: condition ${type} is ${state}, want ${status}`);
}

/** The value at a path such as `spec.template.spec.containers.0.image`. */
export function at(object: unknown, path: string): unknown {
  let value = object;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[part];
  }
  return value;
}

export function decoded(object: KubeObject, key: string): string {
  return Buffer.from(object.data?.[key] ?? '', 'base64').toString('utf8');
}
