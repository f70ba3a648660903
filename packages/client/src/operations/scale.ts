import type { KeyOrObject, Kind } from '@kctl/apimachinery';
import type { Scale as ScaleBody } from '@kctl/apimachinery/kinds/autoscaling/v1';
import { numberProblem, requireOptions } from '@kctl/options';
import type { SubResources } from '../client.js';
import type { AbortOptions } from '../options.js';
import { requireClient, requireOptionsObject } from '../checks/require-arguments.js';
import { keyIn } from '../checks/require-kind.js';
import type { OptionNames } from '@kctl/options';

/** The content of the subresource `scale` of autoscaling/v1. */
export interface Scale {
  /** How many replicas are wanted. */
  readonly replicas: number;
  /** How many there are. */
  readonly current: number;
  /** The selector of the pods, as a string; undefined if the kind does not state it. */
  readonly selector: string | undefined;
}

/** How many replicas an object of any kind with the subresource `scale` wants and has. @throws what the client throws */
export async function getScale<K extends Kind>(
  client: Pick<SubResources, 'subResource'>,
  kind: K,
  named: NoInfer<KeyOrObject<K>>,
  options: AbortOptions = {},
): Promise<Scale> {
  requireClient('getScale', client, ['subResource']);
  return toScale(await client.subResource(kind, 'scale').get(keyIn('getScale', kind, named), options));
}

/** Options of {@link scale}. */
export interface ScaleOptions extends AbortOptions {
  /** How many replicas are wanted from now on. */
  readonly replicas: number;
  readonly fieldOwner?: string;
}

const optionNames: OptionNames<ScaleOptions> = { replicas: true, fieldOwner: true, signal: true };

/**
 * Sets how many replicas an object of any kind with the subresource `scale` wants. Mirrors `kubectl scale`.
 *
 * @throws TypeError when `replicas` is not an integer ≥ 0; what the client throws
 */
export async function scale<K extends Kind>(
  client: Pick<SubResources, 'subResource'>,
  kind: K,
  named: NoInfer<KeyOrObject<K>>,
  given: ScaleOptions,
): Promise<Scale> {
  requireClient('scale', client, ['subResource']);
  requireOptionsObject('scale', given, '{ replicas }');
  requireOptions('scale', given, optionNames);
  const { replicas, ...options } = given;
  const problem = numberProblem('replicas', replicas, { integer: true });
  if (problem !== undefined) throw new TypeError(`scale: ${problem}`);
  const scales = client.subResource(kind, 'scale');
  return toScale(
    await scales.patch(keyIn('scale', kind, named), { type: 'merge', body: { spec: { replicas } } }, options),
  );
}

function toScale({ spec, status }: ScaleBody): Scale {
  return { replicas: spec?.replicas ?? 0, current: status?.replicas ?? 0, selector: status?.selector };
}
