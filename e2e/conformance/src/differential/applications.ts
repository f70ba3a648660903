/** Random configurations for server-side apply. */
import type { Draft } from '../harness/doc.js';
import type { Query } from '../harness/http.js';
import { randomMetadata, type RandomKind } from './kinds.js';
import type { Random } from './random.js';

/** A configuration, and the parameters that it is applied with. */
export interface Application {
  readonly body: unknown;
  readonly query: Query;
}

const oddities: readonly Draft[] = [
  { kind: 'Zip' },
  { apiVersion: 'zip/v1' },
  { apiVersion: '' },
  { metadata: { name: 'other' } },
  { metadata: {} },
  { metadata: { managedFields: [] } },
  { metadata: { resourceVersion: '1' } },
  { metadata: { uid: 'zzz' } },
  { spec: 'x' },
  { bogus: { x: 1 } },
];

/** What one of a few managers wants of an object, of its status or of its scale. */
export function randomApplication(
  random: Random,
  kind: RandomKind,
  { name, subresource }: { readonly name: string; readonly subresource: string | undefined },
): Application {
  const { apiVersion } = kind;
  const { labels, annotations, finalizers } = randomMetadata(random);
  const metadata: Draft = {
    name,
    ...(labels !== undefined && { labels }),
    ...(annotations !== undefined && { annotations }),
    ...(finalizers !== undefined && random.chance(0.5) && { finalizers }),
  };
  const wanted = (): Draft => {
    if (subresource === 'status')
      return { apiVersion, kind: kind.kind, metadata: { name }, status: kind.status(random) };
    if (subresource === 'scale')
      return {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name },
        spec: { replicas: random.pick([0, 1, 2, -1, 'x']) },
      };
    const fields = random.weighted<() => Draft>([
      [4, () => kind.fields(random)],
      [3, () => kind.change(random)],
      [2, () => ({})],
    ])();
    return { apiVersion, kind: kind.kind, metadata, ...fields };
  };
  const oddity = random.chance(0.06) ? random.pick(oddities) : {};
  return {
    body: random.chance(0.02) ? random.pick<unknown>(['', '[]', 'x']) : { ...wanted(), ...oddity },
    query: {
      ...(random.chance(0.97) && { fieldManager: random.pick(['one', 'one', 'two', 'kubectl', 'x'.repeat(130)]) }),
      ...(random.chance(0.45) && { force: random.pick(['true', 'true', 'false', '1', 'zip']) }),
      ...(random.chance(0.05) && { dryRun: random.pick(['All', 'Zip']) }),
      ...(random.chance(0.08) && { fieldValidation: random.pick(['Strict', 'Warn', 'Ignore', 'Zip']) }),
    },
  };
}
