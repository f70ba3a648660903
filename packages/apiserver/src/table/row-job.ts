/** The row of a long object is made in another thread, because reading 1.4 MB takes longer than printing it. */
import { isStoredObject } from '../storage/log-files.js';
import type { RowJob } from '../offload/jobs.js';
import { parseJsonFast } from '../json/strict-json.js';
import type { RowContent } from '../resource/resource.js';
import { builtinTable } from './builtin-columns.js';
import { customColumns } from './custom-columns.js';

/** Makes the row. */
export function performRow({ group, version, kind, columns, text, nowMs }: RowJob): RowContent {
  const object = parseJsonFast(text);
  if (!isStoredObject(object)) throw new TypeError('the job holds no object');
  if (columns !== undefined) return { cells: customColumns(columns.source).cells(object, nowMs), conditions: [] };
  const table = builtinTable({ group, version, kind });
  return { cells: table.cells(object, nowMs), conditions: table.conditions?.(object) ?? [] };
}
