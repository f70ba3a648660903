import type { UntypedObject } from '@kctl/apimachinery';
import type { KindRef, RowCondition, TableColumn } from '../resource/resource.js';
import { createdAtColumn, nameColumn, type PrintedColumn } from './column.js';
import { accessColumns } from './access-columns.js';
import { columnDescriptions } from './generated/column-descriptions.js';
import { coreColumns } from './core-columns.js';
import { byPrecedence, platformColumns } from './platform-columns.js';
import { podColumns, podConditions } from './pod-columns.js';
import { storageColumns } from './storage-columns.js';
import { workloadColumns } from './workload-columns.js';

const columns: Readonly<Record<string, readonly PrintedColumn[]>> = {
  ...accessColumns,
  ...coreColumns,
  ...platformColumns,
  ...podColumns,
  ...storageColumns,
  ...workloadColumns,
};

/** Kinds whose rows come in another order than by name. */
const orders: Readonly<Record<string, (a: UntypedObject, b: UntypedObject) => number>> = {
  'flowcontrol.apiserver.k8s.io/FlowSchema': byPrecedence,
};

/** The table of a built-in kind; kinds without own columns show name and creation time, as the server's default does. */
export function builtinTable({ group, kind }: KindRef): {
  columns: TableColumn[];
  cells: (object: UntypedObject, now: number) => unknown[];
  order?: (a: UntypedObject, b: UntypedObject) => number;
  conditions?: (object: UntypedObject) => readonly RowCondition[];
} {
  const printed = columns[`${group}/${kind}`] ?? [nameColumn, createdAtColumn];
  const described = columnDescriptions[`${group}/${kind}`] ?? {};
  const order = orders[`${group}/${kind}`];
  return {
    ...(order !== undefined && { order }),
    ...(group === '' && kind === 'Pod' && { conditions: podConditions }),
    columns: printed.map(({ name, type, format, description, priority }) => ({
      name,
      type,
      format,
      description: described[name] ?? description,
      priority,
    })),
    cells: (object, now) => printed.map((column) => column.cell(object, now)),
  };
}
