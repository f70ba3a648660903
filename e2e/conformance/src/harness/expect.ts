/** Assertions on answers; each failure shows the request and what was answered. */
import { AssertionError, deepStrictEqual } from 'node:assert';
import type { Doc } from './doc.js';
import type { Answer } from './http.js';

export interface ExpectedCause {
  readonly reason: string;
  /** undefined = the cause names no field */
  readonly field?: string;
  readonly message?: string | RegExp;
}

export interface ExpectedFailure {
  readonly code: number;
  /** undefined = the Status has no reason */
  readonly reason: string | undefined;
  readonly message?: string | RegExp;
  /** `details` without its causes, exactly. */
  readonly details?: Record<string, unknown>;
  /** All causes in this order; `message` is compared where given. */
  readonly causes?: readonly ExpectedCause[];
}

export function fail(message: string): never {
  throw new AssertionError({ message });
}

export function check(condition: boolean, message: string): asserts condition {
  if (!condition) fail(message);
}

/** Deep equality of JSON values; property order does not matter. */
export function same(actual: unknown, expected: unknown, what = 'value'): void {
  try {
    deepStrictEqual(plain(actual), plain(expected));
  } catch {
    fail(`${what}: expected ${show(expected)}, got ${show(actual)}`);
  }
}

export function matches(actual: string, expected: string | RegExp, what = 'text'): void {
  const passed = typeof expected === 'string' ? actual === expected : expected.test(actual);
  if (!passed) fail(`${what}: expected ${String(expected)}, got ${actual}`);
}

export function status(answer: Answer, code: number): Doc {
  if (answer.status !== code)
    fail(`${answer.request}: expected ${code}, got ${answer.status} ${answer.text.slice(0, 1500)}`);
  return answer.body;
}

export const ok = (answer: Answer): Doc => status(answer, 200);
export const created = (answer: Answer): Doc => status(answer, 201);

/** The answer is a Status of a failure. */
export function failure(answer: Answer, expected: ExpectedFailure): Doc {
  const body = status(answer, expected.code);
  checkStatus(body, expected, answer.request);
  return body;
}

export function checkStatus(body: Doc, expected: ExpectedFailure, request = 'Status'): void {
  const shown = `${request}: ${JSON.stringify(body).slice(0, 1500)}`;
  same([body.kind, body.apiVersion, body.status], ['Status', 'v1', 'Failure'], `${shown}\n  kind, apiVersion, status`);
  same(body.code, expected.code, `${shown}\n  code`);
  same(body.reason, expected.reason, `${shown}\n  reason`);
  if (expected.message !== undefined) matches(body.message, expected.message, `${shown}\n  message`);
  if (expected.details !== undefined) {
    const { causes: _causes, ...details } = (body.details ?? {}) as { causes?: unknown };
    same(details, expected.details, `${shown}\n  details`);
  }
  if (expected.causes !== undefined) {
    const causes = (body.details?.causes ?? []) as { reason: string; field?: string; message: string }[];
    same(
      causes.map(({ reason, field }) => ({ reason, field })),
      expected.causes.map(({ reason, field }) => ({ reason, field })),
      `${shown}\n  causes`,
    );
    expected.causes.forEach(({ message }, index) => {
      if (message !== undefined) matches(causes[index]?.message ?? '', message, `${shown}\n  cause ${index}`);
    });
  }
}

export const names = (list: Doc): string[] => list.items.map((item) => item.metadata.name);

/** Whether revision `a` is newer than `b`; they are decimal strings of any length. */
export const isNewer = (a: string, b: string): boolean => a.length > b.length || (a.length === b.length && a > b);

export function checkNewer(a: string, b: string, what: string): void {
  check(isNewer(a, b), `${what}: expected a revision after ${b}, got ${a}`);
}

const plain = (value: unknown): unknown =>
  value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);

function show(value: unknown): string {
  return value === undefined
    ? 'undefined'
    : ((JSON.stringify(value) as string | undefined)?.slice(0, 1500) ?? typeof value);
}
