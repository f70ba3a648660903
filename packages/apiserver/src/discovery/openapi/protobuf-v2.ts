/** OpenAPI v2 in protobuf, as gnostic's message `openapi.v2.Document`, which clients of Kubernetes request. */
import { objectOf, type JsonObject } from '@kctl/crd/internal/engine';
import { wireType } from '../../protobuf/wire-writer.js';
import type { PartsV2 } from '../../offload/fragment.js';
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
  writeText,
  type Write,
} from './gnostic.js';

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
const parameters = each(nested(orReference(parameter, 2)));

const response = message(5, () => [text(1, 'description'), part(2, 'schema', inside(1, nested(schema)))]);
const responses: Write = inside(1, writePairs(nested(orReference(response, 2))));

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

const start = message(16, () => [text(1, 'swagger'), part(2, 'info', info)]);
const end = message(16, () => [
  part(10, 'parameters', inside(1, writePairs(nested(parameter)))),
  [12, 'security', each(nested(requirement))],
  part(13, 'securityDefinitions', inside(1, writePairs(nested(inside(2, nested(apiKeySecurity)))))),
]);

/** A document in parts; others have their turn in between. */
export async function encodePartsV2(value: JsonObject): Promise<PartsV2> {
  const { paths, definitions, ...others } = objectOf(value);
  return {
    start: encode(start, others),
    paths: await encodePairs(2, paths, pathItem),
    definitions: await encodePairs(1, definitions, schema),
    end: encode(end, others),
  };
}

/** The document joined from parts, with start and end of the first one. */
export function joinPartsV2(all: readonly [PartsV2, ...PartsV2[]]): Buffer {
  const [{ start, end }] = all;
  const paths = all.flatMap((parts) => parts.paths);
  const definitions = all.flatMap((parts) => parts.definitions);
  return Buffer.concat([start, ...enclose(8, paths), ...enclose(9, definitions), end]);
}
