// What scenarios share: parts as they should be, and what is done with them.
import * as controller from '@kctl/controller';
import { type Stage } from './play.js';
import { object } from '../parts.js';

export const key = { namespace: 'default', name: 'a' };
export const nothing = (): undefined => undefined;
export const stored = async (): Promise<unknown> => await Promise.resolve(structuredClone(object));
export const listed = async (): Promise<unknown> =>
  await Promise.resolve({ metadata: { resourceVersion: '1' }, items: [structuredClone(object)] });
export async function* quiet(signal?: AbortSignal): AsyncGenerator<never> {
  if (signal !== undefined) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
export const verbs = { get: stored, create: stored, update: stored, patch: stored, delete: stored };
export const goodClient = {
  ...verbs,
  ...{ list: listed, deleteAllOf: listed, status: () => verbs, subResource: () => verbs },
  watch: async (_kind: unknown, options: { readonly signal?: AbortSignal } = {}) =>
    await Promise.resolve(
      Object.assign(quiet(options.signal), { [Symbol.asyncDispose]: async () => await Promise.resolve() }),
    ),
};
export const runnable = async (
  _running: unknown,
  { attempt, signal, clock, end }: Stage,
  run: (signal: AbortSignal) => Promise<void>,
) => {
  const running = run(signal);
  running.catch(nothing);
  await settle();
  await clock.advance(2_000);
  await settle();
  end();
  await settle();
  await clock.advance(20_000);
  await attempt(() => running);
};
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** A controller with a source of one event; `made` gets its parts. */
export async function reconcile(
  stage: Stage,
  options: object,
  source: controller.Source<controller.ReconcileRequest> = oneEvent(controller.enqueueRequestForObject()),
): Promise<void> {
  const { clock, logger } = stage;
  const own = controller.createController({
    ...{ name: 'own', reconciler: async () => await Promise.resolve(undefined), clock, logger, ...options },
    ...{ skipNameValidation: true, needLeaderElection: false },
  });
  own.watch(source);
  await runnable(own, stage, (signal) => own.run(signal));
}
export const failing = async (): Promise<never> => await Promise.reject(new Error('the reconcile failed'));

export function oneEvent(
  handler: controller.EventHandler<never, controller.ReconcileRequest>,
  predicates: readonly controller.Predicate<never>[] = [],
): controller.Source<controller.ReconcileRequest> {
  const events = controller.createEventChannel<never>();
  events.send(object as never);
  return controller.channelSource({ name: 'one', events, handler, predicates } as never);
}
export const request = { namespace: 'default', name: 'a' };

export const goodInformer = {
  addEventHandler: () => ({ hasSynced: true, waitForSync: async () => await Promise.resolve(), remove: nothing }),
};
export function withName(part: object, name: string): object {
  return new Proxy(part, {
    get: (target, member): unknown => (member === 'name' ? name : Reflect.get(target, member)),
    has: (target, member) => member === 'name' || member in target,
  });
}
/** Functions of a part as members of a plain object. */
export function functionsOf(part: object, names: readonly string[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(names.map((name) => [name, Reflect.get(part, name)]));
}
