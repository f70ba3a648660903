import type { UntypedObject } from '@kctl/apimachinery';
import {
  compileJsonPath,
  isObject,
  jsonText,
  numberOf,
  objectsOf,
  stringOf,
  type JsonObject,
  type JsonPath,
} from '@kctl/crd/internal/engine';
import type { TableColumn } from '../resource/resource.js';
import { descriptions } from './descriptions.js';
import { ageOf } from './duration.js';

/** Columns of a custom resource's table, and how their cells are filled. */
export interface CustomColumns {
  readonly columns: readonly TableColumn[];
  /** Source that they were compiled from. */
  readonly source: unknown;
  cells(object: UntypedObject, now: number): unknown[];
}

const nameColumn: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: descriptions.name,
  priority: 0,
};
const ageColumn: JsonObject = {
  name: 'Age',
  type: 'date',
  description: descriptions.creationTimestamp,
  jsonPath: '.metadata.creationTimestamp',
};

/** Output of Go's JSONPath printer for a value. */
function printed(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) || isObject(value)) return jsonText(value);
  return typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
}

function cell(type: string, value: unknown, now: number): unknown {
  if (value === null || value === undefined) return null;
  switch (type) {
    case 'integer': {
      const number = numberOf(value);
      return typeof value === 'bigint' ? value : number === undefined ? null : Math.trunc(number);
    }
    case 'number':
      return numberOf(value) ?? null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageOf(value, now) : null;
    default:
      return printed(value);
  }
}

/**
 * Compiles `additionalPrinterColumns`; without any there is the age. As upstream, the table ends before a column whose path
 * cannot be read.
 */
export function customColumns(source: unknown): CustomColumns {
  const given = objectsOf(source);
  const definitions = given.length === 0 ? [ageColumn] : given;
  const compiled: { readonly column: TableColumn; readonly path: JsonPath }[] = [];
  for (const definition of definitions) {
    const path = stringOf(definition['jsonPath']);
    const description = stringOf(definition['description']);
    const column: TableColumn = {
      name: stringOf(definition['name']),
      type: stringOf(definition['type']),
      format: stringOf(definition['format']),
      description: description === '' ? `Custom resource definition column (in JSONPath format): ${path}` : description,
      priority: numberOf(definition['priority']) ?? 0,
    };
    try {
      compiled.push({ column, path: compileJsonPath(path) });
    } catch {
      break;
    }
  }
  return {
    source,
    columns: [nameColumn, ...compiled.map(({ column }) => column)],
    cells: (object, now) => [
      object.metadata.name ?? '',
      ...compiled.map(({ column, path }) => cell(column.type, path(object)[0], now)),
    ],
  };
}
