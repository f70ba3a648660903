import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { createHttpClient, type HttpClient } from '@kctl/client-http';
import { installCrds } from '@kctl/testing';
import { sleep } from '@kctl/wait';
import { applicationCrd } from '@kctl/example-application-operator/application.js';
import { createDice, type Dice } from '../dice.js';
import { drawFault } from '../faults.js';
import type { Report } from '../report.js';
import { startChaosServer, type ChaosServer } from './chaos-server.js';
import { readDirectory, replayDirectory } from './file-directory.js';
import { createOperatorProcess, type OperatorProcess } from './operator-process.js';
import { inspect, type Finding } from './oracle.js';
import { createWorld, type Place, type World } from './world.js';

/** Options of {@link runOperatorScenario}. */
export interface OperatorScenarioOptions {
  readonly seed: number;
  /** How long faults go on, at least. */
  readonly seconds: number;
  /** The faults go on until this many have struck, however slow the machine is. @default 0 */
  readonly minFaults?: number;
  /** How many names Applications may have. */
  readonly applications: number;
  /** How often the operator is killed: the faults go on until this often. */
  readonly kills: number;
  readonly faultsPerSecond: number;
  readonly editsPerSecond: number;
  /** How long the cluster may take to settle. @default 300000 */
  readonly settleMs?: number;
  readonly report: Report;
}

const scenario = 'operator';
const userAgent = 'chaos-operator';
/** A run that strikes nothing ends with an error, not with a suite that hangs. */
const farLimitMs = 600_000;
const namespaces = ['chaos-a', 'chaos-b'];
/** Nothing may be written for this long once the cluster is as it should be. */
const silenceMs = 1500;

