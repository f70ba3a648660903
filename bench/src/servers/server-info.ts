// What a subject, in whichever language, has to know of the server that it is measured on: a small JSON file.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ServerInfo {
  readonly url: string;
  readonly ca: string;
  readonly token: string;
  /** All processes that make up the server. */
  readonly pids: readonly number[];
}

export function readServerInfo(path: string): ServerInfo {
  return JSON.parse(readFileSync(path, 'utf8')) as ServerInfo;
}

/** Only its owner can read it: a token is in it. */
export function writeServerInfo(info: ServerInfo): string {
  const path = join(mkdtempSync(join(tmpdir(), 'kctl-bench-')), 'server.json');
  writeFileSync(path, JSON.stringify(info), { mode: 0o600 });
  return path;
}

/** The connection for `createHttpClient`. */
export function connectionTo({ url, ca, token }: ServerInfo): {
  readonly server: string;
  readonly ca: string;
  readonly user: { readonly token: string };
} {
  return { server: url, ca, user: { token } };
}
