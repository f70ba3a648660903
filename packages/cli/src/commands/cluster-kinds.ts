import { throwIfAborted } from '@kctl/wait/internal';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { APIService } from '@kctl/apimachinery/kinds/apiregistration.k8s.io/v1';
import { formatApiVersion } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry/internal';
import { openClient, type ClusterOptions, type OpenCluster } from '../cluster.js';
import type { CliIo } from '../io.js';
import type { ServedResource } from '@kctl/crd';

/** Sources of kinds, which are definitions and OpenAPI documents, and the discovery of the latter. */
export interface KindSources {
  readonly definitions: readonly object[];
  readonly resources?: readonly ServedResource[];
}

/**
 * Returns what a cluster serves besides the built-in kinds, which are its definitions, and the OpenAPI documents of
 * aggregated APIs, which have no definitions. An aggregated API that does not respond is reported on standard error and
 * left out.
 */
export async function clusterKinds(io: CliIo, options: ClusterOptions): Promise<KindSources> {
  await using cluster = await openClient(io, options);
  const { signal } = io;
  const { items } = await cluster.client.list(CustomResourceDefinition, { signal });
  const definitions: object[] = items.map((item) => ({
    ...item,
    apiVersion: CustomResourceDefinition.apiVersion,
    kind: 'CustomResourceDefinition',
  }));
  const aggregated = await aggregatedVersions(cluster, signal);
  if (aggregated.length === 0) return { definitions };
  for (const apiVersion of aggregated) {
    try {
      definitions.push(await openApiOf(cluster, apiVersion, signal));
    } catch (error) {
      throwIfAborted(signal);
      io.err(`kctl: the kinds of ${apiVersion} are left out: ${messageOf(error)}\n`);
    }
  }
  const resources = await cluster.mapper.resources({ signal });
  return {
    definitions,
    resources: resources.filter(({ group, version }) => aggregated.includes(formatApiVersion(group, version))),
  };
}

/** The group versions that other servers serve, in order. */
async function aggregatedVersions({ client }: OpenCluster, signal: AbortSignal): Promise<readonly string[]> {
  const { items } = await client.list(APIService, { signal });
  return items
    .flatMap(({ spec }) =>
      spec?.service === undefined ? [] : [formatApiVersion(spec.group ?? '', spec.version ?? '')],
    )
    .sort();
}

/** Limits of one document that is served by another server than the API server, in bytes and in ms. */
const maxDocumentBytes = 64 * 1024 * 1024;
const documentMs = 60_000;

async function openApiOf({ client }: OpenCluster, apiVersion: string, signal: AbortSignal): Promise<object> {
  const path = `/openapi/v3/apis/${apiVersion}`;
  const { status, body } = await client.transport.send({
    method: 'GET',
    path,
    accept: 'application/json',
    maxRetries: 0, // the server of one API may be gone for days
    signal: AbortSignal.any([signal, AbortSignal.timeout(documentMs)]),
  });
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const some of body) {
    for (const chunk of some) length += chunk.length;
    if (length > maxDocumentBytes) throw new Error(`GET ${path} answers with more than ${maxDocumentBytes} bytes`);
    chunks.push(...some);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (status !== 200) throw new Error(`GET ${path} answers ${status}: ${text.trim().slice(0, 200)}`);
  const document: unknown = JSON.parse(text);
  if (typeof document === 'object' && document !== null) return document;
  throw new Error(`GET ${path} answers with ${JSON.stringify(document)}`);
}
