/** The cells of a long object are filled in another thread: to read 1.4 MB takes longer than to print it. */
import { isStoredObject } from '../storage/log-files.js';
import type { CellsJob } from '../offload/jobs.js';
import { parseJsonFast } from '../codecs/strict-json.js';
import { builtinTable } from './builtin-columns.js';
import { customColumns } from './custom-columns.js';

/** Fills the cells. */
export function cellsOf({ group, version, kind, columns, text, nowMs }: CellsJob): readonly unknown[] {
  const object = parseJsonFast(text);
  if (!isStoredObject(object)) throw new TypeError('the job holds no object');
  if (columns !== undefined) return customColumns(columns.source).cells(object, nowMs);
  return builtinTable({ group, version, kind }).cells(object, nowMs);
}
