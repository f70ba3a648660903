import { nestedOptions, requireOptions, type OptionNames } from '@kctl/options';
import { sleep, type Clock, type Random } from '@kctl/wait';
import { statusReply } from '../handlers/reply.js';
import type { WritableJournal } from '../journal/journal.js';
import type { Verb } from '../resource/resource.js';
import type { ApiRequest, Reply, User } from '../protocol/api-request.js';
import type { ResourcePath } from '../protocol/request-info.js';
import type { WatchTap } from '../watch/session.js';
import type { Fault, FaultAction, FaultHandle, FaultMatch } from './faults.js';
import { seededRandom } from '../process/seeded-random.js';
import { watchTapOf } from './watch-taps.js';

/** Facts that faults are matched against. */
export interface RequestFacts {
  readonly id: number;
  readonly verb: Verb | undefined;
  readonly path: ResourcePath | undefined;
  readonly user: User;
  readonly userAgent: string;
}

/** Faults that apply to one request. */
export interface FaultPlan {
  readonly tap: WatchTap | undefined;
  /** How many revisions behind a read is. */
  readonly revisionsBehind: number;
  /** Runs the work between the faults. */
  around(work: () => Promise<Reply>, client: FaultedClient): Promise<Reply>;
}

/** Client of the request, whose signal is read if a fault has to wait. */
export type FaultedClient = Pick<ApiRequest, 'signal'>;

/** Decides what befalls requests. */
export interface FaultEngine {
  add(fault: Fault): FaultHandle;
  clear(): void;
  plan(facts: RequestFacts): FaultPlan;
}

interface Armed {
  readonly fault: Fault;
  readonly random: Random;
  seen: number;
  fired: number;
}

const noFaults: FaultPlan = { tap: undefined, revisionsBehind: 0, around: (work) => work() };

function matchesFacts(match: FaultMatch, { verb, path, user, userAgent }: RequestFacts): boolean {
  const wants = <T>(wanted: T | undefined, actual: T | undefined): boolean => wanted === undefined || wanted === actual;
  const verbs = match.verb === undefined ? undefined : [match.verb].flat();
  return (
    (verbs === undefined || (verb !== undefined && verbs.includes(verb))) &&
    wants(match.group, path?.group) &&
    wants(match.resource, path?.resource) &&
    wants(match.subresource, path?.subresource) &&
    wants(match.namespace, path?.namespace) &&
    wants(match.name, path?.name) &&
    wants(match.user, user.name) &&
    (match.userAgent === undefined || userAgent.includes(match.userAgent))
  );
}

function strikes(armed: Armed, facts: RequestFacts): boolean {
  const { fault } = armed;
  const { match = {}, times = Infinity } = fault;
  if (!matchesFacts(match, facts)) return false;
  armed.seen++;
  if (match.nth !== undefined && armed.seen !== match.nth) return false;
  const chance = armed.random();
  if (armed.fired >= times || chance >= (match.probability ?? 1)) return false;
  armed.fired++;
  return true;
}

function injected(
  code: number,
  action: { readonly reason?: string; readonly message?: string; readonly retryAfterSeconds?: number },
): Reply {
  const { reason, message = `injected fault: ${code}`, retryAfterSeconds } = action;
  return statusReply({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: reason ?? reasons[code] ?? 'Unknown',
    ...(retryAfterSeconds !== undefined && { details: { retryAfterSeconds } }),
    code,
  });
}

const reasons: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

const cut: Reply = { status: 500, headers: {}, destroy: true };

/** One action around the rest. */
function wrap(action: FaultAction, clock: Clock): FaultPlan['around'] {
  return async (work, client) => {
    switch (action.type) {
      case 'delay':
        await sleep(action.ms, { clock, signal: client.signal, keepAlive: false });
        return work();
      case 'status':
        return injected(action.code, action);
      case 'conflict':
        return injected(409, {
          message:
            'Operation cannot be fulfilled: injected conflict; please apply your changes to the latest version and try again',
        });
      case 'rejectConnection':
        return cut;
      case 'commitThenFail': {
        const reply = await work();
        if (reply.status >= 400) return reply;
        return action.code === 0 ? cut : injected(action.code ?? 500, {});
      }
      case 'truncateBody':
        return { ...(await work()), truncateAfter: action.bytes };
      case 'staleRead':
      case 'expireWatch':
      case 'dropWatch':
      case 'stallWatch':
      case 'tearEvent':
      case 'duplicateEvent':
        return work();
    }
  };
}

/** Options of {@link createFaultEngine}. */
export interface FaultEngineOptions {
  readonly clock: Clock;
  readonly journal: WritableJournal;
  readonly seed: number;
}

/** @throws TypeError naming the field of a fault that is out of range */
export function createFaultEngine({ clock, journal, seed }: FaultEngineOptions): FaultEngine {
  const armed = new Set<Armed>();
  let added = 0;
  return {
    add(fault) {
      checkFault(fault);
      const entry: Armed = { fault, random: seededRandom(fault.seed ?? seed + ++added), seen: 0, fired: 0 };
      armed.add(entry);
      return {
        get fired() {
          return entry.fired;
        },
        remove: () => {
          armed.delete(entry);
        },
      };
    },
    clear: () => armed.clear(),
    plan(facts) {
      if (armed.size === 0) return noFaults;
      const actions: FaultAction[] = [];
      for (const entry of armed) {
        if (!strikes(entry, facts)) continue;
        const { fault } = entry;
        actions.push(fault.action);
        journal.add({
          type: 'fault',
          fault: fault.name ?? fault.action.type,
          action: fault.action.type,
          request: facts.id,
        });
      }
      if (actions.length === 0) return noFaults;
      return {
        tap: watchTapOf(actions),
        revisionsBehind: Math.max(
          0,
          ...actions.map((action) => (action.type === 'staleRead' ? action.revisionsBehind : 0)),
        ),
        around: (work, client) =>
          actions.reduceRight<() => Promise<Reply>>(
            (inner, action) => () => wrap(action, clock)(inner, client),
            work,
          )(),
      };
    },
  };
}

const faultNames: OptionNames<Fault> = { name: true, match: true, action: true, times: true, seed: true };
const matchNames: OptionNames<FaultMatch> = {
  verb: true,
  group: true,
  resource: true,
  subresource: true,
  namespace: true,
  name: true,
  user: true,
  userAgent: true,
  nth: true,
  probability: true,
};

/** A misspelled member of `match` would let a fault meet every request. */
function checkFault(fault: Fault): void {
  requireOptions('faults.add', fault, { ...faultNames, match: nestedOptions(matchNames) });
  const { match, times, action } = fault;
  const { probability, nth } = match ?? {};
  const refuse = (field: string, value: unknown, expected: string): never => {
    throw new TypeError(`faults.add: ${field} ${String(value)} is out of range: expected ${expected}`);
  };
  if (probability !== undefined && !(probability >= 0 && probability <= 1))
    refuse('match.probability', probability, '0 to 1');
  if (nth !== undefined && !(Number.isInteger(nth) && nth >= 1)) refuse('match.nth', nth, 'a whole number from 1');
  if (times !== undefined && !(times >= 0)) refuse('times', times, '0 or more');
  if (action.type === 'delay' && !(action.ms >= 0)) refuse('action.ms', action.ms, '0 or more');
  if (action.type === 'truncateBody' && !(action.bytes >= 0)) refuse('action.bytes', action.bytes, '0 or more');
  if (action.type === 'staleRead' && !(action.revisionsBehind >= 0))
    refuse('action.revisionsBehind', action.revisionsBehind, '0 or more');
}
