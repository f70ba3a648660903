import type { ReplicaHost } from '../replica-host.js';
import type { Rule, RuleContext } from './rule.js';

/** How many timers and requests a replica may have pending at any time. */
const mostTimers = 20_000;
const mostExchanges = 2_000;

/** A stop leaves nothing behind; a life does not pile up. */
export function endsRule(context: RuleContext): Rule {
  return {
    names: ['left-behind', 'piles-up'],
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
      ];
      if (left.length > 0)
        context.violate('left-behind', `${name}: run has ended and ${left.slice(0, 5).join(', ')} is left behind`);
    },
  };
}
