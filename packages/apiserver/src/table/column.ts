import type { UntypedObject } from '@kctl/apimachinery';
import { stringOf } from '@kctl/crd/internal/engine';
import type { TableColumn } from '../resource/resource.js';
import { descriptions } from './descriptions.js';
import { ageOf } from './duration.js';

/** A printed column, with its definition and its cells. */
export interface PrintedColumn extends TableColumn {
  cell(object: UntypedObject, now: number): unknown;
}

type Cell = PrintedColumn['cell'];

/** A column of strings that is always shown. */
export function text(name: string, cell: Cell, description = ''): PrintedColumn {
  return { name, type: 'string', format: '', description, priority: 0, cell };
}

/** A column of whole numbers. */
export function integer(name: string, cell: Cell, description = ''): PrintedColumn {
  return { ...text(name, cell, description), type: 'integer' };
}

/** A column of booleans. */
export function flag(name: string, cell: Cell, description = ''): PrintedColumn {
  return { ...text(name, cell, description), type: 'boolean' };
}

/** A column that is shown with `-o wide` only. */
export function wide(column: PrintedColumn): PrintedColumn {
  return { ...column, priority: 1 };
}

/** The first column of nearly every table. */
export const nameColumn: PrintedColumn = {
  ...text('Name', (object) => object.metadata.name ?? '', descriptions.name),
  format: 'name',
};

/** The age of an object. */
export const ageColumn: PrintedColumn = text(
  'Age',
  (object, now) => ageOf(object.metadata.creationTimestamp, now),
  descriptions.creationTimestamp,
);

/** Creation time of an object, shown for kinds without columns. */
export const createdAtColumn: PrintedColumn = {
  ...text('Created At', (object) => object.metadata.creationTimestamp ?? null, descriptions.creationTimestamp),
  type: 'date',
};

/** The string, or the placeholder for an empty one. */
export function orElse(value: unknown, none = '<none>'): string {
  const given = stringOf(value);
  return given === '' ? none : given;
}

/** `a, b, c + 2 more...`: the first few of many. */
export function firstOf(items: readonly string[], max: number): string {
  if (items.length === 0) return '<none>';
  const shown = items.slice(0, max).join(',');
  return items.length > max ? `${shown} + ${items.length - max} more...` : shown;
}
