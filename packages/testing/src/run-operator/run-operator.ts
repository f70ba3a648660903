import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isNotFound } from '@kctl/apimachinery';
import { Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { messageOf } from '@kctl/telemetry/internal';
import { numberProblem, requireOptions, signalOption } from '@kctl/options';
import { waitUntil } from '@kctl/wait';
import type { OptionNames } from '@kctl/options';
import type { TestEnvironment } from '../environment.js';
import { dumpNamespace } from './dump-namespace.js';
import { commandOf, Program, wordsOf, type ProgramEnd } from './program.js';

/** Options of {@link runOperator}. */
export interface RunOperatorOptions {
  /** The API server. Install the definitions of the operator's kinds before. */
  readonly environment: TestEnvironment;
  /**
   * The entry point, which is a file of TypeScript or JavaScript that this Node runs, or a command with its arguments.
   * `KCTL_TEST_PROGRAM`, a command line, wins, so that the same test runs the built program, or its image
   * (`docker run --rm --network host -v … my-operator`).
   */
  readonly program: string | readonly string[];
  /** More arguments. @default none */
  readonly arguments?: readonly string[];
  /** More variables; those of this process are handed on. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** @default that of this process */
  readonly cwd?: string;
  /** The user whose kubeconfig it uses, for example that of `environment.addUser(…)`. @default the administrator's */
  readonly kubeconfigPath?: string;
  /**
   * When the test may begin. `readyz`: when `/readyz` answers 200 on the address of HEALTH_PROBE_BIND_ADDRESS, as
   * `defineOperator` of @kctl/operator has it; or when its output matches; or when a function resolves to true.
   *
   * @default 'readyz'
   */
  readonly ready?: 'readyz' | RegExp | (() => boolean | Promise<boolean>);
  /** @default 30000 */
  readonly readyTimeoutMs?: number;
  /** How long it may take to end after SIGTERM. @default 30000 */
  readonly stopTimeoutMs?: number;
  /** The folder for the dump of a failure. @default a new folder among the temporary files */
  readonly dumpFolder?: string;
  readonly signal?: AbortSignal;
}

/** Argument of the test of {@link runOperator}. */
export interface OperatorRun {
  /** Made for this run: POD_NAMESPACE of the operator. */
  readonly namespace: string;
  readonly environment: TestEnvironment;
  /** The address of the operator's health checks, with `ready: 'readyz'`. */
  readonly healthUrl: string;
  /** The last megabyte of what the operator has written until now. */
  readonly output: string;
}

const optionNames: OptionNames<RunOperatorOptions> = {
  environment: true,
  program: true,
  arguments: true,
  env: true,
  cwd: true,
  kubeconfigPath: true,
  ready: true,
  readyTimeoutMs: true,
  stopTimeoutMs: true,
  dumpFolder: true,
  signal: signalOption,
};

/**
 * Runs an operator as in production, as a separate process with a kubeconfig, and a test beside it. The process gets
 * KUBECONFIG, POD_NAMESPACE and HEALTH_PROBE_BIND_ADDRESS, and METRICS_BIND_ADDRESS=0; SIGTERM ends it, and it must
 * exit with 0.
 *
 * After a test that passes the namespace is deleted. When anything fails it is kept and dumped, with its objects, a
 * file for each kind, and the operator's output. The error names the folder, and ends with the last lines of the
 * output.
 *
 * @throws what the test throws; Error when the operator does not start, ends by itself, or does not exit with 0
 *
 * @example
 * ```ts
 * import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
 * import { createEnvironment, eventually, runOperator } from '@kctl/testing';
 *
 * await using environment = await createEnvironment({ crds: ['config/crd'] });
 * await runOperator({ environment, program: 'src/main.ts' }, async ({ namespace }) => {
 *   await eventually(() => environment.client.get(ConfigMap, { namespace, name: 'made-by-the-operator' }));
 * });
 * ```
 */
export async function runOperator<T>(
  options: RunOperatorOptions,
  test: (run: OperatorRun) => T | Promise<T>,
): Promise<T> {
  requireOptions('runOperator', options, optionNames);
  const { environment, readyTimeoutMs = 30_000, stopTimeoutMs = 30_000, signal } = options;
  const problem =
    numberProblem('readyTimeoutMs', readyTimeoutMs) ??
    numberProblem('stopTimeoutMs', stopTimeoutMs) ??
    (typeof test === 'function' ? undefined : 'the test is not a function');
  if (problem !== undefined) throw new TypeError(`runOperator: ${problem}`);
  const command = commandFor(options);
  const namespace = await environment.createNamespace('operator');
  const address = `127.0.0.1:${await freePort()}`;
  const program = new Program({
    command,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    environment: {
      ...process.env,
      KUBECONFIG: options.kubeconfigPath ?? environment.kubeconfigPath,
      POD_NAMESPACE: namespace,
      HEALTH_PROBE_BIND_ADDRESS: address,
      METRICS_BIND_ADDRESS: '0',
      ...options.env,
    },
  });
  const run: OperatorRun = {
    namespace,
    environment,
    healthUrl: `http://${address}`,
    get output() {
      return program.output;
    },
  };
  try {
    const result = await unlessEnded(program, async (ended) => {
      const limits = { timeoutMs: readyTimeoutMs, signal: AbortSignal.any([ended, ...(signal ? [signal] : [])]) };
      await waitUntil(readiness(options, run), { ...limits, interval: 50, message: 'the operator is not ready' });
      return await test(run);
    });
    const end = await program.stop(stopTimeoutMs);
    if (end.code !== 0) throw new Error(`the operator ended ${shownEnd(end)} after SIGTERM: expected exit code 0`);
    await deleteNamespace(environment, namespace);
    return result;
  } catch (error) {
    await program.stop(stopTimeoutMs).catch(() => undefined);
    throw await dumped(error, options, run);
  }
}

function commandFor(options: RunOperatorOptions): [string, ...string[]] {
  const built = process.env['KCTL_TEST_PROGRAM'] ?? '';
  const command = built === '' ? commandOf(options.program) : commandOf(wordsOf(built));
  return [...command, ...(options.arguments ?? [])];
}

/** Rejects as soon as the program ends; its signal notifies the work. */
async function unlessEnded<T>(program: Program, work: (ended: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController();
  const ended = program.ended.then((end) => {
    ending.abort();
    throw new Error(`the operator ended by itself ${shownEnd(end)}`);
  });
  return await Promise.race([ended, work(ending.signal)]);
}

function shownEnd({ code, signal }: ProgramEnd): string {
  return signal === null ? `with exit code ${code}` : `by ${signal}`;
}

function readiness({ ready = 'readyz' }: RunOperatorOptions, run: OperatorRun): () => Promise<boolean> {
  if (typeof ready === 'function') return async () => await ready();
  if (ready !== 'readyz') return () => Promise.resolve(ready.test(run.output));
  return async () => {
    try {
      const { ok } = await fetch(`${run.healthUrl}/readyz`, { signal: AbortSignal.timeout(5000) });
      return ok;
    } catch {
      return false;
    }
  };
}

async function deleteNamespace({ client }: TestEnvironment, namespace: string): Promise<void> {
  await client.delete(Namespace, { name: namespace }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
  });
}

/** The error, with what there is to look at. */
async function dumped(error: unknown, options: RunOperatorOptions, run: OperatorRun): Promise<Error> {
  const { environment, namespace, output } = run;
  const end = output.trimEnd().split('\n').slice(-20).join('\n');
  let where: string;
  try {
    const folder = options.dumpFolder ?? (await mkdtemp(join(tmpdir(), `kctl-${namespace}-`)));
    await dumpNamespace(environment.client, namespace, folder);
    await writeFile(join(folder, 'operator.log'), output, { mode: 0o600 });
    where = `namespace ${namespace} is kept, and dumped to ${folder}`;
  } catch (failure) {
    where = `namespace ${namespace} is kept; it cannot be dumped: ${messageOf(failure)}`;
  }
  const message = `${messageOf(error)}\n${where}\nthe operator's last output:\n${end === '' ? '(none)' : end}`;
  return new Error(message, { cause: error });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
