/** OpenAPI v3 in protobuf, as gnostic's message `openapi.v3.Document`. */
import { objectOf, stringOf, type JsonObject } from '@kctl/crd/internal/engine';
import { wireType } from '../../protobuf/wire-writer.js';
import {
  any,
  each,
  enclose,
  encode,
  encodePairs,
  flag,
  float,
  inside,
  integer,
  message,
  nested,
  orReference,
  part,
  text,
  texts,
  writeAny,
  writePairs,
  type Write,
} from './gnostic.js';

/** A description beside a reference. */
const referenceDescription = 3;
const schemaOrReference: Write = (writer, value) => orReference(schema, referenceDescription)(writer, value);

const additionalProperties: Write = (writer, value) => {
  if (typeof value === 'boolean') {
    writer.byte(value ? 1 : 0);
    writer.tag(2, wireType.varint);
  } else nested(schemaOrReference)(writer, 1, value);
};

/** Numbers, booleans and strings; any other value is present and empty. */
const defaultType: Write = (writer, value) => {
  if (typeof value === 'number' || typeof value === 'bigint') {
    writer.float64(Number(value));
    writer.tag(1, wireType.fixed64);
  } else if (typeof value === 'boolean') {
    writer.byte(value ? 1 : 0);
    writer.tag(2, wireType.varint);
  } else if (typeof value === 'string') {
    nested((inner) => inner.text(stringOf(value)))(writer, 3, value);
  }
};

const externalDocs = message(3, () => [text(1, 'description'), text(2, 'url')]);

const schema: Write = message(36, () => [
  flag(1, 'nullable'),
  part(6, 'externalDocs', externalDocs),
  any(7, 'example'),
  text(9, 'title'),
  float(10, 'multipleOf'),
  float(11, 'maximum'),
  flag(12, 'exclusiveMaximum'),
  float(13, 'minimum'),
  flag(14, 'exclusiveMinimum'),
  integer(15, 'maxLength'),
  integer(16, 'minLength'),
  text(17, 'pattern'),
  integer(18, 'maxItems'),
  integer(19, 'minItems'),
  flag(20, 'uniqueItems'),
  integer(21, 'maxProperties'),
  integer(22, 'minProperties'),
  texts(23, 'required'),
  [24, 'enum', each(writeAny)],
  text(25, 'type'),
  [26, 'allOf', each(nested(schemaOrReference))],
  [27, 'oneOf', each(nested(schemaOrReference))],
  [28, 'anyOf', each(nested(schemaOrReference))],
  part(29, 'not', schema),
  part(30, 'items', inside(1, nested(schemaOrReference))),
  part(31, 'properties', inside(1, writePairs(nested(schemaOrReference)))),
  part(32, 'additionalProperties', additionalProperties),
  part(33, 'default', defaultType),
  text(34, 'description'),
  text(35, 'format'),
]);

const mediaType = message(5, () => [part(1, 'schema', schemaOrReference)]);
const content: Write = inside(1, writePairs(nested(mediaType)));

const parameter = message(14, () => [
  text(1, 'name'),
  text(2, 'in'),
  text(3, 'description'),
  flag(4, 'required'),
  part(10, 'schema', schemaOrReference),
]);
const parameters = each(nested(orReference(parameter, referenceDescription)));

const requestBody = message(4, () => [text(1, 'description'), part(2, 'content', content), flag(3, 'required')]);
const response = message(5, () => [text(1, 'description'), part(3, 'content', content)]);
const responses: Write = inside(2, writePairs(nested(orReference(response, referenceDescription))));

const operation = message(13, () => [
  texts(1, 'tags'),
  text(2, 'summary'),
  text(3, 'description'),
  text(5, 'operationId'),
  [6, 'parameters', parameters],
  part(7, 'requestBody', orReference(requestBody, referenceDescription)),
  part(8, 'responses', responses),
  flag(10, 'deprecated'),
]);

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'];
const pathItem = message(14, () => [
  ...methods.map((method, index) => part(index + 4, method, operation)),
  [13, 'parameters', parameters],
]);

const securityScheme = message(9, () => [text(1, 'type'), text(2, 'description'), text(3, 'name'), text(4, 'in')]);
const components = message(10, () => [
  part(7, 'securitySchemes', inside(1, writePairs(nested(orReference(securityScheme, referenceDescription))))),
]);

const info = message(7, () => [text(1, 'title'), text(2, 'description'), text(6, 'version')]);
const start = message(9, () => [text(1, 'openapi'), part(2, 'info', info)]);

/** An OpenAPI v3 document in protobuf; others have their turn in between. */
export async function encodeOpenApiV3(value: JsonObject): Promise<Buffer> {
  const { paths, components: named, ...others } = value;
  const parts = [encode(start, others), ...enclose(4, await encodePairs(1, paths, pathItem))];
  if (named !== undefined) {
    const { schemas, ...rest } = objectOf(named);
    const schemaParts = schemas === undefined ? [] : enclose(1, await encodePairs(1, schemas, schemaOrReference));
    parts.push(...enclose(5, [...schemaParts, encode(components, rest)]));
  }
  return Buffer.concat(parts);
}
