import type { KindScope } from '@kctl/apimachinery';
import { optionProblems, shownValue, type OptionNames } from '@kctl/options';
import type { DefinitionProblem } from '../structural/definition-error.js';
import type { PrintColumn, ResourceOptions, ScaleOptions, VersionOptions } from './options.js';

const resourceNames: OptionNames<ResourceOptions<Readonly<Record<string, VersionOptions>>, KindScope>> = {
  group: true,
  kind: true,
  scope: true,
  plural: true,
  singular: true,
  listKind: true,
  shortNames: true,
  categories: true,
  labels: true,
  annotations: true,
  conversion: true,
  maxDescriptionLength: true,
  embeddedMetadata: true,
  versions: true,
};
const versionNames: OptionNames<VersionOptions> = {
  spec: true,
  status: true,
  schema: true,
  storage: true,
  served: true,
  skip: true,
  deprecated: true,
  rules: true,
  fields: true,
  printColumns: true,
  selectableFields: true,
  statusSubresource: true,
  scale: true,
  description: true,
};
const columnNames: OptionNames<PrintColumn> = {
  name: true,
  path: true,
  type: true,
  format: true,
  description: true,
  priority: true,
};
const scaleNames: OptionNames<ScaleOptions> = {
  specReplicasPath: true,
  statusReplicasPath: true,
  labelSelectorPath: true,
};

/**
 * Options without effect. TypeScript does not report an unknown name in a version, because the type of the versions is
 * inferred from the input. Detected before anything is read.
 */
export function unreadableOptions(options: object): DefinitionProblem[] {
  const own = optionProblems(options, resourceNames).map((text) => problemIn('options', text));
  const versions: unknown = Reflect.get(options, 'versions');
  if (typeof versions !== 'object' || versions === null || Array.isArray(versions))
    return [...own, notWhat('versions', versions, 'expected the versions by name: { v1: { spec: … } }')];
  return [...own, ...Object.entries(versions).flatMap(([name, version]) => versionProblems(name, version))];
}

function versionProblems(name: string, version: unknown): DefinitionProblem[] {
  if (typeof version !== 'object' || version === null || Array.isArray(version))
    return [notWhat(name, version, 'expected the options of a version: { spec: … }')];
  const problems = optionProblems(version, versionNames).map((text) => problemIn(name, text));
  for (const part of ['spec', 'status', 'schema'] as const) {
    const value: unknown = Reflect.get(version, part);
    if (value !== undefined && !isSchemaValue(value))
      problems.push(
        notWhat(`${name} ${part}`, value, 'expected a schema of zod, ArkType or the like, or fromJsonSchema(…)'),
      );
  }
  const scale: unknown = Reflect.get(version, 'scale');
  return [
    ...problems,
    ...optionProblems(scale, scaleNames, 'scale').map((text) => problemIn(name, text)),
    ...eachOf(`${name} printColumns`, Reflect.get(version, 'printColumns'), columnProblems),
    ...eachOf(`${name} selectableFields`, Reflect.get(version, 'selectableFields'), pathProblems),
  ];
}

function eachOf(
  field: string,
  list: unknown,
  problemsOf: (field: string, item: unknown) => DefinitionProblem[],
): DefinitionProblem[] {
  if (list === undefined) return [];
  if (!Array.isArray(list)) return [notWhat(field, list, 'expected a list')];
  return list.flatMap((item: unknown, index) => problemsOf(`${field}[${index}]`, item));
}

function columnProblems(field: string, column: unknown): DefinitionProblem[] {
  const unknown = optionProblems(column ?? null, columnNames).map((text) => problemIn(field, text));
  if (typeof column !== 'object' || column === null) return unknown;
  return [...unknown, ...pathProblems(`${field}.path`, Reflect.get(column, 'path'))];
}

function pathProblems(field: string, path: unknown): DefinitionProblem[] {
  return typeof path === 'string' ? [] : [notWhat(field, path, 'expected a JSON path: ".spec.size"')];
}

function isSchemaValue(value: unknown): boolean {
  // ArkType's schemas are functions.
  return (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;
}

function problemIn(field: string, problem: string): DefinitionProblem {
  return { field, value: undefined, problem, remedy: '' };
}

function notWhat(field: string, value: unknown, remedy: string): DefinitionProblem {
  return { field, value: undefined, problem: `${shownValue(value)} is not valid`, remedy };
}
