import { arrayOf, equalJson, isObject, stringsOf, type JsonObject } from '../engine/values/json.js';
import { allRules, FieldSettings } from '../structural/field-settings.js';
import { Converter } from '../structural/convert.js';
import type { Report } from '../structural/report.js';
import { refusalsOf } from '../source/differential.js';
import { writeJsonSchema } from '../source/json-schema.js';
import type { SchemaValue } from '../source/schema-value.js';
import type { VersionOptions } from './options.js';

const apiVersionText = 'APIVersion defines the versioned schema of this representation of an object.';
const kindText = 'Kind is a string value representing the REST resource this object represents.';

/** Reads the schemas of one version into its `openAPIV3Schema`. */
export function objectSchema(version: VersionOptions, report: Report, label: string): JsonObject {
  const settings = new FieldSettings(version.fields ?? {});
  const convert = (source: SchemaValue, path: string): JsonObject => {
    const written = writeJsonSchema(source);
    if ('schema' in written) {
      const schema = new Converter(written.schema, settings, report, label).convert(path);
      warnOfRefusals(source, schema, { version, report, field: [label, path].filter((each) => each !== '').join(' ') });
      return schema;
    }
    const field = `${label} ${path}`.trim();
    const remedy = 'write types that JSON has, or give the schema of the field by path in fields';
    report.problems.push({ field, value: undefined, problem: written.problem, remedy });
    return { type: 'object' };
  };
  const whole = version.schema === undefined ? {} : convert(version.schema, '');
  const own = isObject(whole['properties']) ? whole['properties'] : {};
  const required = stringsOf(whole['required']).filter((name) => !['apiVersion', 'kind', 'metadata'].includes(name));
  if (version.spec !== undefined) required.push('spec');
  const schema: JsonObject = {
    ...whole,
    type: 'object',
    properties: {
      apiVersion: { type: 'string', description: apiVersionText },
      kind: { type: 'string', description: kindText },
      metadata: { type: 'object' },
      ...own,
      ...(version.spec !== undefined && { spec: convert(version.spec, 'spec') }),
      ...(version.status !== undefined && { status: convert(version.status, 'status') }),
    },
  };
  delete schema['required'];
  if (required.length > 0) schema['required'] = [...new Set(required)].sort();
  if (version.description !== undefined) schema['description'] = version.description;
  applyRootMarkers(schema, version, settings);
  for (const path of settings.unused()) {
    report.problems.push({
      field: `${label} fields`,
      value: path,
      problem: 'the path leads to no field of the schema',
      remedy: 'write spec.parts[].name for a field of list items, spec.limits{} for the values of a map',
    });
  }
  return schema;
}

interface Checked {
  readonly version: VersionOptions;
  readonly report: Report;
  readonly field: string;
}

/** Libraries that are inspected directly, so features missing in their JSON Schema have already been rejected. */
const inspected: ReadonlySet<string> = new Set(['arktype', 'effect', 'json-schema', 'kctl', 'zod']);

function warnOfRefusals(source: SchemaValue, schema: JsonObject, { version, report, field }: Checked): void {
  const { vendor } = source['~standard'];
  // With problems there is no definition; with settings by path the definition differs from that of the library.
  if (inspected.has(vendor) || report.problems.length > 0 || Object.keys(version.fields ?? {}).length > 0) return;
  if ((version.rules ?? []).length > 0) return;
  for (const { path, value, message } of refusalsOf(source, schema)) {
    const steps = path.map((step) => (/^\d+$/.test(step) ? '[]' : `.${step}`)).join('');
    report.warnings.push(
      `${field}${steps}: ${vendor} refuses ${JSON.stringify(value)} (${message}), which the API server takes: write the check as a cel() rule`,
    );
  }
}

function applyRootMarkers(schema: JsonObject, version: VersionOptions, settings: FieldSettings): void {
  const root = version.schema === undefined ? settings.take('') : undefined;
  const markers = [...(root === undefined ? [] : [root]), ...(version.rules ?? [])];
  const rules = allRules(markers);
  for (const marker of markers) {
    for (const [keyword, value] of Object.entries(marker)) {
      if (keyword !== 'x-kubernetes-validations' && !keyword.startsWith('x-kctl-')) schema[keyword] = value;
    }
  }
  const all = [...arrayOf(schema['x-kubernetes-validations']), ...rules];
  if (all.length > 0) schema['x-kubernetes-validations'] = all;
}

/** Names of the fields that the schema of an embedded template's metadata has. */
const embeddedNames = ['annotations', 'finalizers', 'labels', 'name', 'namespace'];

function isEmbeddedMetadata(schema: unknown): schema is JsonObject {
  if (!isObject(schema) || !isObject(schema['properties'])) return false;
  return equalJson(Object.keys(schema['properties']).sort(), embeddedNames);
}

/** Leaves `type: object` of the metadata of embedded templates, in place, as controller-gen does by default. */
export function pruneEmbeddedMetadata(schema: unknown): void {
  if (!isObject(schema)) return;
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  for (const [name, property] of Object.entries(properties)) {
    if (name === 'metadata' && isEmbeddedMetadata(property)) delete property['properties'];
    else pruneEmbeddedMetadata(property);
  }
  pruneEmbeddedMetadata(schema['items']);
  pruneEmbeddedMetadata(schema['additionalProperties']);
}

/** Truncates descriptions in place to this length, at the end of a sentence or a word if there is one. */
export function limitDescriptions(schema: unknown, limit: number): void {
  if (!isObject(schema)) return;
  const { description } = schema;
  if (typeof description === 'string') {
    if (limit === 0) delete schema['description'];
    else schema['description'] = shortened(description, limit);
  }
  const children = [schema['properties'], schema['items'], schema['additionalProperties']];
  for (const child of children) {
    if (child === schema['properties'] && isObject(child)) {
      for (const property of Object.values(child)) limitDescriptions(property, limit);
    } else limitDescriptions(child, limit);
  }
}

function shortened(text: string, limit: number): string {
  const characters = Array.from(text);
  if (characters.length <= limit) return text;
  const head = characters.slice(0, limit).join('');
  const sentence = Math.max(...['.', '!', '?'].map((end) => head.lastIndexOf(end)));
  if (sentence > 0) return head.slice(0, sentence + 1);
  const word = Math.max(head.lastIndexOf(' '), head.lastIndexOf('\n'));
  return `${word > 0 ? head.slice(0, word) : head}...`;
}
