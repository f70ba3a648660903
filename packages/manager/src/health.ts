import type { IncomingMessage, ServerResponse } from 'node:http';

/** Throws, or rejects, when something is not as it should be. It must answer soon: a probe waits for it. */
export type HealthCheck = (request: IncomingMessage) => void | Promise<void>;

/** A check that always succeeds: the process answers. Mirrors `healthz.Ping`. */
export const ping: HealthCheck = () => undefined;

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
export function createHealthHandler(options: {
  readonly path: string;
  readonly checks: ReadonlyMap<string, HealthCheck>;
  /** Hears of every failing check; the reason goes nowhere else. */
  readonly onFailure: (name: string, error: unknown) => void;
}): (request: IncomingMessage, response: ServerResponse) => Promise<boolean> {
  const { path, onFailure } = options;
  return async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const checks = options.checks.size === 0 ? new Map([['ping', ping]]) : options.checks;
    const rest =
      url.pathname === path
        ? ''
        : url.pathname.startsWith(`${path}/`)
          ? url.pathname.slice(path.length + 1)
          : undefined;
    if (rest === undefined) return false;
    if (rest !== '') {
      const check = checks.get(decodeURIComponent(rest));
      if (check === undefined) {
        answer(response, 404, `no check named ${JSON.stringify(rest)}\n`);
        return true;
      }
      const result = await runCheck(rest, check, request);
      if (result.error !== undefined) onFailure(rest, result.error);
      answer(
        response,
        result.error === undefined ? 200 : 500,
        result.error === undefined ? 'ok' : 'internal server error: check failed: reason withheld\n',
      );
      return true;
    }
    const excluded = new Set(url.searchParams.getAll('exclude'));
    const results: CheckResult[] = await Promise.all(
      [...checks].map(
        async ([name, check]): Promise<CheckResult> =>
          excluded.has(name) ? { name, isExcluded: true } : await runCheck(name, check, request),
      ),
    );
    for (const { name, error } of results) if (error !== undefined) onFailure(name, error);
    const failed = results.some(({ error }) => error !== undefined);
    const unknown = [...excluded].filter((name) => !checks.has(name));
    if (!failed && !url.searchParams.has('verbose')) answer(response, 200, 'ok');
    else answer(response, failed ? 500 : 200, describe({ results, unknown, name: path.replace(/^\//, ''), failed }));
    return true;
  };
}

async function runCheck(name: string, check: HealthCheck, request: IncomingMessage): Promise<CheckResult> {
  try {
    await check(request);
    return { name, isExcluded: false };
  } catch (error) {
    return { name, error: error ?? new Error('failed without a reason'), isExcluded: false };
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
