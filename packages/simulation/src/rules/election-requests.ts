import type { Exchange } from '../network/exchange.js';
import type { CausedCommit } from '../caused-commit.js';
import type { Rule, RuleContext } from './rule.js';

/** A candidate that waits for an answer longer than a lease lasts neither takes it nor keeps it. */
export function electionRequestsRule(context: RuleContext): Rule {
  /** How long the lease of each election lasts, by the label of its Lease, in ms. */
  const durations = new Map<string, number>();
  const waiting = new Set<Exchange>();

  const labelOf = ({ target: { namespace, name } }: Exchange): string => `leases ${namespace}/${name}`;

  const judge = (exchange: Exchange): void => {
    const { scope } = exchange;
    if (scope.isDead || exchange.isConnecting) return;
    const lastsMs = durations.get(labelOf(exchange));
    // While its event loop stands still it cannot give a request up.
    const waitedMs = (exchange.closedAt ?? context.now) - Math.max(exchange.sentAt, scope.stalledUntil);
    if (lastsMs === undefined || waitedMs <= lastsMs) return;
    context.violate(
      'election-request-hangs',
      `${scope.name} has waited ${Math.round(waitedMs / 1000)} s for an answer to ${exchange.target.verb} of the Lease, which lasts ${lastsMs / 1000} s: meanwhile it can neither take it nor keep it. Give each election request a deadline, half of the renew deadline for example`,
      labelOf(exchange),
    );
  };

  const judgeAll = (): void => {
    for (const exchange of waiting) {
      judge(exchange);
      if (exchange.isClosed || exchange.scope.isDead) waiting.delete(exchange);
    }
  };

  return {
    names: ['election-request-hangs'],
    committed({ resource, label, object, origin }: CausedCommit) {
      // The content that another client writes into a released Lease does not define how long candidates wait.
      if (resource !== 'coordination.k8s.io/leases' || origin !== 'replica') return;
      const { spec } = object as { spec?: { holderIdentity?: string; leaseDurationSeconds?: number } };
      // A released one may have one second.
      if ((spec?.holderIdentity ?? '') !== '' && spec?.leaseDurationSeconds !== undefined)
        durations.set(label, spec.leaseDurationSeconds * 1000);
    },
    sending(exchange) {
      const { scope, target, isWatch } = exchange;
      if (target.resource !== 'leases' || target.name === '' || isWatch || scope.kind !== 'replica') return;
      judgeAll();
      waiting.add(exchange);
    },
    quietEnded: judgeAll,
  };
}
