import { formatKey, isNotFound, type Kind, keyOf } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import { intercept, type Client } from '@kctl/client';
import type { Plan, Planner } from '@kctl/controller';
import { messageOf } from '@kctl/telemetry/internal';
import { anySignal, orAborted, systemClock, timeoutSignal } from '@kctl/wait';
import { defaultTimeoutMs } from '../deploy/wait-for.js';
import { openClient, type ClusterOptions, type OpenCluster } from '../cluster.js';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { loadOperator, readProject } from '../project.js';
import { refuseRequests } from './refuse-requests.js';

/** Options of {@link plan}. */
export interface PlanOptions extends ClusterOptions {
  readonly main?: string;
  /** @default all namespaces that the operator watches; of a named object, the namespace of the context */
  readonly namespace?: string;
  /** `kind` or `kind/name`. @default all objects of all kinds with declared children */
  readonly target?: string;
  /** How long all requests together may take, in ms. @default 120000 */
  readonly timeoutMs?: number;
}

/** Plan of one object, or why there is none. */
export interface ObjectPlan extends Plan {
  /** `Website shop/a` */
  readonly object: string;
  readonly error?: string;
}

/** Plans of a command. */
export interface PlanOutcome {
  /** How many objects were looked at. */
  readonly planned: number;
  /** Those with changes, obstacles or an error. */
  readonly objects: readonly ObjectPlan[];
}

/** Objects that are planned at once. */
const concurrency = 8;

/**
 * Returns what the operator of the project would change in a cluster, by dry runs. Nothing of the operator starts.
 *
 * @throws CliError if the server has not answered everything in time
 */
export async function plan(io: CliIo, options: PlanOptions): Promise<PlanOutcome> {
  const operator = await loadOperator(readProject(io.cwd, options));
  await using cluster = await openClient(io, options);
  // Its clients could write: setup is the author's code, and so is whatever it hands to the children.
  const connection = refuseRequests(cluster.connection);
  const manager = await operator.createManager({ connection }, { logLevel: 'error' });
  try {
    const planners = manager.controllers().flatMap((controller) => [...controller.planners()]);
    if (planners.length === 0)
      throw new CliError(
        'no controller of the operator declares children, so nothing can be planned: declare them with dependents() of @kctl/dependents, and add .dependents(children) to the controller',
      );
    const { kind, name } = parseTarget(options.target);
    const chosen = planners.filter((planner) => kind === undefined || isNamed(planner.kind, kind));
    if (chosen.length === 0)
      throw new CliError(
        `${JSON.stringify(kind)} has no declared children: expected one of ${planners.map((each) => formatGroupKind(each.kind)).join(', ')}`,
      );
    const { timeoutMs = defaultTimeoutMs } = options;
    return await within(timeoutMs, io, async (signal, progress) => {
      const planning = { ...io, signal };
      const tasks: (() => Promise<ObjectPlan>)[] = [];
      const client = readOnly(cluster, signal);
      for (const planner of chosen) {
        const namespaces = namespacesOf(planner.kind, { ...options, name, cluster, watched: manager.cache });
        for (const object of await primaries(planning, client, { kind: planner.kind, name, namespaces }))
          tasks.push(async () => {
            const planned = await planOne(planning, { planner, object, client });
            progress.planned++;
            return planned;
          });
      }
      progress.found = tasks.length;
      const plans = await inTurn(tasks);
      const objects = plans.filter(
        ({ changes, obstacles, error }) => changes.length > 0 || obstacles.length > 0 || error !== undefined,
      );
      return { planned: plans.length, objects };
    });
  } finally {
    manager.metrics.close();
    await manager.liveClient[Symbol.asyncDispose]();
  }
}

/** How far a plan is, for the error of one that takes too long. */
interface Progress {
  planned: number;
  /** Undefined until the objects are listed. */
  found?: number;
}

/** One time limit for all requests, so that a server that falls silent does not cost the limit of each. */
async function within<T>(
  timeoutMs: number,
  io: CliIo,
  work: (signal: AbortSignal, progress: Progress) => Promise<T>,
): Promise<T> {
  const progress: Progress = { planned: 0 };
  using deadline = timeoutSignal(systemClock, timeoutMs);
  using either = anySignal([io.signal, deadline.signal]);
  try {
    return await orAborted(work(either.signal, progress), either.signal);
  } catch (error) {
    if (io.signal.aborted || !deadline.signal.aborted) throw error;
    const { planned, found } = progress;
    const state = found === undefined ? 'the objects are not listed yet' : `${planned} of ${found} objects are planned`;
    throw new CliError(
      `the server has not answered all requests within ${timeoutMs / 1000} s, and ${state}: see whether it answers, or allow more time with --timeout`,
      { cause: error },
    );
  }
}

