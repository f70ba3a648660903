/** Differences that are known and accepted, each with the reason. The aim is an empty list. */
import type { Divergence } from './compare.js';

export interface Explanation {
  readonly reason: string;
  covers(divergence: Divergence, request: string): boolean;
}

/** JSON inside of a message, and what follows it. */
const VALUE = /\{.*\}/s;

const isText = (value: unknown): value is string => typeof value === 'string';

/** Messages that agree but for a JSON value inside of them. */
function differsInValue(real: unknown, embedded: unknown): boolean {
  return isText(real) && isText(embedded) && real.replace(VALUE, '<value>') === embedded.replace(VALUE, '<value>');
}

export const explanations: readonly Explanation[] = [
  {
    reason:
      'the real server prints an invalid value of a built-in as the Go struct of its internal version, with Go names and zero values',
    covers: ({ path, real, embedded }) =>
      path.includes('/causes/') && isText(real) && /\{"[A-Z]/.test(real) && differsInValue(real, embedded),
  },
  {
    reason:
      'the object that does not decode after a patch is printed as text: its fields come in another order there, with managedFields',
    covers: ({ path, real, embedded }) =>
      path.endsWith('/message') &&
      isText(real) &&
      real.startsWith('Invalid value: "{') &&
      differsInValue(real, embedded),
  },
  {
    reason:
      'a custom resource of a version that does not exist is refused by both; the real server has warned about unknown metadata before',
    covers: ({ path }, request) => path === '/warnings' && request.includes('/widgets'),
  },
];
