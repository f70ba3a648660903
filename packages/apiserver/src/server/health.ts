import { jsonText } from '@kctl/crd/internal/engine';
import { commonHeaders, plainReply } from '../protocol/plain-reply.js';
import type { Reply } from '../protocol/api-request.js';
import { kubernetesVersion } from '../protocol/kubernetes-version.js';

/** State that a health endpoint reports. */
export interface HealthContext {
  /** Whether the server takes requests, as opposed to being on its way up or down. */
  readonly isReady: boolean;
}

const checks = ['ping', 'log', 'etcd'];
const roots = new Set(['healthz', 'livez', 'readyz']);

/** Answers /healthz, /livez and /readyz, with `?verbose`, `?exclude=` and single checks; undefined for other paths. */
export function health(context: HealthContext, segments: readonly string[], query: URLSearchParams): Reply | undefined {
  const [root = '', check, more] = segments;
  if (!roots.has(root) || more !== undefined) return undefined;
  const names = root === 'readyz' ? [...checks, 'shutdown'] : checks;
  const isPassing = (name: string): boolean => name !== 'shutdown' || context.isReady;
  if (check !== undefined) {
    if (!names.includes(check)) return undefined;
    return isPassing(check) ? plainReply(200, 'ok') : plainReply(500, 'internal server error: shutting down\n');
  }
  const excluded = new Set(query.getAll('exclude'));
  const failed = names.filter((name) => !excluded.has(name) && !isPassing(name));
  if (failed.length === 0 && !query.has('verbose')) return plainReply(200, 'ok');
  const lines = names.map((name) => {
    if (excluded.has(name)) return `[+]${name} excluded: ok`;
    return isPassing(name) ? `[+]${name} ok` : `[-]${name} failed: reason withheld`;
  });
  const verdict = failed.length === 0 ? 'passed' : 'failed';
  return plainReply(failed.length === 0 ? 200 : 500, `${lines.join('\n')}\n${root} check ${verdict}\n`);
}

/** Answers /version. */
export function version(): Reply {
  const body = jsonText({
    ...kubernetesVersion,
    gitCommit: '',
    gitTreeState: 'clean',
    buildDate: '2026-01-01T00:00:00Z',
    goVersion: '',
    compiler: 'node',
    platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
  });
  return { status: 200, headers: { ...commonHeaders, 'content-type': 'application/json' }, body };
}

/** The paths that the server serves. */
export function pathList(paths: readonly string[]): Reply {
  return { status: 200, headers: { ...commonHeaders, 'content-type': 'application/json' }, body: jsonText({ paths }) };
}
