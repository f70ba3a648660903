import { grantingTables } from '../authorization/rbac/escalation.js';
import type { ResourceDefinition } from '../resource/resource.js';
import type { ObjectVersion, Rendering } from '../storage/version.js';
import { isLongBody } from '../codecs/long-body.js';
import type { ResourceCall } from './call.js';
import type { WriteTarget } from './update.js';
import type { WriteOptions } from './write-options.js';

interface KnownNoop {
  readonly definition: ResourceDefinition;
  /** All other inputs of the outcome, such as the applier and the options. */
  readonly application: string;
}

/** Number of applications remembered per state, since an object seldom has more appliers. */
const mostOfOneState = 4;

const known = new WeakMap<ObjectVersion, KnownNoop[]>();

/** An apply of a configuration to a state, as {@link isKnownNoop} compares it. */
export interface NoopCandidate {
  readonly call: ResourceCall;
  readonly options: WriteOptions;
  readonly target: Pick<WriteTarget, 'subresource'>;
  /** The configuration as it was sent. */
  readonly text: string;
}

/**
 * Whether this very configuration, applied in this very way to this very state, has changed nothing and warned of
 * nothing before. Then it does so again, and needs neither be read nor merged. Controllers that restart apply existing
 * configurations.
 */
export function isKnownNoop(present: ObjectVersion, candidate: NoopCandidate): boolean {
  const entries = known.get(present);
  if (entries === undefined) return false;
  const { definition } = candidate.call;
  const application = applicationOf(candidate);
  return entries.some((entry) => entry.definition === definition && entry.application === application);
}

/** Remembers an apply whose answer shows that it has changed nothing of a state. */
export function noteOutcome(present: ObjectVersion, candidate: NoopCandidate, answered: Rendering): void {
  const { definition } = candidate.call;
  if (!mayRemember(definition) || isLongBody(candidate.text) || answered !== present.in(definition)) return;
  const entries = known.get(present) ?? [];
  if (entries.length >= mostOfOneState) entries.shift();
  entries.push({ definition, application: applicationOf(candidate) });
  known.set(present, entries);
}

/**
 * Excludes custom resources, whose rules another definition changes, and kinds that depend on the permissions of the
 * writer.
 */
function mayRemember({ isCustom, storageKey }: ResourceDefinition): boolean {
  return !isCustom && !grantingTables.has(storageKey);
}

function applicationOf({ call, options, target, text }: NoopCandidate): string {
  const { fieldManager, fieldValidation, dryRun } = options;
  const { query } = call;
  return JSON.stringify([fieldManager, query.get('force'), fieldValidation, dryRun, target.subresource, text]);
}
