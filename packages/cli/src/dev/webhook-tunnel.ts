import { isForbidden, type DeepReadonly, type Kind, type KubeObject } from '@kctl/apimachinery';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import type { OperatorGraph } from '@kctl/operator';
import { webhookConfigurations, withConversion } from '@kctl/webhook';
import type { OpenCluster } from '../cluster.js';
import { CliError } from '../errors.js';
import { isDefinition, needsConversion } from '../manifests/definitions.js';
import type { CliIo } from '../io.js';
import { unlessMissing } from '../unless-missing.js';
import type { WebhookRoute } from './webhook-route.js';

/** The field owner of what a tunnel writes: an apply of kctl does not take it away. */
const fieldOwner = 'kctl-dev';
/** On an object that leads to a machine of a developer: what it was before, as JSON. It is how a later start finds it. */
const originalAnnotation = 'kctl.dev/before-dev';
/** Of cert-manager: it would write the authority of the deployed copy. */
const injectAnnotation = 'cert-manager.io/inject-ca-from';

const noConversion = { strategy: 'None' };

/** What an object was before it led here; `absent` is one that was not there. */
type Original = 'absent' | { readonly inject?: string; readonly webhooks?: unknown; readonly conversion?: unknown };

/** What {@link pointWebhooks} and {@link pointConversions} work with. */
export interface Pointing {
  readonly graph: OperatorGraph;
  readonly route: WebhookRoute;
}

/**
 * Notes on each object that is to lead here what it is now, before anything of it changes: a crash at any later moment
 * loses nothing.
 */
export async function saveOriginals(io: CliIo, { client }: OpenCluster, graph: OperatorGraph): Promise<void> {
  const options = { fieldOwner, signal: io.signal };
  for (const { kind, name } of placesOf(graph)) {
    const found = await unlessMissing(client.get(kind, { name }, options));
    if (found === undefined || originalOf(found) !== undefined) continue;
    const inject = found.metadata.annotations?.[injectAnnotation];
    const original: Original = {
      ...(inject === undefined ? {} : { inject }),
      ...(kind === CustomResourceDefinition
        ? { conversion: field(field(found, 'spec'), 'conversion') ?? noConversion }
        : { webhooks: field(found, 'webhooks') ?? [] }),
    };
    const annotations = { [originalAnnotation]: JSON.stringify(original) };
    await client.patch(kind, { name }, { type: 'merge', body: { metadata: { annotations } } }, options);
  }
}

/** Has the API server convert objects by the operator on this machine. The CRDs are there. */
export async function pointConversions(io: CliIo, { client }: OpenCluster, { graph, route }: Pointing): Promise<void> {
  const path = [...graph.webhooks].find(([, { type }]) => type === 'conversion')?.[0];
  if (path === undefined) return;
  const { url, caBundle } = route;
  const options = { fieldOwner, signal: io.signal };
  for (const { manifest } of graph.resources) {
    if (!isDefinition(manifest) || !needsConversion(manifest)) continue;
    const key = { name: manifest.metadata.name ?? '' };
    const found = await client.get(CustomResourceDefinition, key, options);
    const { conversion } = withConversion(manifest, { address: { url }, caBundle, path }).spec;
    // A kind that was not there stays afterwards, and nothing converts it then.
    const noted =
      originalOf(found) === undefined ? { [originalAnnotation]: JSON.stringify({ conversion: noConversion }) } : {};
    const annotations = { [injectAnnotation]: null, ...noted };
    const body = { metadata: { annotations }, spec: { conversion: replacing(conversion) } };
    await client.patch(CustomResourceDefinition, key, { type: 'merge', body }, options);
    io.err(`the API server converts ${key.name} by the operator at ${url}\n`);
  }
}

