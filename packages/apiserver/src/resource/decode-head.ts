import { isObject, jsonText, stringOf, type JsonObject, goQuoted } from '@kctl/crd/internal/engine';
import { noObjectText } from '../protocol/go-text.js';
import { badRequest } from '../protocol/status.js';
import type { DecodeInput } from './resource.js';

/** Type required of a body by the URL. */
export interface ExpectedType {
  readonly apiVersion: string;
  readonly group: string;
  readonly kind: string;
  readonly version: string;
}

/** The start of a body, as it is if it looks like an object, else in hexadecimal. */
function excerpt(text: string): string {
  if (text === '') return '<empty>';
  const bytes = Buffer.from(text);
  const more = bytes.length > 30 ? ' ...' : '';
  return bytes.subarray(0, 30).toString(text.startsWith('{') ? 'utf8' : 'hex') + more;
}

/** 400 of a body that is not an object; `why` is the decoder's message. */
export function unrecognized(kind: string, why: string, text: string): Error {
  return badRequest(`the object provided is unrecognized (must be of type ${kind}): ${why} (${excerpt(text)})`);
}

function bodyText(input: DecodeInput): string {
  return input.text ?? jsonText(input.value);
}

/** The body as an object. @throws StatusError 400 */
export function requireObject(input: DecodeInput, expected: ExpectedType): JsonObject {
  if (isObject(input.value)) return input.value;
  if (input.value === null) return {};
  throw unrecognized(expected.kind, noObjectText(input.value), bodyText(input));
}

/** Custom resources must state their type. @throws StatusError 400 */
export function requireTypeMeta(input: DecodeInput, body: JsonObject, expected: ExpectedType): void {
  for (const [field, label] of [
    ['kind', 'Kind'],
    ['apiVersion', 'apiVersion'],
  ] as const) {
    if (stringOf(body[field]) !== '') continue;
    const text = bodyText(input).trimEnd();
    throw unrecognized(expected.kind, `Object '${label}' is missing in '${text}'`, text);
  }
}

/** @throws StatusError 400 when the body is of another version than the URL */
export function requireApiVersion(body: JsonObject, expected: ExpectedType): void {
  const given = stringOf(body['apiVersion']);
  if (given === '' || given === expected.apiVersion) return;
  throw badRequest(
    `the API version in the data (${given}) does not match the expected API version (${expected.apiVersion})`,
  );
}

/** 400 for a body that does not fit its type: `reason` is the decoder's. */
export function cannotBeHandled(expected: ExpectedType, given: string, reason: string): Error {
  return badRequest(
    `${given} in version ${goQuoted(expected.version)} cannot be handled as a ${expected.kind}: ${reason}`,
  );
}

/** `unknown field "spec.bogus"` of each path. */
export function unknownFields(paths: readonly string[]): string[] {
  return paths.map((path) => `unknown field ${goQuoted(path)}`);
}

/** The name of a group in messages of the converter: `core`, `apps`, `rbac`. */
export function internalGroup(group: string): string {
  return group === '' ? 'core' : (group.split('.')[0] ?? group);
}
