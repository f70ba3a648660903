import { type UntypedObject } from '@kctl/apimachinery';
import { compareVersions } from '@kctl/apimachinery/internal';
import { validateCrd } from '../engine/definition/crd-validation.js';
import { compareText, isObject, stringOf, type JsonObject } from '../engine/values/json.js';
import type { Report } from '../structural/report.js';
import type { DefinitionProblem } from '../structural/definition-error.js';
import { columnType, schemaAtPath, type PathTarget } from './json-path-check.js';
import { limitDescriptions, objectSchema, pruneEmbeddedMetadata } from './object-schema.js';
import type { PrintColumn, ResourceOptions, VersionOptions } from './options.js';

/** Names of a resource, all of them known. */
export interface ResourceNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
}

/** A copy with the properties of every object in alphabetical order, so that output is identical on every run. */
export function sorted<T>(value: T): T;
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => sorted(item));
  // JSON writes it as 0, and so messages have it.
  if (Object.is(value, -0)) return 0;
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort(compareText)
      .flatMap((key) => (value[key] === undefined ? [] : [[key, sorted(value[key])]])),
  );
}

function column(source: PrintColumn, schema: JsonObject, report: Report, field: string): JsonObject {
  const target = schemaAtPath(schema, source.path);
  if ('missing' in target) {
    report.problems.push({
      field,
      value: source.path,
      problem: `the schema has no field ${JSON.stringify(target.missing)}`,
      remedy: 'declare the field in the schema, or correct the path',
    });
  }
  warnOfColumn(source, target, report, field);
  return {
    name: source.name,
    type: source.type ?? columnType(target),
    jsonPath: source.path,
    format: source.format,
    description: source.description,
    priority: source.priority === 0 ? undefined : source.priority,
  };
}

/** Whether a field never has a value of a type; a field without a type may. */
function isOtherType(schema: JsonObject, wanted: string): boolean {
  const type = schema['type'];
  return type !== undefined && type !== wanted && !(type === 'integer' && wanted === 'number');
}

/** The column stays empty if its field has another type; kubectl writes any type as a string. */
function warnOfColumn({ type, path }: PrintColumn, target: PathTarget, report: Report, field: string): void {
  if (type === undefined || type === 'string' || !('schema' in target)) return;
  const wanted = type === 'date' ? 'string' : type;
  if (!isOtherType(target.schema, wanted) || path.includes('[')) return;
  const given = stringOf(target.schema['type']);
  report.warnings.push(`${field}: a column of type ${type} stays empty: ${path} is of type ${given}`);
}

function checkScale(version: VersionOptions, schema: JsonObject, report: Report, label: string): void {
  for (const [name, path] of Object.entries(version.scale ?? {})) {
    if (typeof path !== 'string') continue;
    const target = schemaAtPath(schema, path);
    const place = { field: `${label} scale.${name}`, value: path };
    const wanted = name === 'labelSelectorPath' ? 'string' : 'integer';
    if (path.includes('[')) {
      const remedy = 'give a path of names, such as ".spec.replicas"';
      report.problems.push({
        ...place,
        problem: 'the scale subresource finds nothing in a list or by a quoted name',
        remedy,
      });
    } else if ('missing' in target) {
      const remedy = 'declare the field in the schema, or correct the path';
      report.problems.push({ ...place, problem: 'the schema has no such field', remedy });
    } else if ('schema' in target && isOtherType(target.schema, wanted)) {
      const problem = `the field is of type ${stringOf(target.schema['type'])}, and the scale subresource reads type ${wanted}`;
      report.problems.push({ ...place, problem, remedy: `give the field type ${wanted}, or correct the path` });
    }
  }
}

function versionManifest(name: string, version: VersionOptions, isStorage: boolean, report: Report): JsonObject {
  const schema = objectSchema(version, report, name);
  const hasStatus = isObject(schema['properties']) && schema['properties']['status'] !== undefined;
  const columns = version.printColumns?.map((each, index) =>
    column(each, schema, report, `${name} printColumns[${index}].path`),
  );
  checkScale(version, schema, report, name);
  const subresources: JsonObject = {
    ...((version.statusSubresource ?? hasStatus) && { status: {} }),
    ...(version.scale !== undefined && { scale: { ...version.scale } }),
  };
  const { deprecated = false } = version;
  return {
    name,
    served: version.served ?? true,
    storage: isStorage,
    ...(deprecated !== false && { deprecated: true }),
    ...(typeof deprecated === 'string' && { deprecationWarning: deprecated }),
    schema: { openAPIV3Schema: schema },
    ...(Object.keys(subresources).length > 0 && { subresources }),
    ...(columns !== undefined && columns.length > 0 && { additionalPrinterColumns: columns }),
    ...((version.selectableFields?.length ?? 0) > 0 && {
      selectableFields: version.selectableFields?.map((jsonPath) => ({ jsonPath })),
    }),
  };
}

