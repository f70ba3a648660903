import type { PrintedColumn } from './column.js';

/** To be filled. */
export const podColumns: Readonly<Record<string, readonly PrintedColumn[]>> = {};
