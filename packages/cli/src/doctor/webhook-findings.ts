import { X509Certificate } from 'node:crypto';
import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  type WebhookClientConfig,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { Service } from '@kctl/apimachinery/kinds/core/v1';
import { EndpointSlice } from '@kctl/apimachinery/kinds/discovery.k8s.io/v1';
import type { OperatorGraph } from '@kctl/operator';
import { systemClock } from '@kctl/wait';
import { webhookConfigurations } from '@kctl/webhook';
import type { OpenCluster } from '../cluster.js';
import { leadsToMachine } from '../dev/originals.js';
import type { CliIo } from '../io.js';
import { definitionsOf, isDefinition, webhookServiceOf } from '../manifests/definitions.js';
import { findStaleWebhooks } from '../stale-webhooks.js';
import { unlessMissing } from '../unless-missing.js';
import type { Finding } from './finding.js';
import { ownCommand } from '../own-command.js';

const check = 'webhook';

/** A webhook as the cluster has it, and what its failure means. */
interface Installed {
  readonly what: string;
  readonly clientConfig: DeepReadonly<WebhookClientConfig>;
  readonly outcome: string;
}

/**
 * Checks whether the API server can call the webhooks of the operator, which must be registered, trusted, and have a
 * Service with a replica.
 */
export async function webhookFindings(io: CliIo, cluster: OpenCluster, graph: OperatorGraph): Promise<Finding[]> {
  const findings: Finding[] = [];
  const installed: Installed[] = [...(await conversions(io, cluster, graph))];
  const wanted = webhookConfigurations(graph.webhooks, {
    name: graph.name,
    address: { service: webhookServiceOf(graph) },
  });
  for (const { metadata } of await findStaleWebhooks(io, cluster, { graph, wanted })) {
    const message = `${metadata.name} is of an earlier version, and the code has no such webhooks: writes may be refused: run ${ownCommand('deploy')}`;
    findings.push({ check, status: 'problem', message });
  }
  for (const expected of wanted) {
    const { name = '' } = expected.metadata;
    const kind =
      expected.kind === 'MutatingWebhookConfiguration' ? MutatingWebhookConfiguration : ValidatingWebhookConfiguration;
    const found = await unlessMissing(cluster.client.get(kind, { name }, { signal: io.signal }));
    if (found === undefined) {
      const message = `${name} is not there: writes pass without its webhooks until ${ownCommand('deploy')} applies it`;
      findings.push({ check, status: 'warning', message });
      continue;
    }
    findings.push(...machineFindings(name, found, found.webhooks?.[0]?.clientConfig.url));
    for (const { name: webhook, failurePolicy: wanted = 'Fail' } of expected.webhooks ?? []) {
      const there = found.webhooks?.find((each) => each.name === webhook);
      if (there === undefined) {
        const message = `${webhook} is not registered: writes pass without it: run ${ownCommand('deploy')}`;
        findings.push({ check, status: 'problem', message });
        continue;
      }
      const { clientConfig, failurePolicy = 'Fail' } = there;
      const outcome = failurePolicy === 'Fail' ? 'writes that it judges are refused' : 'writes pass without it';
      installed.push({ what: webhook, clientConfig, outcome });
      if (failurePolicy !== wanted)
        findings.push({
          check,
          status: 'warning',
          message: `${webhook} has failurePolicy ${failurePolicy}, and the code says ${wanted}: run ${ownCommand('deploy')}`,
        });
    }
  }
  for (const each of installed) findings.push(...(await reach(io, cluster, each)));
  if (findings.length === 0 && installed.length > 0)
    findings.push({
      check,
      status: 'ok',
      message: installed.length === 1 ? '1 webhook can be called' : `${installed.length} webhooks can be called`,
    });
  return findings;
}

async function conversions({ signal }: CliIo, { client }: OpenCluster, graph: OperatorGraph): Promise<Installed[]> {
  const found: Installed[] = [];
  for (const manifest of definitionsOf(graph)) {
    if (!isDefinition(manifest) || manifest.spec.conversion?.strategy !== 'Webhook') continue;
    const name = manifest.metadata.name ?? '';
    const crd = await unlessMissing(client.get(CustomResourceDefinition, { name }, { signal }));
    const clientConfig = crd?.spec.conversion?.webhook?.clientConfig;
    if (clientConfig === undefined) continue; // the check of the CRD says that it differs, or is missing
    found.push({
      what: `the conversion of ${name}`,
      clientConfig,
      outcome: 'objects in other versions cannot be read',
    });
  }
  return found;
}

/** Whether an object leads to the machine of a person, by a kctl dev that runs or was killed together with its guardian. */
function machineFindings(what: string, found: DeepReadonly<KubeObject>, url: string | undefined): Finding[] {
  if (!leadsToMachine(found)) return [];
  const where = url === undefined ? 'a machine' : new URL(url).origin;
  const message = `${what} leads to ${where} by kctl dev: where that no longer runs, ${ownCommand('deploy')} restores it`;
  return [{ check, status: 'warning', message }];
}

/** Reasons why the API server cannot call a webhook. */
async function reach(
  { signal }: CliIo,
  { client }: OpenCluster,
  { what, clientConfig, outcome }: Installed,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const problem = (cause: string, remedy: string): void => {
    findings.push({ check, status: 'problem', message: `${what} ${cause}: ${outcome}: ${remedy}` });
  };
  const trust = trustProblem(clientConfig.caBundle);
  if (trust !== undefined) problem(...trust);
  const { service } = clientConfig;
  if (service === undefined) return findings;
  const { namespace, name } = service;
  const where = `the Service ${name} in ${namespace}`;
  const found = await unlessMissing(client.get(Service, { namespace, name }, { signal }));
  if (found === undefined) {
    problem(`leads to ${where}, which does not exist`, `run ${ownCommand('deploy')}`);
    return findings;
  }
  const { port = 443 } = service;
  if (found.spec?.ports?.some((each) => each.port === port) !== true)
    problem(`leads to port ${port} of ${where}, which has no such port`, `run ${ownCommand('deploy')}`);
  const slices = await client.list(EndpointSlice, {
    namespace,
    labelSelector: `kubernetes.io/service-name=${name}`,
    signal,
  });
  const isReady = slices.items.some(({ endpoints }) =>
    endpoints?.some(({ conditions }) => conditions?.ready !== false),
  );
  if (!isReady) problem(`leads to ${where}, which has no ready pod`, `see kubectl get pods --namespace ${namespace}`);
  return findings;
}

/** Why the API server does not trust the certificate of a webhook, and what to do. */
function trustProblem(caBundle: string | undefined): readonly [cause: string, remedy: string] | undefined {
  if (caBundle === undefined || caBundle === '')
    return ['has no caBundle', "is cert-manager's cainjector running, and is its Certificate ready?"];
  const pem = Buffer.from(caBundle, 'base64').toString();
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  const again = 'delete it, so that its injector writes it again';
  try {
    const ends = certificates.map((certificate) => Date.parse(new X509Certificate(certificate).validTo));
    if (ends.length === 0) return ['has a caBundle without a certificate', again];
    if (Math.max(...ends) > systemClock.now()) return undefined;
    return ['has a caBundle that has expired', 'is the injector that renews it running?'];
  } catch {
    return ['has a caBundle that cannot be read', again];
  }
}
