import type { DeepReadonly, Kind, KubeObject } from '@kctl/apimachinery';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import type { OperatorGraph } from '@kctl/operator';
import { webhookConfigurations, withConversion, type WebhookConfiguration } from '@kctl/webhook';
import { throwIfAborted } from '@kctl/wait/internal';
import type { OpenCluster } from '../cluster.js';
import { isDefinition, needsConversion } from '../manifests/definitions.js';
import type { CliIo } from '../io.js';
import { unlessMissing } from '../unless-missing.js';
import {
  injectAnnotation,
  leadsHere,
  noConversion,
  replacing,
  saveOriginals,
  tunnelOwner,
  type Place,
} from './originals.js';
import type { DevRecord } from './dev-record.js';
import type { WebhookRoute } from './webhook-route.js';

/** How long a create may take, in ms. */
const createMs = 10_000;

/** The parts of an operator that webhooks follow from. */
export type HookedOperator = Pick<OperatorGraph, 'name' | 'namespace' | 'resources' | 'webhooks'>;

/** Options for {@link pointWebhooks} and {@link pointConversions}. */
export interface Pointing {
  readonly operator: HookedOperator;
  readonly route: WebhookRoute;
  /** Of this run of `kctl dev`. */
  readonly session: string;
  readonly record: DevRecord;
}

/** Has the API server convert objects by the operator on this machine. The CRDs are there. */
export async function pointConversions(
  io: CliIo,
  { client }: OpenCluster,
  { operator, route, session, record }: Pointing,
): Promise<void> {
  const { url, caBundle } = route;
  const options = { fieldOwner: tunnelOwner, signal: io.signal };
  for (const { manifest, path } of convertedBy(operator)) {
    const key = { name: manifest.metadata.name ?? '' };
    const found = await client.get(CustomResourceDefinition, key, options);
    const { conversion } = withConversion(manifest, { address: { url }, caBundle, path }).spec;
    // A kind that this run has applied stays afterwards, and nothing converts it then.
    const { uid } = found.metadata;
    if (record.find(uid)?.session !== session) record.note(uid, { session, original: { conversion: noConversion } });
    const annotations = { [injectAnnotation]: null, ...leadsHere(session) };
    const body = { metadata: { annotations }, spec: { conversion: replacing(conversion) } };
    await client.patch(CustomResourceDefinition, key, { type: 'merge', body }, options);
    io.err(`the API server converts ${key.name} by the operator at ${url}\n`);
  }
}

/** The kinds that an operator converts, and at which path. */
function convertedBy({
  resources,
  webhooks,
}: HookedOperator): readonly { readonly manifest: DeepReadonly<CustomResourceDefinition>; readonly path: string }[] {
  const path = [...webhooks].find(([, { type }]) => type === 'conversion')?.[0];
  if (path === undefined) return [];
  return resources.flatMap(({ manifest }) =>
    isDefinition(manifest) && needsConversion(manifest) ? [{ manifest, path }] : [],
  );
}

/** The objects that are to lead to an operator on this machine. */
export function placesInUse(to: Pick<Pointing, 'operator' | 'route'>): readonly Place[] {
  return [
    ...wantedConfigurations(to).map((each) => ({ kind: kindOf(each), name: each.metadata.name ?? '' })),
    ...convertedBy(to.operator).map(({ manifest }) => ({
      kind: CustomResourceDefinition,
      name: manifest.metadata.name ?? '',
    })),
  ];
}

/** Has the API server call the webhooks of the operator on this machine. It listens already. */
export async function pointWebhooks(
  io: CliIo,
  cluster: OpenCluster,
  { operator, route, session, record }: Pointing,
): Promise<void> {
  const { client } = cluster;
  const { url } = route;
  const wanted = wantedConfigurations({ operator, route });
  for (const configuration of wanted) {
    const kind = kindOf(configuration);
    const name = configuration.metadata.name ?? '';
    const found = await unlessMissing(client.get(kind, { name }, { signal: io.signal }));
    const options = { fieldOwner: tunnelOwner, signal: io.signal };
    if (found === undefined) {
      const metadata = { ...configuration.metadata, annotations: leadsHere(session) };
      // Not ended by the signal of the command, because only a response has the uid, without which the object cannot be
      // removed.
      const toTheEnd = { ...options, signal: AbortSignal.timeout(createMs) };
      const created = await client.create(kind, { ...configuration, metadata }, toTheEnd);
      record.note(created.metadata.uid, { session, original: 'absent' });
      throwIfAborted(io.signal);
      continue;
    }
    // Made since the others were recorded.
    await saveOriginals(io, cluster, { places: [{ kind, name }], session, record });
    const body = {
      metadata: { annotations: { [injectAnnotation]: null, ...leadsHere(session) } },
      webhooks: configuration.webhooks,
    };
    await client.patch(kind, { name }, { type: 'merge', body }, options);
  }
  const count = wanted.flatMap(({ webhooks = [] }) => webhooks).length;
  if (count > 0) io.err(`the API server calls ${count === 1 ? '1 webhook' : `${count} webhooks`} at ${url}\n`);
}

/** The webhook configurations that lead to an operator on this machine. */
function wantedConfigurations({
  operator,
  route,
}: Pick<Pointing, 'operator' | 'route'>): readonly WebhookConfiguration[] {
  const { name, namespace, webhooks } = operator;
  const { url, caBundle } = route;
  return webhookConfigurations(webhooks, { name, operatorNamespace: namespace, address: { url }, caBundle });
}

function kindOf({ kind }: { readonly kind?: string }): Kind<KubeObject, 'Cluster'> {
  return kind === 'MutatingWebhookConfiguration' ? MutatingWebhookConfiguration : ValidatingWebhookConfiguration;
}
