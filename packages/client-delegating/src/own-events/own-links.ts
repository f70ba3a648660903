import { formatKey } from '@kctl/apimachinery';
import { formatGroupKind } from '@kctl/apimachinery/internal';
import type { Kind, ObjectKey } from '@kctl/apimachinery';
import type { Patch } from '@kctl/client';

/** Beyond this many writes the oldest is forgotten, so its event is then delivered. */
const maxLinks = 10_000;

/**
 * Own writes as steps from one version to the next. A step is known only for a write that named the version it started
 * from, because its success proves that no foreign change lies in between.
 */
export class OwnLinks {
  readonly #baseOf = new Map<string, string>();

  add(object: string, step: { readonly from: string; readonly to: string }): void {
    if (step.from === '' || step.to === '' || step.from === step.to) return;
    this.#baseOf.set(`${object} ${step.to}`, step.from);
    if (this.#baseOf.size <= maxLinks) return;
    const [oldest] = this.#baseOf.keys();
    if (oldest !== undefined) this.#baseOf.delete(oldest);
  }

  /** Whether own writes alone lead from one version to the other. */
  spans(object: string, { from, to }: { readonly from: string; readonly to: string }): boolean {
    let at: string | undefined = to;
    for (let steps = 0; at !== undefined && steps < maxLinks; steps++) {
      at = this.#baseOf.get(`${object} ${at}`);
      if (at === from) return true;
    }
    return false;
  }
}

/** One object, in whatever version and shape its kind is. */
export function objectName(kind: Kind, key: ObjectKey): string {
  return `${formatGroupKind(kind)} ${formatKey(key)}`;
}

/** The version that a patch requires; '' if it requires none. */
export function guardOf(patch: Patch): string {
  if (patch.type === 'json') {
    const [test] = patch.operations.filter(({ op, path }) => op === 'test' && path === '/metadata/resourceVersion');
    return test !== undefined && 'value' in test && typeof test.value === 'string' ? test.value : '';
  }
  const metadata = memberOf(patch.body, 'metadata');
  const version = memberOf(metadata, 'resourceVersion');
  return typeof version === 'string' ? version : '';
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([member]) => member === name)?.[1];
}
