import type { Kind } from '@kctl/apimachinery';
import { hasFinalizer, setCondition } from '@kctl/apimachinery';
import { isJsonObject } from '@kctl/apimachinery/internal';
import type { Condition } from '@kctl/apimachinery';
import type { ReadObject } from '@kctl/client';
import { asReconciler, finalizing, inject, isTerminalError, terminalError, writeStatus } from '@kctl/controller';
import type { Injectable, ReconcileContext, ReconcileFunction, ReconcileResult } from '@kctl/controller';
import { functionOption, requireOptions } from '@kctl/options';
import type { Dependents, ReconcilerOptions, ReconcilerParts } from './contract.js';
import type { AnyObject, Definition } from './definition/node.js';
import { needsFinalizer } from './definition/node.js';
import { isDependentsError } from './errors.js';
import type { AnyNodeResult, DependentsResult } from './results.js';
import type { DependentsContext } from './run/run-context.js';
import type { TeardownResult } from './run/teardown.js';
import { wallTime } from '@kctl/wait/internal';

/** The finalizer of a primary whose children are deleted in order. */
export const dependentsFinalizer = 'kctl.dev/dependents';

const optionNames = { status: functionOption, events: true };

/** The reconciler of a definition. */
export function createDependentsReconciler(
  definition: Definition,
  children: Dependents<Kind>,
  options: ReconcilerOptions<Kind, object>,
): Injectable<ReconcilerParts, ReconcileFunction> {
  requireOptions('reconciler', options, optionNames);
  return inject<ReconcilerParts, ReconcileFunction>({ client: true, metrics: true, clock: true }, (parts) =>
    new DependentsReconciler(definition, { children, options, parts }).reconciler(),
  );
}

class DependentsReconciler {
  readonly #definition: Definition;
  readonly #children: Dependents<Kind>;
  readonly #options: ReconcilerOptions<Kind, object>;
  readonly #parts: ReconcilerParts;

  constructor(
    definition: Definition,
    given: {
      readonly children: Dependents<Kind>;
      readonly options: ReconcilerOptions<Kind, object>;
      readonly parts: ReconcilerParts;
    },
  ) {
    this.#definition = definition;
    this.#children = given.children;
    this.#options = given.options;
    this.#parts = given.parts;
  }

  reconciler(): ReconcileFunction {
    const { primary: kind } = this.#definition;
    const apply = (object: ReadObject<Kind>, context: ReconcileContext): Promise<ReconcileResult> =>
      this.#apply(object, context);
    const isNeeded = needsFinalizer(this.#definition);
    const reconcile = finalizing({
      client: this.#parts.client,
      kind,
      apply,
      metrics: this.#parts.metrics,
      clock: this.#parts.clock,
      finalizers: [
        {
          name: dependentsFinalizer,
          cleanup: (object, context) => this.#cleanUp(object, context),
          // Of an earlier version of the definition: it stays, because its clean-up would delete the children.
          isNeeded: (object) => isNeeded || hasFinalizer(object, dependentsFinalizer),
        },
      ],
    });
    return asReconciler({
      client: this.#parts.client,
      kind,
      reconcile,
      onMissing: (request) => this.#children.forget(request),
    });
  }

  async #apply(object: ReadObject<Kind>, context: ReconcileContext): Promise<ReconcileResult> {
    const given = this.#contextOf(context);
    try {
      const result = await this.#children.reconcile(object, given);
      if (context.isSuperseded) return {};
      await this.#writeStatus(object, result, context);
      // No event tells that a server has got a kind.
      return hasSkipped(result) ? { requeueAfterMs: 60_000 } : {};
    } catch (error) {
      if (!isDependentsError(error)) throw error;
      await this.#writeStatus(object, error.result, context);
      const isTerminal = error.failures.every((failure) => isTerminalError(failure.error));
      throw isTerminal ? terminalError(error) : error;
    }
  }

  async #cleanUp(object: ReadObject<Kind>, context: ReconcileContext): Promise<ReconcileResult> {
    if ((object.metadata.finalizers ?? []).includes('foregroundDeletion'))
      this.#options.events?.warning(
        object,
        'OrderNotKept',
        'the object is deleted with foreground propagation: the garbage collector deletes its children in any order',
      );
    const result = await this.#children.teardown(object, this.#contextOf(context));
    if (result.done) return {};
    await this.#writeDeleting(object, result, context);
    // Events of children wake it; this is for those that are not watched.
    return { requeueAfterMs: 30_000 };
  }

  #contextOf(context: ReconcileContext): DependentsContext {
    const { events } = this.#options;
    return {
      client: this.#parts.client,
      signal: context.signal,
      logger: context.logger,
      metrics: this.#parts.metrics,
      clock: this.#parts.clock,
      get isSuperseded() {
        return context.isSuperseded;
      },
      ...(events === undefined ? {} : { events }),
    };
  }

  async #writeStatus(
    object: ReadObject<Kind>,
    result: DependentsResult<object>,
    context: ReconcileContext,
  ): Promise<void> {
    const present = statusOf(object);
    const further = this.#options.status?.(object, result) ?? {};
    const conditions = result.conditions(presentConditions(present));
    const { generation } = object.metadata;
    await this.#write(object, { ...present, ...further, conditions, ...observed(generation) }, context);
  }

  async #writeDeleting(object: AnyObject, { remaining }: TeardownResult, context: ReconcileContext): Promise<void> {
    const present = statusOf(object);
    const conditions = presentConditions(present).map((condition) => ({ ...condition }));
    const shown = remaining.slice(0, 3).map(({ target, message }) => `${target}: ${message}`);
    if (remaining.length > 3) shown.push(`${remaining.length - 3} more`);
    const { generation } = object.metadata;
    const update = { type: 'Ready', status: 'False', reason: 'Deleting', message: shown.join('; ') } as const;
    setCondition(conditions, { ...update, ...observed(generation) }, { now: wallTime(this.#parts.clock) });
    await this.#write(object, { ...present, conditions }, context);
  }

  async #write(object: AnyObject, status: object, { signal }: ReconcileContext): Promise<void> {
    const { primary: kind, fieldOwner } = this.#definition;
    await writeStatus({ client: this.#parts.client, kind, fieldOwner }, object as ReadObject<Kind>, { status, signal });
  }
}

function hasSkipped({ nodes }: DependentsResult<object>): boolean {
  return Object.values(nodes as Readonly<Record<string, AnyNodeResult>>).some((result) =>
    'state' in result ? result.state === 'skipped' : [...result.values()].some(({ state }) => state === 'skipped'),
  );
}

function observed(generation: number | undefined): { readonly observedGeneration?: number } {
  return generation === undefined ? {} : { observedGeneration: generation };
}

function statusOf(object: unknown): Readonly<Record<string, unknown>> {
  const status = isJsonObject(object) ? object['status'] : undefined;
  return isJsonObject(status) ? status : {};
}

function presentConditions(status: Readonly<Record<string, unknown>>): readonly Condition[] {
  const conditions = status['conditions'];
  return Array.isArray(conditions) ? conditions.filter((each): each is Condition => isJsonObject(each)) : [];
}
