import type { ClockTimer } from '@kctl/wait';
import { isLostRaceError } from '../storage/errors.js';
import type { InnerController } from './inner-controller.js';
import type { ControllerSwitches } from '../api-server-options.js';
import { crdTable, type Backend } from '../handlers/call.js';
import { createCrdController } from '../crd/crd-controller.js';
import { formatTime } from '../protocol/go-text.js';
import { createAggregationController } from './aggregation-controller.js';
import { createApiServiceController } from './api-service-controller.js';
import { createCrdBackend } from './crd-backend.js';
import { createGarbageCollector } from './garbage-collector.js';
import { createNamespaceController } from './namespace-controller.js';
import { createServiceAccountController } from './service-account-controller.js';
import { createVolumeProtectionController } from './volume-protection-controller.js';

/** The controllers inside the server. */
export interface Controllers {
  /** Checks everything again, after a restore. */
  resync(): void;
  /** Does all queued work at once, for a fresh store. */
  drain(): void;
  stop(): void;
}

/** How long queued work runs before others get their turn, in steps. */
const stepsPerTurn = 200;

/** Options of {@link startControllers}. */
export interface ControllerOptions {
  readonly enabled: boolean | ControllerSwitches;
  /** How long work waits before it begins, in ms; 0: until the next turn of the event loop. */
  readonly delayMs: number;
}

/** Starts the controllers on a store that has been loaded. */
export function startControllers(backend: Backend, { enabled, delayMs }: ControllerOptions): Controllers {
  // kube-apiserver itself keeps APIServices, even if no controller manager runs.
  const controllers = [createApiServiceController(backend), ...enabledControllers(backend, enabled)];
  const crds = createCrdController({
    registry: backend.registry,
    backend: createCrdBackend(backend),
    now: () => formatTime(backend.clock.now()),
  });
  let isStopped = false;
  let isScheduled = false;
  let timer: ClockTimer | undefined;

  const turn = (): void => {
    isScheduled = false;
    if (isStopped) return;
    let isMore = false;
    for (const controller of controllers) {
      for (let left = stepsPerTurn; left > 0; left--) {
        if (!safely(() => controller.step())) break;
        if (left === 1) isMore = true;
      }
    }
    if (isMore) schedule();
  };
  const schedule = (): void => {
    if (isScheduled || isStopped) return;
    isScheduled = true;
    if (delayMs > 0) timer = backend.clock.setTimer(turn, delayMs, { keepAlive: false });
    else setImmediate(turn);
  };
  const resync = (): void => {
    const names = new Set([...backend.store.table(crdTable).scan({})].map(([name]) => name));
    for (const { isCustom, plural, group } of backend.registry.list()) if (isCustom) names.add(`${plural}.${group}`);
    for (const name of names) crds.resync(name);
    for (const controller of controllers) controller.resync();
    schedule();
  };
  const unsubscribe = backend.store.subscribe((event) => {
    if (event.table === crdTable) crds.sync(event.key);
    else if (event.type === 'DELETED') crds.instanceRemoved(event.table);
    for (const controller of controllers) controller.observe(event);
    schedule();
  });
  const unsubscribeRegistry = backend.registry.subscribe(({ removed }) => {
    // In a later turn, because the deletions that led here are still on their way to the watchers.
    for (const { storageKey } of removed) setImmediate(() => backend.watch.hub.end(storageKey));
    for (const controller of controllers) controller.kindsChanged?.();
    schedule();
  });
  resync();
  return {
    resync,
    drain() {
      for (const controller of controllers) while (safely(() => controller.step()));
    },
    stop() {
      isStopped = true;
      timer?.cancel();
      unsubscribe();
      unsubscribeRegistry();
    },
  };
}

function enabledControllers(backend: Backend, enabled: boolean | ControllerSwitches): InnerController[] {
  if (enabled === false) return [];
  const switches = enabled === true ? {} : enabled;
  const {
    garbageCollection = true,
    namespaces = true,
    serviceAccounts = true,
    volumeProtection = true,
    clusterRoleAggregation = false,
  } = switches;
  return [
    ...(garbageCollection ? [createGarbageCollector(backend)] : []),
    ...(namespaces ? [createNamespaceController(backend)] : []),
    ...(serviceAccounts ? [createServiceAccountController(backend)] : []),
    ...(volumeProtection ? [createVolumeProtectionController(backend)] : []),
    ...(clusterRoleAggregation ? [createAggregationController(backend)] : []),
  ];
}

/** Ignores a lost race, because the other writer's event brings the work back. */
function safely(step: () => boolean): boolean {
  try {
    return step();
  } catch (error) {
    if (isLostRaceError(error)) return true;
    throw error;
  }
}
