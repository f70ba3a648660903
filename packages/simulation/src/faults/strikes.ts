import type { Exchange, Mishap } from '../network/exchange.js';
import { isWrite, parameterOf } from '../network/target.js';
import type { FaultName } from './fault.js';

/** Gives the mishap of a request, or none if the request is not one that the fault strikes. */
export type Strike = (exchange: Exchange) => Mishap | undefined;

/** A fault that happens to an open watch. */
export type WatchFault = 'watch-dropped' | 'watch-hangs' | 'bookmarks-missing' | 'bookmarks-late';

export function isWatchFault(fault: FaultName): fault is WatchFault {
  return ['watch-dropped', 'watch-hangs', 'bookmarks-missing', 'bookmarks-late'].includes(fault);
}

/** How a fault strikes the next request of a replica that it matches; undefined if it happens otherwise. */
export function strikeFor(fault: FaultName, a: number, b: number): Strike | undefined {
  switch (fault) {
    case 'cut-before':
      return () => ({ type: 'cut-before' });
    case 'cut-after':
      return ({ isWatch, target }) => (isWatch || (a < 0.7 && !isWrite(target)) ? undefined : { type: 'cut-after' });
    case 'delay':
      return () => ({ type: 'slow', requestMs: 20_000 * a ** 3, answerMs: 20_000 * b ** 3 });
    case 'half-open':
      return () => (a < 0.5 ? { type: 'lost' } : { type: 'answer-lost' });
    case 'truncated':
      return () => ({ type: 'truncated', share: a });
    case 'conflict':
      return ({ target: { verb } }) => (verb === 'update' || verb === 'patch' ? status(409, 'Conflict') : undefined);
    case 'gone':
      if (b < 0.3) return undefined;
      return ({ target }) =>
        (target.verb === 'watch' || target.verb === 'list') && parameterOf(target, 'resourceVersion') !== ''
          ? status(410, 'Expired')
          : undefined;
    case 'throttled':
      return () => ({
        ...status(429, 'TooManyRequests'),
        ...(a < 0.8 ? { retryAfterSeconds: 1 + Math.floor(b * 5) } : {}),
      });
    case 'server-error':
      return ({ isWatch }) => ({ ...status(500, 'InternalError'), executed: a < 0.5 && !isWatch });
    case 'unavailable':
      return () => status(503, 'ServiceUnavailable');
    case 'stale-list':
      return ({ target }) =>
        target.verb === 'list' && parameterOf(target, 'resourceVersion') === '0'
          ? { type: 'stale', revisions: 1 + Math.floor(a * 20) }
          : undefined;
    case 'watch-hangs':
      return b < 0.3 ? ({ isWatch }) => (isWatch ? { type: 'silent' } : undefined) : undefined;
    case 'bookmarks-late':
      if (b >= 0.3) return undefined;
      return ({ isWatch, target }) =>
        isWatch && parameterOf(target, 'sendInitialEvents') === 'true'
          ? { type: 'late', ms: 1000 + 20_000 * a ** 2 }
          : undefined;
    default:
      return undefined;
  }
}

export function status(code: number, reason: string): Extract<Mishap, { type: 'status' }> {
  return { type: 'status', code, reason, executed: false };
}
