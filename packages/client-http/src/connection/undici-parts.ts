// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- it declares modules, which an import would turn into augmentations
/// <reference path="./undici-files.d.ts" />
/**
 * The part of undici that carries requests, imported by file, because its index also loads fetch, WebSocket,
 * EventSource, caches, mocks and interceptors, which together cost each process 80 files, 50 ms and 14 MB. Bun,
 * moreover, replaces `undici` by a stub that makes no connections.
 */
import '@kctl/telemetry/require-in-bundles'; // before a CommonJS package
import type * as index from 'undici';
import pool from 'undici/lib/dispatcher/pool.js';

export const Pool: typeof index.Pool = pool;
