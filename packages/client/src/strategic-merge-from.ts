import type { DeepReadonly, KubeObject, Unread } from '@kctl/apimachinery';
import { createStrategicPatch, hasStrategicMerge } from '@kctl/apimachinery/strategic-merge';
import type { KindNames } from '@kctl/apimachinery/strategic-merge';
import { lockOn } from './patch.js';
import type { MergeFromOptions, Patch } from './patch.js';
import { requireObject, requireOptionsObject } from './checks/require-arguments.js';
import { requireOptions, booleanOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';

/** Options of {@link strategicMergeFrom}. */
export interface StrategicMergeFromOptions extends MergeFromOptions {
  /** The kind of the objects, if they do not state it. @default their `apiVersion` and `kind` */
  readonly kind?: KindNames;
}

const optionNames: OptionNames<StrategicMergeFromOptions> = { optimisticLock: booleanOption, kind: true };

/**
 * Returns the strategic merge patch that turns `original` into `modified`, objects of a built-in kind. It changes lists
 * with a merge key, such as the containers of a pod, item by item, so that items added by others stay. Mirrors
 * `client.StrategicMergeFrom`, and with `optimisticLock` `MergeFromWithOptimisticLock`.
 *
 * @throws TypeError for a custom resource, which API servers merge by JSON merge patches alone (use `mergeFrom`); for
 * objects that do not state their kind; when an optimistic lock is requested and `original` has no resourceVersion
 *
 * @example
 * ```ts
 * import { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
 * import { strategicMergeFrom } from '@kctl/client';
 *
 * const web = await client.get(Deployment, { namespace: 'shop', name: 'web' });
 * const changed = structuredClone(web);
 * for (const container of changed.spec?.template.spec?.containers ?? []) container.imagePullPolicy = 'Always';
 * await client.patch(Deployment, web, strategicMergeFrom(web, changed)); // a sidecar that another has added stays
 * ```
 */
export function strategicMergeFrom<T extends DeepReadonly<KubeObject>>(
  original: T,
  modified: DeepReadonly<Unread<NoInfer<T>>>,
  options: StrategicMergeFromOptions = {},
): Patch & { readonly type: 'strategic' } {
  requireOptionsObject('strategicMergeFrom', options);
  requireOptions('strategicMergeFrom', options, optionNames);
  requireObject('strategicMergeFrom', 'original', original);
  requireObject('strategicMergeFrom', 'modified object', modified);
  const { apiVersion, kind } = options.kind ?? original;
  if (apiVersion === undefined || kind === undefined)
    throw new TypeError(
      'strategicMergeFrom: the original has no apiVersion and kind, which decide on the merge keys: pass { kind: Deployment }, for example',
    );
  if (!hasStrategicMerge({ apiVersion, kind }))
    throw new TypeError(
      `strategicMergeFrom: ${kind} of ${apiVersion} is not a built-in kind: API servers merge custom resources by JSON merge patches alone: use mergeFrom`,
    );
  const body = createStrategicPatch({ apiVersion, kind }, original, modified);
  return {
    type: 'strategic',
    body: options.optimisticLock === true ? lockOn('strategicMergeFrom', original, body) : body,
  };
}