/** An operator on a misbehaving server, killed again and again, must leave the cluster as its users want it. */
export async function runOperatorScenario(options: OperatorScenarioOptions): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'kctl-chaos-'));
  try {
    await using server = await startChaosServer(join(folder, 'data'), options.seed);
    await using client = createHttpClient({ connection: server.connection, userAgent: 'chaos-users', maxRetries: 0 });
    await new OperatorScenario(options, { server, client, folder }).run();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Parts {
  readonly server: ChaosServer;
  readonly client: HttpClient;
  readonly folder: string;
}

class OperatorScenario {
  readonly #options: OperatorScenarioOptions;
  readonly #server: ChaosServer;
  readonly #client: HttpClient;
  readonly #directoryPath: string;
  readonly #operator: OperatorProcess;
  readonly #world: World;
  readonly #places: readonly Place[];
  readonly #dice: Dice;
  #kills = 0;
  #isOver = false;

  constructor(options: OperatorScenarioOptions, { server, client, folder }: Parts) {
    this.#options = options;
    this.#server = server;
    this.#client = client;
    this.#dice = createDice(options.seed);
    this.#directoryPath = join(folder, 'directory.jsonl');
    const kubeconfig = join(folder, 'kubeconfig');
    server.current.writeKubeconfig(kubeconfig);
    this.#places = Array.from({ length: options.applications }, (_, index) => ({
      namespace: namespaces[index % namespaces.length] ?? '',
      name: `app-${index >> 1}`,
    }));
    this.#operator = createOperatorProcess(
      { KUBECONFIG: kubeconfig, CHAOS_DIRECTORY: this.#directoryPath, CHAOS_USER_AGENT: userAgent },
      (how) => {
        this.#violate(how, this.#operator.lines.slice(-15));
        if (!this.#isOver) this.#operator.start();
      },
    );
    this.#world = createWorld({ client, dice: this.#dice.fork(), places: this.#places });
  }

  async run(): Promise<void> {
    const { report, seconds, kills, minFaults = 0 } = this.#options;
    await installCrds(this.#client, [applicationCrd]);
    for (const name of namespaces) await this.#client.create(Namespace, { metadata: { name } });
    try {
      this.#operator.start();
      const startedAt = performance.now();
      const goesOn = (): boolean => {
        const elapsedMs = performance.now() - startedAt;
        if (elapsedMs < seconds * 1000 || this.#kills < kills) return true;
        return this.#server.struck + this.#kills < minFaults && elapsedMs < farLimitMs;
      };
      const faults = this.#injectFaults(goesOn, this.#dice.fork());
      await this.#createAll();
      await Promise.all([
        faults,
        this.#edit(goesOn),
        this.#kill(goesOn, this.#dice.fork()),
        this.#outages(goesOn, this.#dice.fork()),
      ]);
      this.#server.clear();
      report.line(
        `operator: ${this.#world.edits} edits, ${this.#server.struck} faults, ${this.#kills} kills; waiting for quiet`,
      );
      await this.#awaitQuiet();
      await this.#stopOperator();
    } finally {
      this.#isOver = true;
      await this.#operator.kill();
      report.addFaults(this.#server.struck + this.#kills);
    }
  }

  async #createAll(): Promise<void> {
    const waiting = [...this.#places];
    const create = async (): Promise<void> => {
      for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) await this.#world.create(place);
    };
    await Promise.all(Array.from({ length: 8 }, create));
  }

  async #edit(goesOn: () => boolean): Promise<void> {
    const pauseMs = 1000 / this.#options.editsPerSecond;
    while (goesOn()) {
      const startedAt = performance.now();
      await this.#world.edit();
      await sleep(Math.max(0, pauseMs - (performance.now() - startedAt)));
    }
  }

  async #injectFaults(goesOn: () => boolean, dice: Dice): Promise<void> {
    const { faultsPerSecond } = this.#options;
    while (goesOn()) {
      this.#server.inject(drawFault(dice, { userAgent }, 'all'));
      this.#server.retire(Math.ceil(faultsPerSecond * 2));
      await sleep((dice.next() * 2000) / faultsPerSecond);
    }
  }

  async #kill(goesOn: () => boolean, dice: Dice): Promise<void> {
    const { kills, seconds } = this.#options;
    const meanMs = (seconds * 1000) / (kills + 1);
    while (this.#kills < kills) {
      await sleep(dice.next() * 2 * meanMs);
      if (dice.chance(0.5)) await this.#awaitWrite();
      await this.#operator.kill();
      this.#kills++;
      if (dice.chance(0.3)) await sleep(dice.between(0, 500));
      this.#operator.start();
    }
    while (goesOn()) await sleep(50);
  }

  /** Until the server has just committed a write of the operator whose answer got lost: the worst moment to die. */
  async #awaitWrite(): Promise<void> {
    const deadline = performance.now() + 1000;
    const fault = this.#server.inject({
      match: { userAgent, verb: ['create', 'update', 'patch', 'delete'] },
      action: { type: 'commitThenFail', code: 0 },
      times: 1,
    });
    while (fault.fired === 0 && performance.now() < deadline) await sleep(1);
  }

  /** The server as a whole goes away now and then. */
  async #outages(goesOn: () => boolean, dice: Dice): Promise<void> {
    while (goesOn()) {
      await sleep(dice.between(1000, 5000));
      if (!goesOn()) return;
      if (dice.chance(0.3)) this.#server.current.compact();
      if (dice.chance(0.5)) await this.#server.failover(dice.between(0, 400));
      else await this.#server.restart(dice.between(0, 400));
    }
  }

  async #awaitQuiet(): Promise<void> {
    const { settleMs = 300_000 } = this.#options;
    const deadline = performance.now() + settleMs;
    await this.#world.settle(settleMs / 2);
    let findings = await this.#inspect();
    while (findings.length > 0 && performance.now() < deadline) {
      await sleep(250);
      findings = await this.#inspect();
    }
    for (const finding of findings) this.#violate(`${finding.key}: ${finding.message}`, this.#contextOf(finding));
    if (findings.length > 0) return;
    const before = this.#server.current.revision;
    await sleep(silenceMs);
    const journal = this.#server.current.journal.commits().filter(({ revision }) => revision > before);
    // Events are recorded in the background, also after the cluster has settled.
    const writes = journal.filter(({ resource }) => !resource.endsWith('/events'));
    if (writes.length > 0)
      this.#violate(
        `${writes.length} writes after the cluster had settled`,
        writes
          .slice(0, 10)
          .map(({ resource, namespace, name, change }) => `${change} ${resource} ${namespace}/${name}`),
      );
    for (const finding of await this.#inspect())
      this.#violate(`${finding.key}: ${finding.message}, after it was right`, this.#contextOf(finding));
  }

  #inspect(): Promise<Finding[]> {
    const directory = replayDirectory(readDirectory(this.#directoryPath));
    return inspect(this.#client, { namespaces, wanted: this.#world.wanted, directory });
  }

  async #stopOperator(): Promise<void> {
    const how = await Promise.race([
      this.#operator.stop(),
      sleep(30_000, { keepAlive: false }).then(() => 'too late' as const),
    ]);
    if (how !== 0)
      this.#violate(
        `the operator did not stop on SIGTERM: ${how ?? 'it was not there'}`,
        this.#operator.lines.slice(-15),
      );
  }

  #contextOf({ key }: Finding): string[] {
    const [namespace = '', name = ''] = key.split('/');
    const about = this.#server.current.journal
      .entries()
      .filter((entry) => entry.type === 'commit' || entry.type === 'request')
      .filter((entry) => entry.namespace === namespace && entry.name === name)
      .map((entry) =>
        entry.type === 'commit'
          ? `server: ${entry.change} ${entry.resource} at ${entry.revision}`
          : `server: ${entry.userAgent} ${entry.method} ${entry.target}`,
      );
    const named = (text: string): boolean => text.includes(name) && !text.includes(`${name}0`);
    return [
      ...this.#world.history.filter((text) => text.endsWith(` ${key}`)).slice(-5),
      ...about.slice(-12),
      ...this.#operator.lines.filter(named).slice(-8),
    ];
  }

  #violate(message: string, context: readonly string[]): void {
    const { seed, report } = this.#options;
    report.violate({
      scenario,
      seed,
      step: `edit ${this.#world.edits}, start ${this.#operator.starts}`,
      message,
      context,
    });
  }
}
