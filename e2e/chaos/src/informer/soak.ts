import { inspect } from 'node:util';
import { isAlreadyExists, isNotFound, isStatusError, metadataOnly, type KubeObject } from '@kctl/apimachinery';
import { ConfigMap, Namespace } from '@kctl/apimachinery/kinds/core/v1';
import { startApiServerWorker, type ApiServerWorker } from '@kctl/apiserver';
import { createHttpClient, isTransportError, type HttpClient } from '@kctl/client-http';
import { createSharedInformer, listerWatcherFor } from '@kctl/informer';
import { describeInformerState } from '@kctl/informer/internal';
import type { HandlerRegistration, SharedInformer } from '@kctl/informer';
import { noopLogger, type LogFields } from '@kctl/telemetry';
import { sleep, systemClock, type Clock } from '@kctl/wait';
import { createDice, type Dice } from '../dice.js';
import { drawFault } from '../faults.js';
import type { Report } from '../report.js';
import { compareThirds, describeSample, findGrowth, takeSample, type Sample } from './resources.js';
import { createWitness, type Witness } from './witness.js';

/** Options of {@link runInformerSoak}. */
export interface InformerSoakOptions {
  readonly seed: number;
  /** At least; in rounds. */
  readonly seconds: number;
  /** The rounds go on until this many faults have struck, however slow the machine is. @default 0 */
  readonly minFaults?: number;
  /** How many objects there are at most. @default 400 */
  readonly objects?: number;
  /** How many writers work at once. @default 6 */
  readonly writers?: number;
  /** Time between two moments of rest. @default 2500 */
  readonly roundMs?: number;
  readonly report: Report;
}

const scenario = 'informer';
const userAgent = 'soak-informer';
const namespace = 'soak';
/** A run that strikes nothing ends with an error, not with a suite that hangs. */
const farLimitMs = 600_000;
/** How long informers may take to catch up. */
const catchUpMs = 300_000;

/** Informers at full speed, on a server that fails each second, must stay exact and hold on to nothing. */
export async function runInformerSoak(options: InformerSoakOptions): Promise<void> {
  await using server = await startApiServerWorker({ seed: options.seed, bookmarkIntervalMs: 1000 });
  const connection = { server: server.url, ca: server.certificateAuthority, user: { token: server.token } };
  await using writer = createHttpClient({ connection, userAgent: 'soak-writer', maxRetries: 0 });
  await using reader = createHttpClient({ connection, userAgent });
  await writer.create(Namespace, { metadata: { name: namespace } });
  await new InformerSoak(options, { server, writer, reader }).run();
}

interface Parts {
  readonly server: ApiServerWorker;
  /** Not struck. */
  readonly writer: HttpClient;
  readonly reader: HttpClient;
}

/** An informer and those who watch it. */
interface Subject {
  readonly name: string;
  readonly informer: SharedInformer<KubeObject>;
  /** Which objects it must hold. */
  readonly covers: (labels: Readonly<Record<string, string>>) => boolean;
  readonly witnesses: Map<Witness<KubeObject>, HandlerRegistration>;
}

class InformerSoak {
  readonly #options: InformerSoakOptions;
  readonly #parts: Parts;
  readonly #dice: Dice;
  readonly #subjects: readonly Subject[];
  readonly #samples: Sample[] = [];
  #witnesses = 0;
  #events = 0;
  #round = 0;
  #writes = 0;

  constructor(options: InformerSoakOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.#dice = createDice(options.seed);
    this.#subjects = this.#createSubjects();
  }

