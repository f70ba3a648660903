import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client } from '@kctl/client';
import type { ReconcileObserver } from '@kctl/controller';
import { createHttpServer, type HttpHandler, type HttpServer } from '@kctl/manager';
import { isLoopback } from '@kctl/manager/internal';
import type { SentRequest } from '@kctl/rbac';
import { noopLogger, type RequestCounter, type RequestTally } from '@kctl/telemetry';
import { requireOptions } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { systemClock } from '@kctl/wait';
import type { InspectedManager } from './inspected.js';
import { LoopLagMeter } from './loop-lag.js';
import { checkOptions, defaultBudgetBytes, defaultMaxRunsPerKey, type InspectionOptions } from './options.js';
import { makePage } from './page/page.js';
import { HiddenNames } from './recording/hidden-names.js';
import { observeWrites } from './recording/observe-writes.js';
import { Recorder } from './recording/recorder.js';
import { CycleStore } from './recording/store.js';
import { createHandler } from './serve/handler.js';
import { UsedRights, type RightRow } from './used-rights.js';
import { graphView, type ControllerNode } from './views/graph.js';
import { informersView, type InformerRow } from './views/informers.js';
import { keysQueryNames, keysView, type KeysQuery, type KeysView } from './views/keys.js';
import { overviewView, type OverviewView } from './views/overview.js';
import { rightsView } from './views/rights.js';
import type { InspectedState } from './views/state.js';
import { timelineQueryNames, timelineView, type TimelineQuery, type TimelineView } from './views/timeline.js';

/** The address at which inspection is served. */
export interface ListenOptions {
  /** 0: any free port. */
  readonly port: number;
  /** A loopback address; any other is refused. @default '127.0.0.1' */
  readonly host?: string;
  /** Called when it listens. Errors that it throws are logged. */
  readonly onListening?: (address: { readonly host: string; readonly port: number } | undefined) => void;
}

const listenOptionNames: OptionNames<ListenOptions> = { port: true, host: true, onListening: true };

/** The tally of the run that goes on in an async context. */
export interface CurrentTally extends RequestCounter {
  getStore(): RequestTally | undefined;
}

/** Records what controllers do, and shows it. */
export interface Inspection {
  /** For the option `observer` of a manager, or of a controller. */
  readonly observer: ReconcileObserver;
  /** For the option `requestCounter` of a manager. It attributes writes to the run that sends them. */
  readonly requestCounter: CurrentTally;
  /** For the option `observe` of a connection. It counts the rights that are used. */
  readonly observeRequest: (request: SentRequest) => void;
  /** A client whose writes are recorded for the run that sends them. Give it to what the reconcilers use. */
  observeWrites(client: Client): Client;
  /** Whose controllers, informers and rights are shown. */
  attach(manager: InspectedManager): void;
  /**
   * Serves `/debug/kctl/` and everything below, for `manager.addMetricsHandler('/debug/kctl/', …)` of a metrics server
   * that authenticates. Without such protection, use {@link Inspection.server}.
   */
  readonly handler: HttpHandler;
  /**
   * A server on a loopback address as a runnable, for `manager.add`: reached by a port-forward. Requests that name another
   * host, or that a page of another site makes a browser send, are refused with 403.
   *
   * @throws TypeError when the host is not a loopback address
   */
  server(options: ListenOptions): HttpServer;
  overview(): OverviewView;
  keys(query?: KeysQuery): KeysView;
  timeline(query: TimelineQuery): TimelineView;
  informers(): readonly InformerRow[];
  graph(): readonly ControllerNode[];
  rights(): readonly RightRow[];
}

/**
 * Makes a recorder. It records nothing before it is given to a manager, and serves nothing before `server` runs.
 *
 * @throws TypeError naming every option that is not valid
 *
 * @example
 * ```ts
 * import { createCache } from '@kctl/cache';
 * import { createInspection } from '@kctl/inspection';
 * import { createCluster, createManager } from '@kctl/manager';
 * import { createEnvironment } from '@kctl/testing';
 *
 * const { client } = await createEnvironment(); // or the client of a cluster
 * const inspection = createInspection();
 * const manager = createManager({
 *   cluster: createCluster({ client: inspection.observeWrites(client), apiReader: client, cache: createCache({ client }) }),
 *   observer: inspection.observer,
 *   requestCounter: inspection.requestCounter,
 * });
 * inspection.attach(manager);
 * manager.add(inspection.server({ port: 8082 }));
 * ```
 */
export function createInspection(options: InspectionOptions = {}): Inspection {
  checkOptions(options);
  return new RecordingInspection(options);
}

