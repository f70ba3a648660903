import type { ReplicaHost } from '../replica/replica-host.js';
import type { Scope } from '../scope.js';
import type { Rule, RuleContext } from './rule.js';

/** How many timers and requests a replica may have pending at any time. */
const mostTimers = 20_000;
const mostExchanges = 2_000;

/** By how much they may grow while nothing moves. */
const mostGrowth = 50;

/** A stop leaves nothing behind; a life does not pile up. */
export function endsRule(context: RuleContext): Rule {
  let before = new Map<Scope | undefined, number>();
  const sizeOf = (scope: Scope | undefined): number =>
    scope === undefined ? 0 : scope.timers + context.openOf(scope).size;
  return {
    names: ['left-behind', 'piles-up'],
    quietBegan() {
      before = new Map(context.replicas.map(({ scope }) => [scope, sizeOf(scope)]));
    },
    quietEnded() {
      for (const { name, scope } of context.replicas) {
        const [was, is] = [before.get(scope), sizeOf(scope)];
        if (was === undefined || is <= 2 * was + mostGrowth) continue;
        context.violate(
          'piles-up',
          `${name} has ${is} timers and open requests after ${context.quietMs / 60_000} quiet minutes, and had ${was} before: something sets them and never cancels them`,
        );
      }
    },
    answered({ scope }) {
      if (scope.kind !== 'replica') return;
      if (scope.timers > mostTimers)
        context.violate(
          'piles-up',
          `${scope.name} has ${scope.timers} timers pending: something sets them and never cancels them`,
        );
      if (context.openOf(scope).size > mostExchanges)
        context.violate(
          'piles-up',
          `${scope.name} has ${context.openOf(scope).size} requests open: something sends them without end`,
        );
    },
    stopped({ name, scope, running }: ReplicaHost) {
      if (scope === undefined) return;
      const left = [
        ...[...running.values()].map(({ controller, key }) => `the reconcile of ${key} by ${controller}`),
        ...[...context.openOf(scope)].map(({ method, path }) => `${method} ${path}`),
        ...(scope.timers > 0 ? [`${scope.timers} timers`] : []),
        ...(context.listenersOf(scope) > 0 ? [`${context.listenersOf(scope)} servers that listen`] : []),
      ];
      if (left.length > 0)
        context.violate('left-behind', `${name}: run has ended and ${left.slice(0, 5).join(', ')} is left behind`);
    },
  };
}
