import type { PrintedColumn } from './column.js';

/** To be filled. */
export const accessColumns: Readonly<Record<string, readonly PrintedColumn[]>> = {};
