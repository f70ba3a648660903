import type { PrintedColumn } from './column.js';

/** To be filled. */
export const storageColumns: Readonly<Record<string, readonly PrintedColumn[]>> = {};
