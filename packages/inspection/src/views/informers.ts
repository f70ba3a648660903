import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { InformerReport } from '@kctl/manager';
import { describeFailure } from '../recording/describe-failure.js';
import type { InspectedState } from './state.js';

/** An informer and what it holds. */
export interface InformerRow {
  readonly cluster: string;
  /** `Deployment.apps` */
  readonly kind: string;
  readonly version: string;
  readonly phase: string;
  readonly hasSynced: boolean;
  readonly isWanted: boolean;
  /** For how long it has been in the phase, in ms. */
  readonly phaseForMs: number | undefined;
  /** The reason why it does not watch, as the class of the failure and a description of the error. */
  readonly trouble: string | undefined;
  /** All if undefined. */
  readonly namespaces: readonly string[] | undefined;
  readonly objects: number | undefined;
  readonly bytes: number | undefined;
  readonly indexes: readonly string[];
}

/** The informers of all clusters, those in trouble first. */
export function informersView(state: InspectedState): readonly InformerRow[] {
  const { manager } = state;
  const rows = (manager?.clusters() ?? []).flatMap(({ name, cache }) =>
    [...(cache.informers?.() ?? [])].map((report): InformerRow => {
      const { kind, state: at, trouble, hasSynced = true, isWanted = true } = report;
      return {
        cluster: name,
        kind: formatGroupKind(kind),
        version: kind.version,
        phase: at.phase,
        hasSynced,
        isWanted,
        phaseForMs: at.since === undefined ? undefined : state.clock.monotonicNow() - at.since,
        trouble: trouble === undefined ? undefined : describeTrouble(trouble, state.recordErrorMessages),
        namespaces: cache.namespacesFor?.(kind),
        objects: report.objects,
        bytes: report.bytes,
        indexes: report.indexes ?? [],
      };
    }),
  );
  return rows.sort(
    (left, right) =>
      Number(isHealthy(left)) - Number(isHealthy(right)) ||
      (left.kind < right.kind ? -1 : Number(left.kind > right.kind)),
  );
}

/** Whether it watches, or need not. */
export function isHealthy({ phase, hasSynced, isWanted }: InformerRow): boolean {
  return !isWanted || (phase === 'watching' && hasSynced);
}

function describeTrouble({ reason, error }: NonNullable<InformerReport['trouble']>, withMessages: boolean): string {
  return error === undefined ? reason : `${reason}: ${describeFailure(error, { withMessages })}`;
}
