/** A custom resource of two versions, which a webhook converts. */
import type { Context } from '../../harness/context.js';
import { startConverter } from '../../harness/converter.js';
import type { Draft, Json } from '../../harness/doc.js';
import type { RandomKind } from '../kinds.js';
import type { Random } from '../random.js';

const group = 'gdiff.kctl.test';

/** v1 has host and port, v2 has both in one. */
function convert(object: Json, apiVersion: string): Json {
  const { spec: from, ...rest } = object;
  if (typeof from !== 'object' || from === null) return { ...rest, apiVersion };
  const { host, port, address, tier: _tier, ...common } = from;
  if (apiVersion.endsWith('/v2'))
    return {
      ...rest,
      apiVersion,
      spec: { ...common, ...(host === undefined ? {} : { address: `${host}:${port ?? 0}` }) },
    };
  const [name, number] = String(address ?? '').split(':');
  return {
    ...rest,
    apiVersion,
    spec: { ...common, ...(address === undefined ? {} : { host: name, port: Number(number) || 0 }) },
  };
}

const common = {
  color: { type: 'string', default: 'red' },
  replicas: { type: 'integer' },
  size: { type: 'integer', minimum: 0 },
};

function version(name: string, properties: object, selectable: string): Draft {
  return {
    name,
    served: true,
    storage: name === 'v1',
    subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
    selectableFields: [{ jsonPath: selectable }],
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: {
          spec: { type: 'object', properties: { ...common, ...properties } },
          status: { type: 'object', properties: { phase: { type: 'string' }, replicas: { type: 'integer' } } },
        },
      },
    },
  };
}

/** Installs the definition; the converter goes with the context. */
export async function createGadgets(t: Context): Promise<readonly (readonly [weight: number, kind: RandomKind])[]> {
  const converter = await startConverter(convert);
  t.defer(() => converter.stop());
  await t.crd({
    metadata: { name: `gadgets.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget' },
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: converter.clientConfig, conversionReviewVersions: ['v1'] },
      },
      versions: [
        version('v1', { host: { type: 'string', maxLength: 5 }, port: { type: 'integer' } }, '.spec.host'),
        version('v2', { address: { type: 'string' }, tier: { type: 'string', default: 'gold' } }, '.spec.address'),
      ],
    },
  });
  return [
    [5, gadgetOf('v1')],
    [5, gadgetOf('v2')],
  ];
}

function gadgetOf(name: 'v1' | 'v2'): RandomKind {
  const apiVersion = `${group}/${name}`;
  const place = (random: Random): Draft =>
    name === 'v1'
      ? { host: random.pick(['a', 'b', 'longer']), port: random.pick([1, 2, 'x']) }
      : { address: random.pick(['a:1', 'b:2', 'c', 7]) };
  const spec = (random: Random): Draft => ({
    ...(random.chance(0.9) ? place(random) : {}),
    ...(random.chance(0.3) ? { color: random.pick(['red', 'blue', null]) } : {}),
    ...(random.chance(0.3) ? { replicas: random.below(4) } : {}),
    ...(random.chance(0.2) ? { size: random.pick([1, -1]) } : {}),
    ...(random.chance(0.1) ? { bogus: 1 } : {}),
    ...(name === 'v2' && random.chance(0.2) ? { tier: random.pick(['silver', 3]) } : {}),
  });
  return {
    kind: 'Gadget',
    apiVersion,
    path: (namespace, object, subresource) =>
      [`/apis/${apiVersion}/namespaces/${namespace}/gadgets`, object, subresource]
        .filter((part) => part !== undefined)
        .join('/'),
    hasStatus: true,
    hasScale: true,
    isCustom: true,
    fields: (random) => (random.chance(0.97) ? { spec: spec(random) } : {}),
    change: (random) => ({ spec: spec(random) }),
    status: (random) => ({ phase: random.pick(['x', 'y', 5]), replicas: random.below(3) }),
    operations: (random) => ({
      path: random.pick(name === 'v1' ? ['/spec/host', '/spec/port'] : ['/spec/address', '/spec/tier']),
      value: random.pick(['a', 'b', 1, 'a:1']),
    }),
    fieldSelectors: name === 'v1' ? ['spec.host=a', 'spec.address=a:1'] : ['spec.address=a:1', 'spec.host!=a'],
  };
}