class RecordingInspection implements Inspection {
  readonly observer: Recorder;
  readonly requestCounter: CurrentTally = new AsyncLocalStorage<RequestTally>();
  readonly observeRequest: (request: SentRequest) => void;
  readonly handler: HttpHandler;
  readonly #options: InspectionOptions;
  readonly #names: HiddenNames;
  readonly #state: Omit<InspectedState, 'manager' | 'loopLag'>;
  #manager: InspectedManager | undefined;
  #loopLag: LoopLagMeter | undefined;

  constructor(options: InspectionOptions) {
    const { budgetBytes = defaultBudgetBytes, maxRunsPerKey = defaultMaxRunsPerKey, clock = systemClock } = options;
    const { recordSecretNames = false, recordErrorMessages = false } = options;
    this.#options = options;
    this.#names = new HiddenNames(recordSecretNames);
    const store = new CycleStore({ budgetBytes, maxRunsPerKey, at: clock.now() });
    const rights = new UsedRights();
    this.observeRequest = rights.observe;
    this.observer = new Recorder({
      store,
      names: this.#names,
      clock,
      recordErrorMessages,
      reconcilesSecrets: (controller) => this.#reconcilesSecrets(controller),
    });
    const startedAt = clock.monotonicNow();
    this.#state = { store, recorder: this.observer, rights, clock, budgetBytes, startedAt, recordErrorMessages };
    this.handler = this.#createHandler(false);
  }

  observeWrites(client: Client): Client {
    const { store, clock, recordErrorMessages } = this.#state;
    const currentTally = (): RequestTally | undefined => this.requestCounter.getStore();
    return observeWrites(client, { store, names: this.#names, clock, recordErrorMessages, currentTally });
  }

  attach(manager: InspectedManager): void {
    this.#manager = manager;
  }

  server(options: ListenOptions): HttpServer {
    requireOptions('inspection.server', options, listenOptionNames);
    const { port, host = '127.0.0.1', onListening } = options;
    if (!isLoopback(host))
      throw new TypeError(
        `inspection: host ${JSON.stringify(host)} is not a loopback address: use 127.0.0.1 and a port-forward, or serve it beside metrics that are protected`,
      );
    const { clock } = this.#state;
    const server = createHttpServer({
      name: 'inspection',
      host,
      port,
      handlers: [this.#createHandler(true)],
      logger: this.#manager?.logger ?? noopLogger,
      clock,
      // Streams do not end by themselves, and a stop releases the lease at its end.
      shutdownTimeoutMs: 0,
      ...(onListening === undefined ? {} : { onListening }),
    });
    const run = server.run.bind(server);
    return Object.assign(server, {
      run: async (signal: AbortSignal): Promise<void> => {
        // The loop is late in real time alone.
        using lag = clock === systemClock ? new LoopLagMeter(clock) : undefined;
        this.#loopLag = lag;
        try {
          await run(signal);
        } finally {
          this.#loopLag = undefined;
        }
      },
    });
  }

  overview(): OverviewView {
    return overviewView(this.#now());
  }

  keys(query: KeysQuery = {}): KeysView {
    requireOptions('Inspection.keys', query, keysQueryNames);
    return keysView(this.#now(), query);
  }

  timeline(query: TimelineQuery): TimelineView {
    requireOptions('Inspection.timeline', query, timelineQueryNames);
    return timelineView(this.#now(), query);
  }

  informers(): readonly InformerRow[] {
    return informersView(this.#now());
  }

  graph(): readonly ControllerNode[] {
    return graphView(this.#now());
  }

  rights(): readonly RightRow[] {
    return rightsView(this.#now()).rows;
  }

  #now(): InspectedState {
    return { ...this.#state, manager: this.#manager, loopLag: this.#loopLag };
  }

  #createHandler(onlyLoopbackHosts: boolean): HttpHandler {
    return createHandler({ state: () => this.#now(), page: makePage(), onlyLoopbackHosts });
  }

  /** As the builder declares it; an event shows it for controllers that are made by hand. */
  #reconcilesSecrets(name: string): boolean | undefined {
    if (this.#options.recordSecretNames === true) return false;
    const found = this.#manager?.controllers().find((controller) => controller.name === name);
    try {
      const needs = found?.accessNeeds().filter(({ reason }) => reason.startsWith('for(')) ?? [];
      return needs.length === 0
        ? undefined
        : needs.some(({ group, reason }) => group === '' && reason === 'for(Secret)');
    } catch {
      return true; // not known: its names stay hidden
    }
  }
}