/** @throws CliError with exit code 1 if a node would fail, and with 2 if something would change */
export function failOnChanges({ objects }: PlanOutcome): void {
  const failed = objects.filter(
    ({ error, obstacles }) => error !== undefined || obstacles.some(({ state }) => state === 'failed'),
  );
  if (failed.length > 0) throw new CliError(`${counted(failed.length)} would fail: see the lines with !`);
  const changed = objects.filter(({ changes }) => changes.length > 0);
  if (changed.length > 0) throw new CliError(`${counted(changed.length)} would change`, { exitCode: 2 });
}

function counted(count: number): string {
  return `the children of ${count} ${count === 1 ? 'object' : 'objects'}`;
}

function parseTarget(target: string | undefined): { readonly kind?: string; readonly name?: string } {
  if (target === undefined) return {};
  const [, kind, name] = /^([^/\s]+)(?:\/([^/\s]+))?$/.exec(target) ?? [];
  if (kind === undefined)
    throw new CliError(`${JSON.stringify(target)} is not an object: expected kind/name, such as website/shop`);
  return { kind, ...(name === undefined ? {} : { name }) };
}

/** As kubectl names kinds: kind or plural, with or without the group. */
function isNamed({ kind, plural, group }: Kind, text: string): boolean {
  const given = text.toLowerCase();
  return [kind.toLowerCase(), plural].some((each) => given === each || given === `${each}.${group}`);
}

/** The namespaces to list in; undefined for all, or for a cluster-scoped kind. */
function namespacesOf(
  kind: Kind,
  given: {
    readonly namespace?: string;
    readonly name: string | undefined;
    readonly cluster: OpenCluster;
    readonly watched: { namespacesFor(kind: Kind): readonly string[] | undefined };
  },
): readonly (string | undefined)[] {
  const { namespace, name, cluster, watched } = given;
  if (kind.scope === 'Cluster') return [undefined];
  if (namespace !== undefined) return [namespace];
  if (name !== undefined) return [cluster.connection.namespace ?? 'default'];
  return watched.namespacesFor(kind) ?? [undefined];
}

type Primary = Parameters<Planner['plan']>[0];

async function primaries(
  { err, signal }: CliIo,
  client: Client,
  given: {
    readonly kind: Kind;
    readonly name: string | undefined;
    readonly namespaces: readonly (string | undefined)[];
  },
): Promise<readonly Primary[]> {
  const { kind, name, namespaces } = given;
  const found: Primary[] = [];
  try {
    for (const namespace of namespaces) {
      if (name === undefined) {
        const { items } = await client.list(kind, { signal, ...(namespace === undefined ? {} : { namespace }) });
        found.push(...items);
      } else
        found.push(await client.get(kind, { name, ...(namespace === undefined ? {} : { namespace }) }, { signal }));
    }
  } catch (error) {
    if (name !== undefined || !isNotFound(error)) throw error;
    err(`${formatGroupKind(kind)} is not installed, so it has no objects\n`);
  }
  return found;
}

async function planOne(
  { signal }: CliIo,
  { planner, object, client }: { readonly planner: Planner; readonly object: Primary; readonly client: Client },
): Promise<ObjectPlan> {
  const named = `${planner.kind.kind} ${formatKey(keyOf(object))}`;
  try {
    const { changes, obstacles } = await planner.plan(object, { client, signal });
    return { object: named, changes, obstacles };
  } catch (error) {
    signal.throwIfAborted();
    return { object: named, changes: [], obstacles: [], error: messageOf(error) };
  }
}

/** Runs tasks, a few at once, and returns their results in order. */
async function inTurn<T>(tasks: readonly (() => Promise<T>)[]): Promise<T[]> {
  const results: T[] = [];
  const left = tasks.entries();
  const work = async (): Promise<void> => {
    for (const [index, task] of left) results[index] = await task();
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return results;
}

/** A client that refuses every write that is not a dry run, whatever code it is given to. */
function readOnly({ client, mapper }: OpenCluster, signal: AbortSignal): Client {
  const refuse = (): never => {
    throw new Error('a plan changes nothing, and a request that is not a dry run was refused');
  };
  const guarded = intercept(client, (next) => ({
    create: refuse,
    update: refuse,
    delete: refuse,
    deleteAllOf: refuse,
    subResource: () => ({ create: refuse, update: refuse, patch: refuse }),
    patch: async (kind, key, patch, options) =>
      options?.dryRun === true ? await next.patch(kind, key, patch, options) : refuse(),
  }));
  const kindFor: OpenCluster['mapper']['kindFor'] = async (gvk) => await orAborted(mapper.kindFor(gvk), signal);
  return Object.assign(guarded, { kindFor });
}
