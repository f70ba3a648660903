import type { UntypedObject } from '@kctl/apimachinery';
import { isObject, objectOf, objectsOf, stringOf, stringsOf, type JsonObject } from '../engine/values/json.js';
import { modelOf, withoutZeroDefault } from './models.js';

const metadataRef = /\.apis\.meta\.v1\.ObjectMeta$/;

/** Maximum number of schemas in one kind after references are inlined, since these can double with each level. */
const maxSchemas = 100_000;

const openObject: JsonObject = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** The rest of a limit that the references of one kind share. */
interface Budget {
  left: number;
}

/** The schema of a kind; one that is too large when its references are written out is open as a whole. */
function schemaOf(name: string, schemas: JsonObject): JsonObject {
  const budget = { left: maxSchemas };
  const schema = resolved(schemas[name], { schemas, budget }, [name]);
  return budget.left > 0 ? schema : openObject;
}

interface Document {
  readonly schemas: JsonObject;
  readonly budget: Budget;
}

/** A schema without references. A type that contains itself is left open at that point. */
function resolved(schema: unknown, document: Document, seen: readonly string[]): JsonObject {
  const { schemas, budget } = document;
  budget.left -= 1;
  if (!isObject(schema) || budget.left <= 0) return {};
  const reference = modelOf(schema);
  if (reference !== undefined) {
    if (metadataRef.test(reference)) return { type: 'object' };
    if (seen.includes(reference)) return openObject;
    const { $ref: _reference, allOf: _all, ...beside } = schema;
    return { ...resolved(schemas[reference], document, [...seen, reference]), ...withoutZeroDefault(beside, false) };
  }
  const result: JsonObject = withoutZeroDefault({ ...schema }, false);
  if (objectsOf(schema['oneOf']).length === 2 && schema['type'] === undefined)
    result['x-kubernetes-int-or-string'] = true;
  if (isObject(schema['properties'])) {
    const required = new Set(stringsOf(schema['required']));
    result['properties'] = Object.fromEntries(
      Object.entries(schema['properties']).map(([name, property]) => [
        name,
        withoutZeroDefault(resolved(property, document, seen), required.has(name)),
      ]),
    );
  }
  for (const keyword of ['items', 'additionalProperties']) {
    if (isObject(schema[keyword])) result[keyword] = resolved(schema[keyword], document, seen);
  }
  return result;
}

interface Place {
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
}

/** Positions of the objects of each kind, by the paths of the document. */
function placesOf(document: JsonObject): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const [path, item] of Object.entries(objectOf(document['paths']))) {
    const match = /^\/apis?\/[^{]*?(\/namespaces\/\{namespace\})?\/([a-z0-9-]+)\/\{name\}$/.exec(path);
    const kind = objectOf(objectOf(objectOf(item)['get'])['x-kubernetes-group-version-kind'])['kind'];
    if (match === null || typeof kind !== 'string') continue;
    places.set(kind, { plural: match[2] ?? '', scope: match[1] === undefined ? 'Cluster' : 'Namespaced' });
  }
  return places;
}

/**
 * The kinds of a cluster's OpenAPI document as definitions, for `generateKinds`. Takes the documents that the API
 * server has under `/openapi/v3/apis/<group>/<version>`. Kinds without a path (lists, options) are left out.
 */
export function definitionsOfOpenApi(document: object): UntypedObject[] {
  const source = objectOf(document);
  const schemas = objectOf(objectOf(source['components'])['schemas']);
  const places = placesOf(source);
  return Object.entries(schemas).flatMap(([name, schema]) => {
    const kinds = objectsOf(objectOf(schema)['x-kubernetes-group-version-kind']);
    const [only] = kinds;
    const place = places.get(stringOf(only?.['kind']));
    if (only === undefined || kinds.length !== 1 || place === undefined) return [];
    const { plural, scope } = place;
    const group = stringOf(only['group']);
    const version = { name: stringOf(only['version']), served: true, storage: true };
    const openAPIV3Schema = schemaOf(name, schemas);
    return [
      {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: `${plural}.${group}` },
        spec: {
          group,
          scope,
          names: { kind: stringOf(only['kind']), plural },
          versions: [{ ...version, schema: { openAPIV3Schema } }],
        },
      },
    ];
  });
}
