import {
  cloneJson,
  decodeStruct,
  GoDecodeError,
  isObject,
  setOwn,
  type GoStruct,
  type JsonObject,
} from '@kctl/crd/internal/engine';
import type { NumberLiteral } from '../json/strict-json.js';

/** A fraction that no body has by chance. */
const standIn = (index: number): number => index + 0.123_456_789;
const standInPattern = /json: cannot unmarshal number (\d+)\.123456789 into/;

function place(root: JsonObject, { path }: NumberLiteral, value: number): void {
  let at: unknown = root;
  for (const step of path.slice(0, -1)) {
    if (Array.isArray(at) && typeof step === 'number') at = at[step];
    else if (isObject(at) && typeof step === 'string') at = at[step];
    else return;
  }
  const last = path.at(-1);
  if (Array.isArray(at) && typeof last === 'number') at[last] = value;
  else if (isObject(at) && typeof last === 'string') setOwn(at, last, value);
}

/**
 * Go reads no `2.0` into an integer. If a field takes integers only, the decoder reports this for a number that stands
 * in for the literal.
 *
 * @throws GoDecodeError with the literal
 */
export function requireIntegers(body: JsonObject, struct: GoStruct, literals: readonly NumberLiteral[]): void {
  if (literals.length === 0) return;
  const trial = cloneJson(body);
  for (const [index, literal] of literals.entries()) place(trial, literal, standIn(index));
  try {
    decodeStruct(trial, struct, []);
  } catch (error) {
    const [shown, index] = (error instanceof Error && standInPattern.exec(error.message)) || [];
    const literal = literals[Number(index)];
    if (shown === undefined || literal === undefined || !(error instanceof GoDecodeError)) return;
    throw new GoDecodeError(error.message.replace(shown, `json: cannot unmarshal number ${literal.text} into`));
  }
}

/** @throws GoDecodeError if a number is beyond the range of a float64 */
export function requireFloats(literals: readonly NumberLiteral[]): void {
  const digits = literals.find(({ text }) => !Number.isFinite(Number(text)))?.text;
  if (digits !== undefined)
    throw new GoDecodeError(`json: cannot unmarshal number ${digits} into Go value of type float64`);
}
