import { systemClock } from '@kctl/wait';
import { expect, it } from 'vitest';
import type { ReconcileActivity, Scope } from '../scope.js';
import { reconcileRule } from './reconciles.js';
import type { RuleContext } from './rule.js';

const scope: Scope = {
  name: 'replica-1',
  kind: 'replica',
  clock: systemClock,
  isDead: false,
  stalledUntil: 0,
  timers: 0,
  enter: (work) => work(),
};

/** The rule, with steps that go on when they are told to. */
function watched() {
  const violations: string[] = [];
  let step = 1;
  const context: RuleContext = {
    now: 0,
    get step() {
      return step;
    },
    phase: 'faults',
    replicas: [],
    quietMs: 0,
    objects: new Map(),
    openOf: () => new Set(),
    listenersOf: () => 0,
    violate: (rule, message) => void violations.push(`${rule}: ${message}`),
  };
  const rule = reconcileRule(context, () => 0);
  let id = 0;
  const begin = (): (() => void) => {
    const reconcile: ReconcileActivity = { id: ++id, controller: 'shop', key: 'default/a', startedAt: 0 };
    rule.reconcileBegan?.(scope, reconcile);
    return () => rule.reconcileEnded?.({ scope, reconcile, error: undefined });
  };
  return { violations, begin, nextStep: () => void step++ };
}

const twice = 'one-reconcile-per-key: replica-1: controller shop reconciles default/a twice at the same time';

it('takes a span that ends in the step in which the next one of its key begins for ended before it', () => {
  const { violations, begin, nextStep } = watched();
  const endFirst = begin();
  nextStep();
  const endSecond = begin();
  endFirst();
  nextStep();
  endSecond();
  begin();
  nextStep();
  expect(violations).toEqual([]);
});

it('reports two of a key that both are there when time goes on, once', () => {
  const { violations, begin, nextStep } = watched();
  const endFirst = begin();
  const endSecond = begin();
  nextStep();
  endFirst();
  endSecond();
  nextStep();
  begin();
  expect(violations).toEqual([twice]);
});

it('still knows the later one when the earlier one has ended', () => {
  const { violations, begin, nextStep } = watched();
  const endFirst = begin();
  begin();
  endFirst();
  nextStep();
  begin();
  nextStep();
  begin();
  expect(violations).toEqual([twice]);
});
