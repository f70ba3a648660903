/**
 * Documents in protobuf as gnostic writes them, with messages as tables of fields, in the order of their numbers.
 * Values without a separate type stand as YAML.
 */
import { arrayOf, isObject, objectOf, stringOf, type JsonObject } from '@kctl/crd/internal/engine';
import { nextTurn } from '@kctl/wait/internal';
import { ReverseWriter, wireType } from '../../protobuf/wire-writer.js';

/** How a value becomes the content of a message. */
export type Write = (writer: ReverseWriter, value: unknown) => void;
/** How a member of a JSON object becomes a field of that number. */
export type WriteField = (writer: ReverseWriter, number: number, value: unknown) => void;
/** Number and name of a field, and how it is written. */
export type FieldSpec = readonly [number: number, name: string, write: WriteField];

export function nested(write: Write): WriteField {
  return (writer, number, value) => {
    const before = writer.length;
    write(writer, value);
    writer.close(number, before);
  };
}

export const writeText: WriteField = nested((writer, value) => writer.text(stringOf(value)));

function writeFlag(writer: ReverseWriter, number: number, value: unknown): void {
  if (value !== true) return;
  writer.byte(1);
  writer.tag(number, wireType.varint);
}

function writeInteger(writer: ReverseWriter, number: number, value: unknown): void {
  if (typeof value !== 'number' || value === 0) return;
  writer.int64(value);
  writer.tag(number, wireType.varint);
}

function writeFloat(writer: ReverseWriter, number: number, value: unknown): void {
  if (typeof value !== 'number' || value === 0) return;
  writer.float64(value);
  writer.tag(number, wireType.fixed64);
}

export function each(write: WriteField): WriteField {
  return (writer, number, value) => {
    for (const item of arrayOf(value).toReversed()) write(writer, number, item);
  };
}

/** The members of an object, each as a pair of its name and its value. */
export function writePairs(write: WriteField): WriteField {
  return (writer, number, value) => {
    for (const [name, member] of Object.entries(objectOf(value)).toReversed()) {
      const before = writer.length;
      write(writer, 2, member);
      writeText(writer, 1, name);
      writer.close(number, before);
    }
  };
}

/** A message, with its fields and the number under which members that begin with `x-` are kept. */
export function message(extensions: number, specs: () => readonly FieldSpec[]): Write {
  let fields: readonly FieldSpec[] | undefined;
  return (writer, value) => {
    const object = objectOf(value);
    const others = Object.fromEntries(Object.entries(object).filter(([name]) => name.startsWith('x-')));
    writePairs(writeAny)(writer, extensions, others);
    for (const [number, name, write] of (fields ??= specs().toReversed()))
      if (object[name] !== undefined) write(writer, number, object[name]);
  };
}

/** Wraps the content in a message with one field. */
export function inside(number: number, write: WriteField): Write {
  return (writer, value) => write(writer, number, value);
}

export const text: (number: number, name: string) => FieldSpec = (number, name) => [number, name, writeText];
export const texts: (number: number, name: string) => FieldSpec = (number, name) => [number, name, each(writeText)];
export const flag: (number: number, name: string) => FieldSpec = (number, name) => [number, name, writeFlag];
export const integer: (number: number, name: string) => FieldSpec = (number, name) => [number, name, writeInteger];
export const float: (number: number, name: string) => FieldSpec = (number, name) => [number, name, writeFloat];
export const part: (number: number, name: string, write: Write) => FieldSpec = (number, name, write) => [
  number,
  name,
  nested(write),
];

const plainText = /^\.?[A-Za-z](?!.*(?:: | #|[: ]$))[\x20-\x7e]*$/;
/** Words that YAML does not read as strings. */
const wordsOfYaml = /^(?:true|false|null|yes|no|on|off|y|n|\.inf|\.nan)$/i;
const printable = /^[\x20-\x7e]*[^\d\x00-\x20\x7f-\uffff][\x20-\x7e]*$/;

/** A value as YAML in the style of Go's library. */
function yamlOf(value: unknown, indent: string): string {
  if (Array.isArray(value) && value.length > 0)
    return value.map((item: unknown) => `${indent}- ${yamlOf(item, `${indent}  `).trimStart()}`).join('');
  if (isObject(value) && Object.keys(value).length > 0)
    return Object.entries(value)
      .map(([name, member]) => `${indent}${scalarOf(name)}:${memberOf(member, indent)}`)
      .join('');
  return `${indent}${scalarOf(value)}\n`;
}

function memberOf(value: unknown, indent: string): string {
  const isNested = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  // The next multiple of four.
  return isNested ? `\n${yamlOf(value, ' '.repeat(4 * Math.floor(indent.length / 4 + 1)))}` : ` ${scalarOf(value)}\n`;
}

/** Scalars of JSON are those of YAML; a string has only the quotes that it needs. */
function scalarOf(value: unknown): string {
  if (typeof value !== 'string' || wordsOfYaml.test(value)) return JSON.stringify(value);
  if (plainText.test(value)) return value;
  return printable.test(value) ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value);
}

export const writeAny: WriteField = nested((writer, value) => writeText(writer, 2, yamlOf(value, '')));
export const any: (number: number, name: string) => FieldSpec = (number, name) => [number, name, writeAny];

/** A reference to something elsewhere, whose description has the given number. */
function reference(descriptionNumber: number): Write {
  return (writer, value) => {
    const { $ref, description } = objectOf(value);
    if (description !== undefined) writeText(writer, descriptionNumber, description);
    writeText(writer, 1, $ref);
  };
}

/** A message of a kind, or a reference to one elsewhere. */
export function orReference(write: Write, descriptionNumber: number): Write {
  const writeReference = nested(reference(descriptionNumber));
  return (writer, value) => {
    if (objectOf(value)['$ref'] !== undefined) writeReference(writer, 2, value);
    else nested(write)(writer, 1, value);
  };
}

/** Encodes a value as a message writes it. */
export function encode(write: Write, value: unknown): Uint8Array {
  const writer = new ReverseWriter();
  write(writer, value);
  return writer.finish();
}

/** Entries encoded at a time, which take about 5 ms. */
const entriesAtOnce = 32;

/** The members of an object as fields of a number, each a pair of name and value; others have their turn in between. */
export async function encodePairs(number: number, members: unknown, write: Write): Promise<readonly Uint8Array[]> {
  const entries = Object.entries(objectOf(members));
  const parts: Uint8Array[] = [];
  for (let index = 0; index < entries.length; index += entriesAtOnce) {
    await nextTurn();
    const some: JsonObject = Object.fromEntries(entries.slice(index, index + entriesAtOnce));
    parts.push(encode(inside(number, writePairs(nested(write))), some));
  }
  return parts;
}

/** Parts of a message as the content of a field; of nothing it is empty. */
export function enclose(number: number, parts: readonly Uint8Array[]): readonly Uint8Array[] {
  const writer = new ReverseWriter();
  writer.varint(parts.reduce((sum, part) => sum + part.length, 0));
  writer.tag(number, wireType.bytes);
  return [writer.finish(), ...parts];
}
