import type { PrintedColumn } from './column.js';

/** To be filled. */
export const workloadColumns: Readonly<Record<string, readonly PrintedColumn[]>> = {};
