import { readFile } from 'node:fs/promises';
import { messageOf } from '@kctl/telemetry/internal';
import type { Clock } from '@kctl/wait';
import type { Connection, ExecPlugin } from '@kctl/client/internal/connection';
import { startTimer } from '@kctl/wait/internal';
import { requireAllowed } from './exec-allowlist.js';
import { CredentialsError } from '../errors.js';
import { joinUrlUser, redactKnown } from '@kctl/client/internal/connection';
import { staticCredential } from './credential-source.js';
import type { Credential, CredentialSource } from './credential-source.js';

const apiVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
/** A plugin that hangs must not hang every request with it. */
const timeoutMs = 60_000;
/** A plugin that fails is not started again for each request that comes meanwhile. */
const failureMemoryMs = 1_000;
const maxOutputBytes = 1024 * 1024;

/** Options of {@link execCredential}. */
export interface ExecCredentialOptions {
  readonly clock: Clock;
  readonly connection: Connection;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Programs that may run as plugins. Any if undefined. */
  readonly allowlist: readonly string[] | undefined;
}

interface Issued {
  readonly credential: Credential;
  /** Wall-clock time in ms; undefined until a 401. */
  readonly expiresAt: number | undefined;
}

/**
 * Credentials from an exec plugin (client-go.md 6.5), run once for all waiting requests, again on expiry and on a
 * 401. The plugin inherits the environment, gets KUBERNETES_EXEC_INFO, and no terminal.
 */
export function execCredential(plugin: ExecPlugin, options: ExecCredentialOptions): CredentialSource {
  const apiVersion = plugin.apiVersion ?? 'client.authentication.k8s.io/v1';
  if (!apiVersions.includes(apiVersion))
    return failing(`apiVersion ${apiVersion} is not one of ${apiVersions.join(', ')}`);
  if (plugin.interactiveMode === 'Always') return failing('interactiveMode Always requires a terminal');
  const { clock } = options;
  const closed = new AbortController();
  let issued: Issued | undefined;
  let running: Promise<Issued> | undefined;
  let failed: { readonly at: number; readonly error: Error } | undefined;

  const run = (): Promise<Issued> => {
    if (failed !== undefined && clock.monotonicNow() - failed.at < failureMemoryMs) return Promise.reject(failed.error);
    running ??= issue({ ...plugin, apiVersion }, { ...options, signal: closed.signal })
      .then(
        (fresh) => {
          issued = fresh;
          failed = undefined;
          return fresh;
        },
        (error: unknown) => {
          failed = { at: clock.monotonicNow(), error: error instanceof Error ? error : new Error(String(error)) };
          throw failed.error;
        },
      )
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const isFresh = (candidate: Issued): boolean =>
    candidate.expiresAt === undefined || clock.now() < candidate.expiresAt;
  return {
    get: () =>
      issued !== undefined && isFresh(issued) ? issued.credential : run().then(({ credential }) => credential),
    refresh: async (used) => {
      if (issued !== undefined && issued.credential !== used && isFresh(issued)) return true;
      return (await run()).credential !== used;
    },
    close: () => closed.abort(),
  };

  function failing(reason: string): CredentialSource {
    const fail = (): never => {
      throw new CredentialsError(`exec plugin ${plugin.command}: ${reason}`);
    };
    return { ...staticCredential({}), get: fail };
  }
}

type VersionedPlugin = ExecPlugin & { readonly apiVersion: string };

interface RunOptions extends ExecCredentialOptions {
  /** Aborting it kills the plugin. */
  readonly signal: AbortSignal;
}

async function issue(plugin: VersionedPlugin, options: RunOptions): Promise<Issued> {
  try {
    if (options.allowlist !== undefined) await requireAllowed(plugin.command, options.allowlist, options.environment);
    return parseCredential(await runPlugin(plugin, options), plugin.apiVersion);
  } catch (error) {
    const reason = messageOf(error);
    const isMissing = typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
    const own = [
      ...(plugin.args ?? []),
      ...(plugin.env ?? []).map(({ value }) => value),
      options.connection.proxyUser?.password,
    ];
    const problem = isMissing ? 'the command is not installed or not on PATH' : redactKnown(reason, own);
    const hint = isMissing && plugin.installHint !== undefined ? `: ${plugin.installHint.trim()}` : '';
    throw new CredentialsError(`exec plugin ${plugin.command}: ${problem}${hint}`);
  }
}

async function runPlugin(plugin: VersionedPlugin, options: RunOptions): Promise<string> {
  const { clock, connection, environment, signal: closed } = options;
  const env = {
    ...environment,
    ...Object.fromEntries((plugin.env ?? []).map(({ name, value }) => [name, value])),
    KUBERNETES_EXEC_INFO: await execInfo(plugin, connection),
  };
  return await new Promise((resolve, reject) => {
    // Not imported, because that costs every process, and few have a plugin.
    const child = process.getBuiltinModule('node:child_process').spawn(plugin.command, plugin.args ?? [], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
      signal: closed,
      killSignal: 'SIGKILL',
    });
    let output = '';
    let complaint = '';
    const timer = startTimer(
      clock,
      () => {
        child.kill('SIGKILL');
        reject(new Error(`no credentials within ${timeoutMs / 1000} s`));
      },
      timeoutMs,
      { keepAlive: false },
    );
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      if (output.length <= maxOutputBytes) return;
      child.kill('SIGKILL');
      reject(new Error('it wrote more than 1 MiB'));
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      complaint = (complaint + chunk).slice(-1000);
    });
    child.on('error', (error) => {
      timer.cancel();
      reject(error);
    });
    child.on('close', (code, signal) => {
      timer.cancel();
      if (code === 0) resolve(output);
      else reject(new Error(`exited with ${signal ?? `code ${code ?? 'unknown'}`}${lastLine(complaint)}`));
    });
  });
}

