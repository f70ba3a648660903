import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { Controller } from '@kctl/controller';
import type { AccessNeed } from '@kctl/rbac';
import { kindOf } from './timeline.js';
import type { InspectedState } from './state.js';

/** The kinds that a controller watches and writes. */
export interface ControllerNode {
  readonly name: string;
  readonly phase: string;
  readonly needLeaderElection: boolean;
  readonly watches: readonly {
    /** As in logs, e.g. `kind source: Pod`. */
    readonly source: string;
    /** '' if it is not of a kind of the cluster. */
    readonly kind: string;
    readonly phase: string;
    readonly isRequired: boolean;
    /** Events of it that have led to requests and are still recorded. */
    readonly events: number;
  }[];
  /** The writes that it declares. */
  readonly writes: readonly { readonly resource: string; readonly verbs: readonly string[]; readonly reason: string }[];
}

const writing: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Kinds, the controllers that their events reach, and what those write. */
export function graphView({ manager, store }: InspectedState): readonly ControllerNode[] {
  const controllers = manager?.controllers() ?? [];
  const events = new Map<string, number>();
  for (const { timeline, events: recorded } of store.newestFirst())
    for (const { source } of recorded) {
      const id = `${timeline.controller} ${source}`;
      events.set(id, (events.get(id) ?? 0) + 1);
    }
  return controllers.map((controller) => ({
    name: controller.name,
    phase: controller.phase,
    needLeaderElection: controller.needLeaderElection,
    watches: controller.sources().map(({ name, kind, phase, isRequired }) => ({
      source: name,
      kind: kind === undefined ? kindOf(name) : formatGroupKind(kind),
      phase,
      isRequired,
      events: events.get(`${controller.name} ${name}`) ?? 0,
    })),
    writes: needsOf(controller)
      .filter(({ verbs, when }) => when === undefined && verbs.some((verb) => writing.has(verb)))
      .map(({ group, resource, verbs, reason }) => ({
        resource: group === '' ? resource : `${resource}.${group}`,
        verbs: verbs.filter((verb) => writing.has(verb)),
        reason,
      })),
  }));
}

/** Needs of a controller that fails to return them are left out here, because the overview names the failure. */
function needsOf(controller: Pick<Controller<never>, 'accessNeeds'>): readonly AccessNeed[] {
  try {
    return controller.accessNeeds();
  } catch {
    return [];
  }
}