  async run(): Promise<void> {
    const { seconds, report, minFaults = 0 } = this.#options;
    const faultsBefore = report.faults;
    const stop = new AbortController();
    for (const subject of this.#subjects) for (let each = 0; each < 2; each++) this.#addWitness(subject);
    const runs = this.#subjects.map(({ informer }) => informer.run(stop.signal));
    const startedAt = performance.now();
    const deadline = startedAt + seconds * 1000;
    try {
      const isOver = (): boolean =>
        report.faults - faultsBefore >= minFaults || performance.now() >= startedAt + farLimitMs;
      while (performance.now() < deadline || !isOver()) await this.#playRound(deadline);
    } finally {
      stop.abort();
      const ended = await Promise.race([Promise.all(runs).then(() => true), sleep(10_000, { keepAlive: false })]);
      if (ended !== true) this.#violate('informers have not stopped within 10 s');
    }
    const growth = findGrowth(this.#samples);
    if (growth !== undefined) this.#violate(growth, this.#samples.map(describeSample));
    const spent = (performance.now() - startedAt) / 1000;
    for (const subject of this.#subjects) for (const { events } of subject.witnesses.keys()) this.#events += events;
    report.line(
      `informer: ${this.#writes} writes, ${this.#events} events to handlers (${Math.round(this.#events / spent)}/s), ${this.#round} moments of rest`,
    );
    const [start, end] = [this.#samples[0], this.#samples.at(-1)];
    const thirds = compareThirds(this.#samples);
    if (start !== undefined) report.line(`informer, at the start: ${describeSample(start)}`);
    if (thirds !== undefined) {
      report.line(`informer, median of the first third: ${describeSample(thirds.first)}`);
      report.line(`informer, median of the last third: ${describeSample(thirds.last)}`);
    }
    if (end !== undefined) report.line(`informer, at the end: ${describeSample(end)}`);
  }

  #createSubjects(): Subject[] {
    const { reader } = this.#parts;
    const common = {
      clock: fasterClock(10),
      random: this.#dice.fork().next,
      minWatchTimeoutMs: 2000,
      // In the informer's own, faster time.
      idleTimeoutMs: 15_000,
      listIdleTimeoutMs: 30_000,
      onHandlerError: (error: unknown, handler: string) =>
        this.#violate(`${handler} was given what it could not read: ${describeFailure(error)}`),
      logger: {
        ...noopLogger,
        error: (message: string, fields?: LogFields) =>
          this.#violate(`${message} ${describeFailure(fields?.['error'])}`.trim()),
      },
    };
    const everything = (): boolean => true;
    const labelSelector = { tier: 'odd' };
    const objects = createSharedInformer<KubeObject>({
      ...common,
      kind: ConfigMap,
      listerWatcher: listerWatcherFor<KubeObject>(reader, ConfigMap, { namespace }),
    });
    const paged = createSharedInformer<KubeObject>({
      ...common,
      kind: ConfigMap,
      listerWatcher: listerWatcherFor<KubeObject>(reader, ConfigMap, { namespace }),
      watchList: false,
      pageSize: 37,
    });
    const labelled = createSharedInformer<KubeObject>({
      ...common,
      kind: ConfigMap,
      listerWatcher: listerWatcherFor<KubeObject>(reader, ConfigMap, { namespace, labelSelector }),
    });
    const kind = metadataOnly(ConfigMap);
    const metadata = createSharedInformer<KubeObject>({
      ...common,
      kind,
      listerWatcher: listerWatcherFor<KubeObject>(reader, kind, { namespace }),
    });
    return [
      { name: 'streaming', informer: objects, covers: everything, witnesses: new Map() },
      { name: 'paged', informer: paged, covers: everything, witnesses: new Map() },
      { name: 'labelled', informer: labelled, covers: ({ tier }) => tier === 'odd', witnesses: new Map() },
      { name: 'metadata', informer: metadata, covers: everything, witnesses: new Map() },
    ];
  }

  #addWitness(subject: Subject): void {
    const number = ++this.#witnesses;
    const dice = this.#dice.fork();
    // Every third handler is slow, so that changes wait and merge.
    const pause = number % 3 === 0 ? (): Promise<void> => sleep(dice.between(0, 3)) : undefined;
    const name = `${subject.name} handler ${number}`;
    const witness = createWitness<KubeObject>(name, (message) => this.#violate(message), pause);
    subject.witnesses.set(witness, subject.informer.addEventHandler(witness, { name }));
  }

  async #playRound(deadline: number): Promise<void> {
    const { roundMs = 2500, writers = 6 } = this.#options;
    this.#round++;
    const now = performance.now();
    const end = now < deadline ? Math.min(now + roundMs, deadline) : now + roundMs;
    const goesOn = (): boolean => performance.now() < end;
    const writing = Array.from({ length: writers }, (_, index) => this.#write(goesOn, index));
    await Promise.all([...writing, this.#break(goesOn, this.#dice.fork()), this.#churn(goesOn, this.#dice.fork())]);
    await this.#rest();
  }

  async #write(goesOn: () => boolean, index: number): Promise<void> {
    const { objects = 400, writers = 6 } = this.#options;
    const { writer } = this.#parts;
    const dice = this.#dice.fork();
    const padding = 'x'.repeat(1000);
    while (goesOn()) {
      // Each writer has names of its own.
      const name = `object-${dice.between(0, Math.floor(objects / writers)) * writers + index}`;
      const key = { namespace, name };
      const body = {
        metadata: { labels: { tier: dice.pick(['odd', 'even']) } },
        data: { value: String(this.#writes), padding },
      };
      try {
        if (dice.chance(0.15)) await writer.delete(ConfigMap, key);
        else if (dice.chance(0.3)) await writer.create(ConfigMap, { ...body, metadata: { ...key, ...body.metadata } });
        else await writer.patch(ConfigMap, key, { type: 'merge', body });
        this.#writes++;
      } catch (error) {
        if (isNotFound(error) || isAlreadyExists(error)) continue;
        if (!isTransportError(error) && !isStatusError(error)) throw error;
        await sleep(20);
      }
    }
  }

  /** More than a fault each second, so that moments of rest included it is about one. */
  async #break(goesOn: () => boolean, dice: Dice): Promise<void> {
    const { server } = this.#parts;
    const { faults } = server;
    while (goesOn()) {
      if (dice.chance(0.1)) await server.compact();
      if (dice.chance(0.15)) await faults.failover({ downMs: dice.between(0, 300) });
      else await faults.add(drawFault(dice, { userAgent }, 'reading'));
      await sleep(600);
    }
  }

  /** Handlers come and go. */
  async #churn(goesOn: () => boolean, dice: Dice): Promise<void> {
    while (goesOn()) {
      await sleep(dice.between(100, 700));
      const subject = dice.pick(this.#subjects);
      if (subject.witnesses.size < 4) this.#addWitness(subject);
      else {
        const [witness, registration] = dice.pick([...subject.witnesses]);
        const removed = registration.remove();
        witness.close();
        subject.witnesses.delete(witness);
        this.#events += witness.events;
        await removed;
      }
    }
  }

  async #rest(): Promise<void> {
    const { server, writer } = this.#parts;
    await server.faults.clear();
    this.#options.report.addFaults((await server.journal()).filter(({ type }) => type === 'fault').length);
    await server.clearJournal();
    const items = await persist(async () => (await writer.list(ConfigMap, { namespace })).items);
    for (const subject of this.#subjects) {
      const wanted = new Map<string, string>();
      for (const { metadata } of items)
        if (subject.covers(metadata.labels ?? {})) wanted.set(metadata.name ?? '', metadata.resourceVersion ?? '');
      await this.#compare(subject, wanted);
    }
    this.#samples.push(await takeSample());
  }

  async #compare({ name, informer, witnesses }: Subject, wanted: ReadonlyMap<string, string>): Promise<void> {
    const deadline = performance.now() + catchUpMs;
    const differences = (): string[] => {
      const stored = new Map(
        informer.indexer.list().map(({ metadata }) => [metadata.name ?? '', metadata.resourceVersion ?? '']),
      );
      return [
        ...describeDifference(`the store of ${name}`, stored, wanted),
        ...[...witnesses.keys()].flatMap((witness) => describeDifference(witness.name, witness.known, wanted)),
      ];
    };
    let found = differences();
    while (found.length > 0 && performance.now() < deadline) {
      await sleep(20);
      found = differences();
    }
    if (found.length === 0) return;
    const state = describeInformerState(informer.state, informer.trouble, performance.now());
    this.#violate(`${name} differs from the server: ${found[0] ?? ''}`, [state, ...found.slice(1, 10)]);
  }

  #violate(message: string, context: readonly string[] = []): void {
    const { seed, report } = this.#options;
    report.violate({ scenario, seed, step: `round ${this.#round}`, message, context });
  }
}

function describeFailure(error: unknown): string {
  return error === undefined ? '' : inspect(error);
}

function describeDifference(
  who: string,
  actual: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, string>,
): string[] {
  const names = new Set([...actual.keys(), ...wanted.keys()]);
  return [...names]
    .filter((name) => actual.get(name) !== wanted.get(name))
    .map((name) => `${who} has ${name} at ${actual.get(name) ?? 'none'}, the server at ${wanted.get(name) ?? 'none'}`);
}

/** Time that runs faster, so that back-off does not make a short soak an idle one. */
function fasterClock(factor: number): Clock {
  return {
    now: () => systemClock.now(),
    monotonicNow: () => systemClock.monotonicNow() * factor,
    setTimer: (callback, delayMs, options) => systemClock.setTimer(callback, delayMs / factor, options),
  };
}

async function persist<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++)
    try {
      return await work();
    } catch (error) {
      if (attempt === 100) throw error;
      await sleep(50);
    }
}
