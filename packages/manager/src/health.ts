import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '@kctl/wait';
import { systemClock } from '@kctl/wait';
import { startTimer } from '@kctl/wait/internal';
import { targetOf } from './request-target.js';

/** Maximum duration of a check, in ms. A kubelet's probe gives up after 1 s by default. */
export const defaultCheckTimeoutMs = 5_000;

/**
 * Throws, or rejects, when the check fails. It must answer soon, because a probe waits for it, and one that takes too
 * long has failed. `signal` is aborted then. One that returns `false` or an error has failed, too, because plain
 * JavaScript may write `() => isReady`.
 */
export type HealthCheck = (request: IncomingMessage, signal: AbortSignal) => void | Promise<void>;

/** A check that always succeeds, because the process answers. Mirrors `healthz.Ping`. */
export const ping: HealthCheck = () => undefined;

/** Options of {@link createHealthHandler}. */
export interface HealthHandlerOptions {
  readonly path: string;
  readonly checks: ReadonlyMap<string, HealthCheck>;
  /** Called with every failing check; the reason goes nowhere else. */
  readonly onFailure: (name: string, error: unknown) => void;
  /** How long each check may take, in ms. @default 5000 */
  readonly checkTimeoutMs?: number;
  /** @default systemClock */
  readonly clock?: Clock;
}

interface CheckResult {
  readonly name: string;
  readonly error?: unknown;
  readonly isExcluded: boolean;
}

/**
 * Answers `<path>` with all checks, `<path>/<name>` with one. `?verbose` lists each check, `?exclude=<name>` leaves one
 * out; a failing check makes it 500 and lists them all, with the reason withheld. Without any check, `ping` is the one.
 * Mirrors `healthz.Handler`.
 */
export function createHealthHandler(
  options: HealthHandlerOptions,
): (request: IncomingMessage, response: ServerResponse) => Promise<boolean> {
  const handler = new HealthHandler(options);
  return (request, response) => handler.serve(request, response);
}

class HealthHandler {
  readonly #options: HealthHandlerOptions;
  /** Checks that have not answered in time, until they do, because a probe each second must not accumulate them. */
  readonly #hanging = new Set<HealthCheck>();

  constructor(options: HealthHandlerOptions) {
    this.#options = options;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { path } = this.#options;
    const { pathname, searchParams } = targetOf(request);
    if (pathname !== path && !pathname.startsWith(`${path}/`)) return false;
    const name = decoded(pathname.slice(path.length + 1));
    if (name === '') await this.#serveAll(searchParams, request, response);
    else await this.#serveOne(name, request, response);
    return true;
  }

  async #serveOne(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const check = this.#checks().get(name);
    if (check === undefined) {
      answer(response, 404, `no check named ${JSON.stringify(name)}\n`);
      return;
    }
    const { error } = await this.#run(name, check, request);
    if (error === undefined) answer(response, 200, 'ok');
    else answer(response, 500, 'internal server error: check failed: reason withheld\n');
  }

  async #serveAll(searchParams: URLSearchParams, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const checks = this.#checks();
    const excluded = new Set(searchParams.getAll('exclude'));
    const results: CheckResult[] = await Promise.all(
      [...checks].map(
        async ([name, check]): Promise<CheckResult> =>
          excluded.has(name) ? { name, isExcluded: true } : await this.#run(name, check, request),
      ),
    );
    const failed = results.some(({ error }) => error !== undefined);
    const unknown = [...excluded].filter((name) => !checks.has(name));
    const name = this.#options.path.replace(/^\//, '');
    if (!failed && !searchParams.has('verbose')) answer(response, 200, 'ok');
    else answer(response, failed ? 500 : 200, describe({ results, unknown, name, failed }));
  }

  #checks(): ReadonlyMap<string, HealthCheck> {
    const { checks } = this.#options;
    return checks.size === 0 ? new Map([['ping', ping]]) : checks;
  }

  async #run(name: string, check: HealthCheck, request: IncomingMessage): Promise<CheckResult> {
    try {
      await this.#withDeadline(check, request);
      return { name, isExcluded: false };
    } catch (failure) {
      const error = failure ?? new Error('failed without a reason');
      this.#options.onFailure(name, error);
      return { name, error, isExcluded: false };
    }
  }

  async #withDeadline(check: HealthCheck, request: IncomingMessage): Promise<void> {
    const { checkTimeoutMs = defaultCheckTimeoutMs, clock = systemClock } = this.#options;
    const late = new Error(`the check has not answered within ${checkTimeoutMs} ms`);
    if (this.#hanging.has(check)) throw late;
    const deadline = new AbortController();
    const expired = Promise.withResolvers<never>();
    const timer = startTimer(
      clock,
      () => {
        this.#hanging.add(check);
        deadline.abort(late);
        expired.reject(late);
      },
      checkTimeoutMs,
      { keepAlive: false },
    );
    const running = invoke(check, request, deadline.signal).finally(() => this.#hanging.delete(check));
    try {
      await Promise.race([running, expired.promise]);
    } finally {
      timer.cancel();
      running.catch(() => undefined); // one that fails late was reported as late
    }
  }
}

async function invoke(check: HealthCheck, request: IncomingMessage, signal: AbortSignal): Promise<void> {
  const ask: (...parts: Parameters<HealthCheck>) => unknown = check;
  const answer = await ask(request, signal);
  if (answer instanceof Error) throw answer;
  if (answer === false) throw new Error('the check returned false');
}

/** The name in a path; one that is not valid percent-encoding matches no check. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function describe(report: {
  readonly results: readonly CheckResult[];
  readonly unknown: readonly string[];
  readonly name: string;
  readonly failed: boolean;
}): string {
  const lines = report.results
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, error, isExcluded }) => {
      if (isExcluded) return `[+]${name} excluded: ok`;
      return error === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
    });
  if (report.unknown.length > 0)
    lines.push(
      `warn: some health checks cannot be excluded: no matches for ${report.unknown.map((name) => JSON.stringify(name)).join(', ')}`,
    );
  lines.push(`${report.name} check ${report.failed ? 'failed' : 'passed'}`);
  return `${lines.join('\n')}\n`;
}

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' });
  response.end(body);
}
