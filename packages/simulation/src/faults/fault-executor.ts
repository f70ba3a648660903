import type { ApiServer } from '@kctl/apiserver';
import { objectLabel } from '../object-label.js';
import type { Exchange, Mishap } from '../network/exchange.js';
import type { Network } from '../network/network.js';
import type { WebhookCalls, WebhookOutage } from '../replica/webhook-calls.js';
import { isWrite } from '../network/target.js';
import { pick } from '../random.js';
import type { ReplicaHost } from '../replica/replica-host.js';
import type { Scheduler } from '../scheduler.js';
import { activities } from '../network/activity.js';
import type { Scope } from '../scope.js';
import type { CausedCommit } from '../caused-commit.js';
import type { FaultName, PlannedFault } from './fault.js';
import type { OtherActors } from './other-actors.js';
import { Spells } from './spells.js';
import { isWatchFault, status, strikeFor, type Strike, type WatchFault } from './strikes.js';

/** Targets of faults. */
export interface FaultTargets {
  readonly scheduler: Scheduler;
  readonly network: Network;
  readonly webhooks: WebhookCalls;
  readonly server: ApiServer;
  readonly hosts: readonly ReplicaHost[];
  /** Whose code strikes. */
  readonly userScope: Scope;
  readonly actors: OtherActors;
  readonly objects: ReadonlyMap<string, CausedCommit>;
  note(what: string, object?: string): void;
  disturbed(what: 'lease-edit' | 'clock-jump'): void;
  /** The run of a replica that was stopped has ended. */
  ended(host: ReplicaHost): void;
}

/** A fault that waits for the request that it strikes. */
interface Armed {
  readonly fault: FaultName;
  readonly host: ReplicaHost;
  readonly strike: Strike;
}

/** Time after which all work of an ended run must have ended, in ms. */
const endedMs = 200;
/** An answer that is not delayed has arrived so much later, in ms. */
const answeredMs = 10;
/** How long a replica that was stopped may take to end, in ms. */
const stopPatienceMs = 60_000;
/** How long a replica that died is down at most, in ms. */
const longestDownMs = 30_000;

/** Injects faults, some at once, some into the next request that they match. */
export class FaultExecutor {
  readonly #targets: FaultTargets;
  readonly #armed = new Set<Armed>();
  readonly #spells = new Spells();
  /** Faults that struck. */
  struck = 0;
  #isOver = false;

  constructor(targets: FaultTargets) {
    this.#targets = targets;
  }

  /** Schedules them; each runs as a separate task. */
  schedule(planned: readonly PlannedFault[]): void {
    const { scheduler, userScope } = this.#targets;
    for (const fault of planned)
      scheduler.after(userScope, fault.at - scheduler.now, () =>
        activities.run({ scope: userScope }, () => {
          if (!this.#isOver) this.#begin(fault);
        }),
      );
  }

  /** How long replicas stand still yet, in ms. */
  get stalledMs(): number {
    const { hosts, scheduler } = this.#targets;
    return Math.max(0, ...hosts.map(({ scope }) => (scope?.stalledUntil ?? 0) - scheduler.now));
  }

  /** Ends all faults; what is down comes up again. */
  async end(): Promise<void> {
    const { network, webhooks, hosts } = this.#targets;
    this.#isOver = true;
    this.#armed.clear();
    this.#spells.clear();
    network.isServerUp = true;
    webhooks.outage = undefined;
    for (const host of hosts) {
      if (host.scope !== undefined) network.partition(host.scope, undefined);
      if (host.isStopping) host.crash('after it was stopped');
      if (!host.isAlive) host.start();
    }
    await this.#targets.actors.settle();
  }

  /** Returns the fault of a request. */
  mishapFor(exchange: Exchange): Mishap | undefined {
    if (exchange.scope.kind !== 'replica') return undefined;
    if (this.#spells.isRevoked(exchange)) return status(403, 'Forbidden');
    if (this.#spells.isExpired(exchange)) return status(410, 'Expired');
    for (const armed of this.#armed) {
      if (armed.host.scope !== exchange.scope) continue;
      const mishap = armed.strike(exchange);
      if (mishap === undefined) continue;
      this.#armed.delete(armed);
      this.#strikes(armed.fault, exchange);
      return mishap;
    }
    return undefined;
  }

  #strikes(fault: FaultName, exchange: Exchange): void {
    this.struck++;
    this.#targets.note(`${fault}: ${exchange.scope.name} ${exchange.target.verb}`, labelOf(exchange));
  }

  #happens(what: string, object?: string): void {
    this.struck++;
    this.#targets.note(what, object);
  }

  /** The next request of the host that the test takes is struck. */
  #arm(fault: FaultName, host: ReplicaHost, strike: Strike): void {
    this.#armed.add({ fault, host, strike });
  }

