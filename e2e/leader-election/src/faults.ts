import { sleep } from '@kctl/wait';
import type { Slot } from './candidate-process.js';
import { sharedNow } from './protocol.js';
import type { FaultyServer } from './server.js';

/** What may go wrong in a round. */
export const faultNames = [
  'kill',
  'stop and continue',
  'stall',
  'server crash',
  'drop',
  'blackhole',
  'delay',
  'clock jump',
  'graceful stop',
  'step down',
] as const;

/** What may go wrong where managers run: they do not step down, and may be stopped with work that does not end. */
export const managerFaultNames: readonly FaultName[] = [
  ...faultNames.filter((name) => name !== 'step down'),
  'stop with straggler',
  'stop with straggler',
  'stop with straggler',
];
export type FaultName = (typeof faultNames)[number] | 'stop with straggler';

/** What a fault does to leadership. */
export interface Injected {
  /** From when a new leader is due; undefined when the old one may go on. */
  readonly newLeaderDueFrom: number | undefined;
  /** Whether the lock was given back, so that nobody need wait for it to expire. */
  readonly released: boolean;
  readonly text: string;
}

export interface FaultContext {
  readonly leader: Slot;
  readonly server: FaultyServer;
  readonly leaseDurationMs: number;
  readonly maxStallMs: number;
  readonly random: () => number;
  /** Runs something later without holding the round up. */
  readonly later: (ms: number, action: () => void) => void;
  readonly onPause: (identity: string) => void;
}

/** Injects a fault into the leader (or the server). */
export async function inject(name: FaultName, context: FaultContext): Promise<Injected> {
  const { leader, server, leaseDurationMs, maxStallMs, random, later, onPause } = context;
  const { process } = leader;
  // Half of them shorter than the lease: nobody may take over too early. The other half up to the longest.
  const length =
    random() < 0.5 ? random() * leaseDurationMs : leaseDurationMs + random() * (maxStallMs - leaseDurationMs);
  const isLong = length > leaseDurationMs;
  const at = sharedNow();
  const cut = { newLeaderDueFrom: isLong ? at : undefined, released: false, text: `${name} ${Math.round(length)} ms` };
  leader.busyUntil = at + length;
  switch (name) {
    case 'kill':
      process.signal('SIGKILL');
      return { newLeaderDueFrom: at, released: false, text: name };
    case 'stop and continue':
      onPause(process.identity);
      process.signal('SIGSTOP');
      later(length, () => process.signal('SIGCONT'));
      return cut;
    case 'stall':
      process.send({ command: 'stall', ms: length, amidWrite: random() < 0.7 });
      return cut;
    case 'server crash':
      leader.busyUntil = 0;
      await server.crash();
      return { newLeaderDueFrom: sharedNow(), released: false, text: name };
    case 'drop':
    case 'blackhole': {
      const network = { mode: name };
      leader.proxy.set(network);
      later(length, () => leader.proxy.heal(network));
      return cut;
    }
    case 'delay': {
      // Shorter than what lies between the deadline and the lease: beyond that no lease can help, see the README.
      const ms = 20 + random() * 230;
      const network = { mode: name, ms };
      leader.proxy.set(network);
      later(length, () => leader.proxy.heal(network));
      return {
        newLeaderDueFrom: undefined,
        released: false,
        text: `delay of ${Math.round(ms)} ms for ${Math.round(length)} ms`,
      };
    }
    case 'clock jump': {
      const ms = (random() - 0.5) * 2 * 86_400_000;
      leader.busyUntil = 0;
      process.send({ command: 'jump', ms });
      await sleep(leaseDurationMs / 2);
      return { newLeaderDueFrom: undefined, released: false, text: `clock jump of ${Math.round(ms / 1000)} s` };
    }
    case 'graceful stop':
      process.send({ command: 'stop' });
      return { newLeaderDueFrom: at, released: true, text: name };
    case 'stop with straggler': {
      // Shorter than what is left of the lease at the end of the grace period: work that outlives even that can only be
      // kept from writing, which the order of the server's writes shows.
      const straggleMs = process.graceMs + random() * leaseDurationMs * 0.6;
      process.send({ command: 'stop', straggleMs });
      const details = `grace ${process.graceMs} ms, straggler ${Math.round(straggleMs)} ms`;
      return { newLeaderDueFrom: at + process.graceMs, released: false, text: `${name}, ${details}` };
    }
    case 'step down':
      // It does not run again for this long, to let another one lead.
      leader.busyUntil = at + leaseDurationMs;
      process.send({ command: 'step-down' });
      return { newLeaderDueFrom: at, released: true, text: name };
  }
}
