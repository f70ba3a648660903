/**
 * OpenAPI v2 in protobuf: the message `openapi.v2.Document` of gnostic, which clients of Kubernetes ask for. Repeated
 * parts and parts of parts may follow one another, so that two encoded documents, one after the other, are their union.
 */
import { arrayOf, isObject, objectOf, stringOf, type JsonObject } from '@kctl/crd/engine';
import { ReverseWriter, wireType } from '../../protobuf/wire-writer.js';

/** How a value becomes the content of a message. */
type Write = (writer: ReverseWriter, value: unknown) => void;
/** How a member of a JSON object becomes a field. */
interface Field {
  readonly number: number;
  readonly name: string;
  readonly write: (writer: ReverseWriter, number: number, value: unknown) => void;
}

function nested(write: Write): Field['write'] {
  return (writer, number, value) => {
    const before = writer.length;
    write(writer, value);
    writer.close(number, before);
  };
}

const writeText = nested((writer, value) => writer.text(stringOf(value)));

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

function each(write: Field['write']): Field['write'] {
  return (writer, number, value) => {
    for (const item of arrayOf(value).toReversed()) write(writer, number, item);
  };
}

/** The members of an object, each as a pair of its name and its value. */
function writePairs(write: Field['write']): Field['write'] {
  return (writer, number, value) => {
    for (const [name, member] of Object.entries(objectOf(value)).toReversed()) {
      const before = writer.length;
      write(writer, 2, member);
      writeText(writer, 1, name);
      writer.close(number, before);
    }
  };
}

type FieldSpec = readonly [number: number, name: string, write: Field['write']];

