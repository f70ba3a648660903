import type { CausedCommit } from '../caused-commit.js';
import type { Rule, RuleContext } from './rule.js';

/** How long a deletion may take once all is quiet, in ms. */
const deletionMs = 60_000;

/** Deleted objects are removed, along with their dependents. */
export function ownershipRule(context: RuleContext): Rule {
  /** Every object that a user made, and those that are gone: `namespace/name` → labels. */
  const primaries = new Map<string, Set<string>>();
  /** Child → `namespace/name` of what was reconciled when it was made. */
  const madeFor = new Map<string, { readonly key: string; readonly controller: string }>();

  const remember = (commit: CausedCommit): void => {
    const { exchange, label, change, origin } = commit;
    if (change === 'DELETED') madeFor.delete(label);
    if (change !== 'ADDED') return;
    if (origin === 'user') {
      const key = label.split(' ')[1] ?? '';
      primaries.set(key, (primaries.get(key) ?? new Set()).add(label));
    } else if (exchange?.reconcile !== undefined && !exempt.has(exchange.target.resource)) {
      const { key, controller } = exchange.reconcile;
      madeFor.set(label, { key, controller });
    }
  };
  return {
    names: ['deletion-stuck', 'orphan'],
    committed: remember,
    quietEnded() {
      for (const [label, { object, name }] of context.objects) {
        const { deletionTimestamp, finalizers = [] } = object.metadata;
        if (deletionTimestamp !== undefined && context.quietMs >= deletionMs)
          context.violate(
            'deletion-stuck',
            `${label} is deleted and does not go: finalizer ${finalizers.join(', ') || '(none)'} is still there. A cleanup must succeed when it was done already, in part or as a whole, and its finalizer is removed after it`,
            label,
          );
        const made = madeFor.get(label);
        if (made === undefined || !isGone(made.key) || hasOwner(object)) continue;
        context.violate(
          'orphan',
          `${label} was made when ${made.controller} reconciled ${made.key}, which is gone, and is still there: ${name} has no owner reference to it. Call setControllerReference(owner, Kind, child) before it is created, or delete it before the finalizer is removed`,
          label,
        );
      }
    },
  };

  function isGone(key: string): boolean {
    const labels = primaries.get(key);
    return labels !== undefined && [...labels].every((label) => !context.objects.has(label));
  }
}

const exempt = new Set(['leases', 'leasecandidates', 'events', 'secrets']);

function hasOwner(object: CausedCommit['object']): boolean {
  return (object.metadata.ownerReferences ?? []).length > 0;
}