async function execInfo(plugin: VersionedPlugin, connection: Connection): Promise<string> {
  const info = { kind: 'ExecCredential', apiVersion: plugin.apiVersion };
  if (plugin.provideClusterInfo !== true) return JSON.stringify({ ...info, spec: { interactive: false } });
  const { server, ca, caFile, tlsServerName, insecureSkipTlsVerify, proxyUrl, proxyUser } = connection;
  const authority = ca ?? (caFile === undefined ? undefined : await readFile(caFile).catch(unreadable));
  const cluster = {
    server,
    'tls-server-name': tlsServerName,
    'insecure-skip-tls-verify': insecureSkipTlsVerify,
    'certificate-authority-data': authority === undefined ? undefined : Buffer.from(authority).toString('base64'),
    'proxy-url': joinUrlUser(proxyUrl, proxyUser),
    config: plugin.config,
  };
  return JSON.stringify({ ...info, spec: { interactive: false, cluster } });
}

/** Without the code of the cause, with which the plugin would be reported missing instead of the file. */
function unreadable(error: unknown): never {
  throw new Error(`cannot read the certificate authority: ${messageOf(error)}`);
}

function lastLine(problem: string): string {
  const line = problem.trim().split('\n').at(-1)?.trim() ?? '';
  return line === '' ? '' : `: ${line}`;
}

function parseCredential(output: string, apiVersion: string): Issued {
  const answer = fieldsOf(parseOutput(output));
  if (answer['kind'] !== 'ExecCredential')
    throw new Error(
      `it did not print an ExecCredential but ${shownAs('kind', answer['kind'], /^[A-Z][A-Za-z]{1,39}$/)}`,
    );
  if (answer['apiVersion'] !== apiVersion)
    throw new Error(
      `it printed ${shownAs('apiVersion', answer['apiVersion'], /^[a-z0-9.-]{1,60}\/v\d\w{0,9}$/)}, but ${apiVersion} is configured`,
    );
  const status = fieldsOf(answer['status']);
  const token = textOf(status['token']);
  const certificate = textOf(status['clientCertificateData']);
  const key = textOf(status['clientKeyData']);
  if (token === undefined && certificate === undefined) throw new Error('it gave neither a token nor a certificate');
  if ((certificate === undefined) !== (key === undefined))
    throw new Error('it gave a certificate without its key, or the reverse');
  const expiry = textOf(status['expirationTimestamp']);
  const expiresAt = expiry === undefined ? undefined : Date.parse(expiry);
  if (Number.isNaN(expiresAt)) throw new Error('its expirationTimestamp is not an RFC 3339 time');
  return {
    credential: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(certificate === undefined || key === undefined ? {} : { certificate, key }),
    },
    expiresAt,
  };
}

/** The output of a plugin is shown if it has the expected form, because anything else may be the token. */
function shownAs(field: string, value: unknown, form: RegExp): string {
  return typeof value === 'string' && form.test(value) ? `${field} ${value}` : `another ${field}`;
}

/** The parser's own message would quote the output, which holds the token. */
function parseOutput(output: string): unknown {
  try {
    return JSON.parse(output);
  } catch {
    throw new Error('it did not print JSON');
  }
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