/** Has the API server call the webhooks of the operator on this machine. It listens already. */
export async function pointWebhooks(io: CliIo, { client }: OpenCluster, { graph, route }: Pointing): Promise<void> {
  const { url, caBundle } = route;
  const wanted = webhookConfigurations(graph.webhooks, {
    name: graph.name,
    operatorNamespace: graph.namespace,
    address: { url },
    caBundle,
  });
  for (const configuration of wanted) {
    const kind = kindOf(configuration);
    const name = configuration.metadata.name ?? '';
    const found = await unlessMissing(client.get(kind, { name }, { signal: io.signal }));
    const options = { fieldOwner, signal: io.signal };
    if (found === undefined) {
      const annotations = { [originalAnnotation]: JSON.stringify('absent' satisfies Original) };
      await client.create(kind, { ...configuration, metadata: { ...configuration.metadata, annotations } }, options);
      continue;
    }
    const body = {
      metadata: { annotations: { [injectAnnotation]: null } },
      webhooks: configuration.webhooks,
    };
    await client.patch(kind, { name }, { type: 'merge', body }, options);
  }
  const count = wanted.flatMap(({ webhooks = [] }) => webhooks).length;
  if (count > 0) io.err(`the API server calls ${count === 1 ? '1 webhook' : `${count} webhooks`} at ${url}\n`);
}

/**
 * Makes everything what it was before an operator on a machine was called, also what an earlier run left when it was
 * killed. Objects that never led to one are not touched.
 */
export async function restoreOriginals(
  io: Pick<CliIo, 'err'>,
  { client }: OpenCluster,
  graph: OperatorGraph,
  signal?: AbortSignal,
): Promise<void> {
  const options = { fieldOwner, ...(signal === undefined ? {} : { signal }) };
  for (const { kind, name } of placesOf(graph)) {
    const found = await unlessMissing(client.get(kind, { name }, options)).catch((error: unknown) => {
      // A person who may not read it has not changed it.
      if (isForbidden(error)) return undefined;
      throw error;
    });
    const original = found === undefined ? undefined : originalOf(found);
    if (original === undefined) continue;
    if (original === 'absent') await client.delete(kind, { name }, options);
    else {
      const annotations = { [originalAnnotation]: null, [injectAnnotation]: original.inject ?? null };
      const before =
        kind === CustomResourceDefinition
          ? { spec: { conversion: replacing(original.conversion) } }
          : { webhooks: original.webhooks };
      await client.patch(kind, { name }, { type: 'merge', body: { metadata: { annotations }, ...before } }, options);
    }
    io.err(`restored ${kind.kind.toLowerCase()}/${name}: it does not lead to this machine now\n`);
  }
}

interface Place {
  readonly kind: Kind<KubeObject, 'Cluster'>;
  readonly name: string;
}

/** The objects that may lead to a machine, also by an earlier state of the code. */
function placesOf({ name, resources }: OperatorGraph): readonly Place[] {
  return [
    { kind: MutatingWebhookConfiguration, name: `${name}-mutating` },
    { kind: ValidatingWebhookConfiguration, name: `${name}-validating` },
    ...resources.map(({ manifest }) => ({ kind: CustomResourceDefinition, name: manifest.metadata.name ?? '' })),
  ];
}

function kindOf({ kind }: { readonly kind?: string }): Kind<KubeObject, 'Cluster'> {
  return kind === 'MutatingWebhookConfiguration' ? MutatingWebhookConfiguration : ValidatingWebhookConfiguration;
}

/** A conversion as a merge patch: of that which was there, nothing stays. */
function replacing(conversion: unknown): object {
  const webhook = field(conversion, 'webhook');
  if (typeof webhook !== 'object' || webhook === null) return { ...noConversion, webhook: null };
  const clientConfig = {
    url: null,
    service: null,
    caBundle: null,
    ...Object(field(webhook, 'clientConfig')),
  } as object;
  return { strategy: 'Webhook', webhook: { ...webhook, clientConfig } };
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** @throws CliError where it has been edited */
function originalOf({ kind, metadata }: DeepReadonly<KubeObject>): Original | undefined {
  const text = metadata.annotations?.[originalAnnotation];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (value === 'absent') return value;
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // As below.
  }
  throw new CliError(
    `the annotation ${originalAnnotation} of ${kind ?? 'object'} ${metadata.name ?? ''} is not what kctl dev wrote: delete it, and apply the object by kctl deploy`,
  );
}
