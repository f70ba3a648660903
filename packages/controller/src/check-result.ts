import type { ReconcileResult } from './reconciler.js';

const done: ReconcileResult = {};

/** The fields that a result may have; each its own check. */
const resultFields: { readonly [K in keyof ReconcileResult]-?: (value: unknown) => boolean } = {
  requeueAfterMs: Number.isFinite,
  keep: (value) => typeof value === 'boolean',
  priority: Number.isFinite,
  backoff: (value) => typeof value === 'boolean',
};

/** What a reconciler returned; a mistake in it is a failure, because ignoring it would lose a requeue. */
export function checkResult(result: unknown): ReconcileResult {
  if (result === undefined || result === null) return done;
  if (typeof result !== 'object') throw invalidResult(`the result ${shown(result)} is not valid`);
  for (const [field, value] of Object.entries(result)) {
    if (!isResultField(field)) throw invalidResult(`the result has an unknown field ${JSON.stringify(field)}`);
    if (value !== undefined && !resultFields[field](value))
      throw invalidResult(`${field} ${shown(value)} is not valid: it must be a ${expectedTypes[field]}`);
  }
  return result;
}

const expectedTypes: Readonly<Record<keyof ReconcileResult, string>> = {
  requeueAfterMs: 'finite number of ms',
  keep: 'boolean',
  priority: 'finite number',
  backoff: 'boolean',
};

/**
 * Whether a result asks for another run. A `requeueAfterMs` of zero or less is one, too: `deadline - now` that is
 * computed a moment late must not be taken for "done".
 */
export function asksForAnotherRun({ requeueAfterMs, backoff }: ReconcileResult): boolean {
  return requeueAfterMs !== undefined || backoff === true;
}

function isResultField(field: string): field is keyof ReconcileResult {
  return Object.hasOwn(resultFields, field);
}

function shown(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : `of type ${typeof value}`;
}

function invalidResult(problem: string): TypeError {
  return new TypeError(`reconcile: ${problem}; expected nothing or { requeueAfterMs, keep, backoff, priority }`);
}