/** A CustomResourceDefinition, and the entries of all versions, those that it leaves out included. */
export interface BuiltManifest {
  readonly manifest: UntypedObject;
  readonly versions: readonly JsonObject[];
}

/** The CustomResourceDefinition; what is wrong with it goes to the report. */
export function buildManifest(
  options: ResourceOptions<Readonly<Record<string, VersionOptions>>, 'Namespaced' | 'Cluster'>,
  names: ResourceNames,
  report: Report,
): BuiltManifest {
  const entries = Object.entries(options.versions).sort(([a], [b]) => compareVersions(b, a));
  const written = entries.filter(([, { skip }]) => skip !== true).length;
  const all = entries.map(([name, version]) =>
    versionManifest(name, version, version.skip !== true && (version.storage ?? written === 1), report),
  );
  for (const { schema } of all) {
    const source = isObject(schema) ? schema['openAPIV3Schema'] : undefined;
    if (options.maxDescriptionLength !== undefined) limitDescriptions(source, options.maxDescriptionLength);
    if (options.embeddedMetadata === 'pruned') pruneEmbeddedMetadata(source);
  }
  const versions = all.filter((_version, index) => entries[index]?.[1].skip !== true);
  const manifest: UntypedObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${names.plural}.${options.group}`,
      ...(options.labels !== undefined && { labels: { ...options.labels } }),
      ...(options.annotations !== undefined && { annotations: { ...options.annotations } }),
    },
    spec: {
      group: options.group,
      names: {
        ...names,
        ...((options.shortNames?.length ?? 0) > 0 && { shortNames: [...(options.shortNames ?? [])] }),
        ...((options.categories?.length ?? 0) > 0 && { categories: [...(options.categories ?? [])] }),
      },
      scope: options.scope ?? 'Namespaced',
      ...(options.conversion !== undefined && { conversion: options.conversion }),
      versions,
    },
  };
  const result = sorted(manifest);
  report.problems.push(...serverProblems(result, report));
  return { manifest: result, versions: sorted(all) };
}

const schemaPrefix = /^spec\.(?:versions\[(\d+)\]\.schema|validation)\.openAPIV3Schema\.?/;

function fieldOf(field: string, versions: readonly JsonObject[]): string {
  const match = schemaPrefix.exec(field);
  if (match === null) return field;
  const [only] = versions;
  const version = match[1] === undefined ? only : versions[Number(match[1])];
  const path = field
    .slice(match[0].length)
    .replaceAll(/\.?properties\[([^\]]*)\]/g, '.$1')
    .replaceAll(/\.items(?=$|[.[])/g, '[]')
    .replaceAll(/\.additionalProperties(?=$|[.[])/g, '{}')
    .replace(/^\./, '');
  return `${stringOf(version?.['name'])} ${path}`.trimEnd();
}

function remedyOf(message: string): string {
  if (message.includes('cost'))
    return 'add maxItems, maxLength or maxProperties to the lists, strings and maps of the rule';
  if (message.includes('does not refer to a valid field'))
    return 'declare the field in the schema, or correct the path';
  if (message.includes('undefined field')) return 'declare the field in the schema, or correct its name in the rule';
  if (message.includes('exactly one version marked as storage')) return 'set storage: true on one version';
  if (message.includes('may only be set when `version.schema'))
    return 'give all versions the same selectable fields, or let their schemas differ, by a description at least';
  if (message.includes('may only be set when validations.schema'))
    return 'let the selectable fields of the versions differ, in their order at least, or give all versions one schema';
  return '';
}

/** Errors of the API server, in its words. It is not called if the schema is already rejected. */
function serverProblems(manifest: UntypedObject, report: Report): DefinitionProblem[] {
  if (report.problems.length > 0) return [];
  const { spec } = manifest;
  const versions = isObject(spec) && Array.isArray(spec['versions']) ? spec['versions'].filter(isObject) : [];
  const stored = versions.flatMap(({ name, storage }) => (storage === true && typeof name === 'string' ? [name] : []));
  const conversion = isObject(spec) && isObject(spec['conversion']) ? spec['conversion'] : { strategy: 'None' };
  const candidate: UntypedObject = {
    ...manifest,
    spec: { ...(isObject(spec) ? spec : {}), conversion },
    status: { storedVersions: stored.length > 0 ? stored : ['none'] },
  };
  return validateCrd(candidate)
    .filter(({ field }) => !field.startsWith('status.'))
    .map(({ field, message }) => ({
      field: fieldOf(field, versions),
      value: undefined,
      problem: message,
      remedy: remedyOf(message),
    }));
}
