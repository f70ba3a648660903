import type { PrintedColumn } from './column.js';

/** To be filled. */
export const coreColumns: Readonly<Record<string, readonly PrintedColumn[]>> = {};
