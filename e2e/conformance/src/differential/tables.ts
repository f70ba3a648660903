/** Tables in random calls: what differs between any two servers is taken out of their cells. */
import type { Doc, Json, WatchEvent } from '../harness/doc.js';
import type { Random } from './random.js';

export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** What is asked of a table's rows. */
export function randomRows(random: Random): Readonly<Record<string, string>> {
  if (random.chance(0.6)) return {};
  return { includeObject: random.pick(['None', 'Metadata', 'Object', 'Object', 'Zip']) };
}

/** A table without ages and allocated ports. */
export function normaliseTable(table: Json): Json {
  const columns = (table.columnDefinitions ?? []) as readonly { name?: string; type?: string }[];
  const isAge = columns.map(({ name, type }) => name === 'Age' || type === 'date');
  // The later events of a watch say nothing of their columns.
  const ages = columns.length === 0 ? /^\d+[smhdy](\d+[smhd])?$/ : /^\d/;
  const rows = ((table.rows ?? []) as Json[]).map((row) => ({
    ...row,
    cells: ((row.cells ?? []) as Json[]).map((cell, index) => {
      if ((isAge[index] ?? columns.length === 0) && ages.test(String(cell))) return '<age>';
      return typeof cell === 'string' ? cell.replaceAll(/:\d{5}\//g, ':<port>/') : cell;
    }),
  }));
  return { ...table, rows };
}

/** An event whose object is found where it is in others: of a table the one row. */
export function rowEvent({ type, object }: WatchEvent): WatchEvent {
  if (object.kind !== 'Table') return { type, object };
  const { metadata, ...table }: Json = object;
  const row = table.rows?.[0]?.object?.metadata;
  return { type, object: { ...table, list: metadata, metadata: row ?? {} } as Doc };
}