/** A message: its fields, and the number under which members that begin with `x-` are kept. */
function message(extensions: number, specs: () => readonly FieldSpec[]): Write {
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
function inside(number: number, write: Field['write']): Write {
  return (writer, value) => write(writer, number, value);
}

const text = (number: number, name: string): FieldSpec => [number, name, writeText];
const texts = (number: number, name: string): FieldSpec => [number, name, each(writeText)];
const flag = (number: number, name: string): FieldSpec => [number, name, writeFlag];
const integer = (number: number, name: string): FieldSpec => [number, name, writeInteger];
const float = (number: number, name: string): FieldSpec => [number, name, writeFloat];
const part = (number: number, name: string, write: Write): FieldSpec => [number, name, nested(write)];

const plainText = /^\.?[A-Za-z](?!.*(?:: | #|[: ]$))[\x20-\x7e]*$/;
/** What YAML takes for something else than a text. */
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

/** Scalars of JSON are those of YAML; a text has only the quotes that it needs. */
function scalarOf(value: unknown): string {
  if (typeof value !== 'string' || wordsOfYaml.test(value)) return JSON.stringify(value);
  if (plainText.test(value)) return value;
  return printable.test(value) ? `'${value.replaceAll("'", "''")}'` : JSON.stringify(value);
}

const writeAny: Field['write'] = nested((writer, value) => writeText(writer, 2, yamlOf(value, '')));
const any = (number: number, name: string): FieldSpec => [number, name, writeAny];

const writeReference: Write = (writer, value) => {
  const { $ref, description } = objectOf(value);
  if (description !== undefined) writeText(writer, 2, description);
  writeText(writer, 1, $ref);
};

/** A message of a kind, or a reference to one elsewhere. */
function orReference(write: Write): Write {
  return (writer, value) => {
    const isReference = objectOf(value)['$ref'] !== undefined;
    if (isReference) nested(writeReference)(writer, 2, value);
    else nested(write)(writer, 1, value);
  };
}

const additionalProperties: Write = (writer, value) => {
  if (typeof value === 'boolean') {
    writer.byte(value ? 1 : 0);
    writer.tag(2, wireType.varint);
  } else nested(schema)(writer, 1, value);
};

const typeItem: Write = (writer, value) => each(writeText)(writer, 1, Array.isArray(value) ? value : [value]);

const info = message(7, () => [text(1, 'title'), text(2, 'version'), text(3, 'description')]);

const schema: Write = message(31, () => [
  text(1, '$ref'),
  text(2, 'format'),
  text(3, 'title'),
  text(4, 'description'),
  any(5, 'default'),
  float(6, 'multipleOf'),
  float(7, 'maximum'),
  flag(8, 'exclusiveMaximum'),
  float(9, 'minimum'),
  flag(10, 'exclusiveMinimum'),
  integer(11, 'maxLength'),
  integer(12, 'minLength'),
  text(13, 'pattern'),
  integer(14, 'maxItems'),
  integer(15, 'minItems'),
  flag(16, 'uniqueItems'),
  integer(17, 'maxProperties'),
  integer(18, 'minProperties'),
  texts(19, 'required'),
  [20, 'enum', each(writeAny)],
  part(21, 'additionalProperties', additionalProperties),
  part(22, 'type', typeItem),
  part(23, 'items', inside(1, nested(schema))),
  [24, 'allOf', each(nested(schema))],
  part(25, 'properties', inside(1, writePairs(nested(schema)))),
  part(
    29,
    'externalDocs',
    message(3, () => [text(1, 'description'), text(2, 'url')]),
  ),
  any(30, 'example'),
]);

const bodyParameter = message(6, () => [
  text(1, 'description'),
  text(2, 'name'),
  text(3, 'in'),
  flag(4, 'required'),
  part(5, 'schema', schema),
]);
/** Path parameters have one field less than those of the query. */
const pathParameter = message(22, () => [
  flag(1, 'required'),
  text(2, 'in'),
  text(3, 'description'),
  text(4, 'name'),
  text(5, 'type'),
  flag(19, 'uniqueItems'),
]);
const queryParameter = message(23, () => [
  flag(1, 'required'),
  text(2, 'in'),
  text(3, 'description'),
  text(4, 'name'),
  text(6, 'type'),
  flag(20, 'uniqueItems'),
]);

const parameter: Write = (writer, value) => {
  const { in: place } = objectOf(value);
  if (place === 'body') nested(bodyParameter)(writer, 1, value);
  else
    nested((inner, other) => {
      if (place === 'path') nested(pathParameter)(inner, 4, other);
      else nested(queryParameter)(inner, 3, other);
    })(writer, 2, value);
};
const parameters = each(nested(orReference(parameter)));

const response = message(5, () => [text(1, 'description'), part(2, 'schema', inside(1, nested(schema)))]);
const responses: Write = inside(1, writePairs(nested(orReference(response))));

const operation = message(13, () => [
  texts(1, 'tags'),
  text(2, 'summary'),
  text(3, 'description'),
  text(5, 'operationId'),
  texts(6, 'produces'),
  texts(7, 'consumes'),
  [8, 'parameters', parameters],
  part(9, 'responses', responses),
  texts(10, 'schemes'),
  flag(11, 'deprecated'),
]);

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];
const pathItem = message(10, () => [
  ...methods.map((method, index) => part(index + 2, method, operation)),
  [9, 'parameters', parameters],
]);

const apiKeySecurity = message(5, () => [text(1, 'type'), text(2, 'name'), text(3, 'in'), text(4, 'description')]);
const requirement: Write = inside(1, writePairs(nested(inside(1, each(writeText)))));

const document = message(16, () => [
  text(1, 'swagger'),
  part(2, 'info', info),
  part(8, 'paths', inside(2, writePairs(nested(pathItem)))),
  part(9, 'definitions', inside(1, writePairs(nested(schema)))),
  part(10, 'parameters', inside(1, writePairs(nested(parameter)))),
  [12, 'security', each(nested(requirement))],
  part(13, 'securityDefinitions', inside(1, writePairs(nested(inside(2, nested(apiKeySecurity)))))),
]);

/** An OpenAPI v2 document, or a part of one, in protobuf. */
export function encodeOpenApiV2(value: JsonObject): Uint8Array {
  const writer = new ReverseWriter();
  document(writer, value);
  return writer.finish();
}