  #begin({ fault, chances: [who, a, b] }: PlannedFault): void {
    const host = pick(this.#targets.hosts, who);
    const strike = strikeFor(fault, a, b);
    if (strike !== undefined) this.#arm(fault, host, strike);
    else if (isWatchFault(fault)) this.#strikeWatch(fault, host, [a, b]);
    else this.#happen(fault, host, [a, b]);
  }

  /** Faults that happen by themselves, not to a request. */
  #happen(fault: FaultName, host: ReplicaHost, [a, b]: [number, number]): void {
    const { server, actors } = this.#targets;
    switch (fault) {
      case 'gone':
        this.#expire(host, a, 2000 + 100_000 * b);
        return;
      case 'compaction':
        server.compact();
        this.#happens('history is compacted');
        return;
      case 'partition':
        this.#partition(host, a < 0.5 ? 'drops' : 'refuses', 1000 + 120_000 * b ** 2);
        return;
      case 'server-restart':
      case 'server-restart-cold':
        this.#restartServer(fault === 'server-restart-cold', 500 + 40_000 * b ** 2);
        return;
      case 'crash':
        this.#crash(host, 'by itself', a);
        return;
      case 'crash-after-write':
        this.#crashAtWrite(host, a, b);
        return;
      case 'restart':
        this.#restart(host, 200 + longestDownMs * a ** 2);
        return;
      case 'watch-flaps':
        this.#flap(host, a, 2000 + 30_000 * b ** 2);
        return;
      case 'stall':
        if (b < 0.6) this.#stall(host, 100 + 40_000 * a ** 2);
        else if (b < 0.8) this.#stallBeforeRepeat(host, 10_000 + 30_000 * a);
        else this.#stallBeforeAnswer(host, 8_000 + 30_000 * a);
        return;
      case 'clock-jump':
        this.#jump(host, Math.round((a < 0.5 ? -1 : 1) * 1000 * 3600 ** b));
        return;
      case 'permission-revoked':
        this.#revoke(host, [a, b]);
        return;
      case 'webhook-down':
        this.#loseWebhooks(a < 0.5 ? 'refuses' : 'hangs', 1000 + 60_000 * b ** 2);
        return;
      case 'lease-edit':
      case 'crd-recreated':
      case 'namespace-deleted':
      case 'other-edits':
      case 'other-deletes':
        if (fault === 'lease-edit') this.#targets.disturbed('lease-edit');
        void actors.act(fault, [a, b]).then((done) => {
          if (done !== undefined) this.#happens(done.what, done.object);
        });
        return;
      // Faults of one request, which #begin has armed.
      default:
    }
  }

  #strikeWatch(fault: WatchFault, host: ReplicaHost, [a, b]: number[]): void {
    const { network } = this.#targets;
    const watches = this.#watchesOf(host);
    if (watches.length === 0) return;
    const watch = pick(watches, a ?? 0);
    // A hanging watch stays so, because bookmarks that came through would signal that nothing was lost.
    if (watch.mood === 'hanging' && fault.startsWith('bookmarks')) return;
    this.#happens(`${fault}: ${host.name} watch`, labelOf(watch));
    if (fault === 'watch-hangs') network.hang(watch);
    else if (fault === 'bookmarks-missing') watch.mood = 'no-bookmarks';
    else if (fault === 'bookmarks-late') {
      watch.mood = 'late-bookmarks';
      watch.lateMs = 1000 + 120_000 * (b ?? 0) ** 2;
    } else if ((b ?? 0) < 0.5) network.end(watch);
    else network.fail(watch, 'UND_ERR_SOCKET');
  }

  #flap(host: ReplicaHost, which: number, forMs: number): void {
    const { network } = this.#targets;
    const watches = this.#watchesOf(host);
    if (watches.length === 0) return;
    const { resource } = pick(watches, which).target;
    const over = this.#spells.flap({ host, resource });
    this.#happens(`each watch of ${resource} by ${host.name} ends at once for ${seconds(forMs)}`);
    for (const watch of watches) if (watch.target.resource === resource) network.end(watch);
    this.#later(forMs, over);
  }

  /** Watches of a host that are open. */
  #watchesOf({ scope }: ReplicaHost): Exchange[] {
    return [...this.#targets.network.openOf(scope)].filter(({ isWatch, status: code }) => isWatch && code === 200);
  }

  /** As after a compaction with a loss of the server's watch cache, so any requested version is too old. */
  #expire(host: ReplicaHost, which: number, forMs: number): void {
    const watches = this.#watchesOf(host);
    if (watches.length === 0) return;
    const { resource } = pick(watches, which).target;
    const over = this.#spells.expire({ host, resource });
    this.#happens(`each version of ${resource} that ${host.name} names has expired for ${seconds(forMs)}`);
    for (const watch of watches) if (watch.target.resource === resource) this.#targets.network.end(watch);
    this.#later(forMs, over);
  }

  /** The watch has been opened. */
  opened(exchange: Exchange): void {
    if (this.#spells.isFlapping(exchange)) this.#targets.network.end(exchange);
  }

  /** A process that does not end is killed, as by a kubelet. */
  #restart(host: ReplicaHost, downMs: number): void {
    const { scope } = host;
    if (scope === undefined || !host.isAlive || host.isStopping) return;
    this.#happens(`${host.name} is stopped`);
    host.stop();
    const again = (): void => {
      if (host.scope === scope && host.isStopping) host.crash('after it was stopped');
      if (!host.isAlive) host.start();
    };
    void host.ended.then(() => {
      this.#later(endedMs, () => {
        if (host.scope === scope && !scope.isDead) this.#targets.ended(host);
      });
      this.#later(endedMs + downMs, again);
    });
    this.#later(stopPatienceMs + downMs, () => {
      if (host.scope === scope) again();
    });
  }

  #partition(host: ReplicaHost, how: 'drops' | 'refuses', forMs: number): void {
    const { network } = this.#targets;
    const { scope } = host;
    if (scope === undefined || scope.isDead || network.isPartitioned(scope)) return;
    network.partition(scope, how);
    this.#happens(`${host.name} is cut off for ${seconds(forMs)} (${how === 'drops' ? 'packets vanish' : 'refused'})`);
    this.#later(forMs, () => {
      network.partition(scope, undefined);
      this.#targets.note(`${host.name} reaches the server again`);
    });
  }

  #restartServer(isCold: boolean, forMs: number): void {
    const { network, server, hosts } = this.#targets;
    if (!network.isServerUp) return;
    network.isServerUp = false;
    network.cutAll(hosts.flatMap(({ scope }) => (scope === undefined ? [] : [scope])));
    this.#happens(`the server is down for ${seconds(forMs)}${isCold ? ' and loses its watch cache' : ''}`);
    this.#later(forMs, () => {
      if (isCold) server.compact();
      network.isServerUp = true;
      this.#targets.note('the server is up again');
    });
  }

  #crash(host: ReplicaHost, why: string, chance: number): void {
    if (!host.isAlive || host.isStopping) return;
    this.struck++;
    host.crash(why);
    this.#later(500 + longestDownMs * chance ** 2, () => {
      if (!host.isAlive && !host.isStopping) host.start();
    });
  }

  /** Before a write leaves, or once the server has executed it. */
  #crashAtWrite(host: ReplicaHost, how: number, down: number): void {
    this.#arm('crash-after-write', host, (exchange) => {
      const { target } = exchange;
      if (!isWrite(target) || (target.resource === 'leases' && how < 0.8)) return undefined;
      const what = `${target.verb} ${labelOf(exchange)}`;
      if (how % 0.2 < 0.05) {
        this.#crash(host, `before ${what}`, down);
        return { type: 'lost' };
      }
      return { type: 'then', then: () => this.#crash(host, `after ${what}`, down) };
    });
  }

  #stall(host: ReplicaHost, forMs: number): void {
    const { scheduler } = this.#targets;
    const { scope } = host;
    if (scope === undefined || scope.isDead) return;
    scope.stalledUntil = Math.max(scope.stalledUntil, scheduler.now + forMs);
    this.#happens(`the event loop of ${host.name} stands still for ${seconds(forMs)}`);
  }

  /** The next write is refused for a second; the event loop stands still before it is sent again. */
  #stallBeforeRepeat(host: ReplicaHost, forMs: number): void {
    this.#arm('stall', host, ({ target, scope }) => {
      if (!isWrite(target) || target.resource === 'leases' || target.resource === 'events') return undefined;
      this.#later(answeredMs, () => {
        if (host.scope === scope) this.#stall(host, forMs);
      });
      return { ...status(429, 'TooManyRequests'), retryAfterSeconds: 1 };
    });
  }

  /** The next write of a Lease is executed; its answer is read only after the event loop stood still. */
  #stallBeforeAnswer(host: ReplicaHost, forMs: number): void {
    this.#arm('stall', host, ({ target }) =>
      target.resource === 'leases' && isWrite(target)
        ? { type: 'then', then: () => this.#stall(host, forMs) }
        : undefined,
    );
  }

  #jump(host: ReplicaHost, byMs: number): void {
    host.jump(byMs);
    this.#targets.disturbed('clock-jump');
    this.#happens(`the wall clock of ${host.name} jumps by ${seconds(byMs)}`);
  }

  #revoke(host: ReplicaHost, [a = 0, b = 0]: number[]): void {
    // An operator does not use objects that the server made for itself.
    const used = [...this.#targets.objects.values()].filter(({ origin }) => origin !== 'server');
    const resources = [...new Set(used.map(({ resource }) => resource.split('/')[1] ?? ''))];
    if (resources.length === 0) return;
    const resource = pick(resources.sort(), a);
    const forMs = 1000 + 60_000 * b;
    const over = this.#spells.revoke({ host, resource, onlyWrites: b < 0.5 });
    this.#happens(`${host.name} may not ${b < 0.5 ? 'write' : 'use'} ${resource} for ${seconds(forMs)}`);
    this.#later(forMs, over);
  }

  #loseWebhooks(how: WebhookOutage, forMs: number): void {
    const { webhooks } = this.#targets;
    if (!webhooks.areServed) return;
    webhooks.outage = how;
    this.#happens(
      `no webhook can be reached for ${seconds(forMs)} (calls ${how === 'hangs' ? 'hang' : 'are refused'})`,
    );
    this.#later(forMs, () => {
      webhooks.outage = undefined;
      this.#targets.note('webhooks can be reached again');
    });
  }

  #later(ms: number, then: () => void): void {
    const { scheduler, userScope } = this.#targets;
    scheduler.after(userScope, ms, () => {
      if (!this.#isOver) then();
    });
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** `widgets demo/a`, as objects are named everywhere in a report. */
export function labelOf({ target: { group, resource, namespace, name } }: Exchange): string {
  return objectLabel({ group, plural: resource }, [namespace, name].filter((part) => part !== '').join('/')).trim();
}
