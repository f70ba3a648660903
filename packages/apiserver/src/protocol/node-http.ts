import type * as http from 'node:http';
import type * as https from 'node:https';

/**
 * `node:http` and `node:https`, not as ES modules, since those name all their exports, including a WebSocket for which
 * Node loads a second HTTP client. That took 20 ms of each start.
 */
export const nodeHttp: typeof http = process.getBuiltinModule('node:http');
export const nodeHttps: typeof https = process.getBuiltinModule('node:https');
