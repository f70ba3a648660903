import { isNotFound } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { SelfSubjectAccessReview, SubjectAccessReview } from '@kctl/apimachinery/kinds/authorization.k8s.io/v1';
import { diffCrd } from '@kctl/crd';
import type { OperatorGraph } from '@kctl/operator';
import { formatResource, type AccessNeed } from '@kctl/rbac';
import { messageOf } from '@kctl/telemetry';
import { openClient, type ClusterOptions, type OpenCluster } from '../cluster.js';
import { explain } from '../errors.js';
import type { CliIo } from '../io.js';
import { loadOperator, readProject } from '../project.js';
import { compareVersions, minimumNode } from '../node-version.js';

/** Options of {@link doctor}. */
export interface DoctorOptions extends ClusterOptions {
  readonly main?: string;
  /** Judges the rights of the operator's service account, not those of the user. @default false */
  readonly asOperator?: boolean;
}

/** One thing that was looked at. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warning' | 'problem';
  /** What is so, and what to do about it. */
  readonly message: string;
}

/** Looks at everything that an operator needs: Node, the project, the cluster, its kinds, its rights. */
export async function doctor(io: CliIo, options: DoctorOptions): Promise<readonly Finding[]> {
  const findings: Finding[] = [nodeFinding(process.versions.node)];
  let graph: OperatorGraph;
  try {
    graph = await (await loadOperator(readProject(io.cwd, options))).graph();
    findings.push({ check: 'operator', status: 'ok', message: `${graph.name} can be loaded` });
  } catch (error) {
    return [...findings, { check: 'operator', status: 'problem', message: explain(error) }];
  }
  try {
    await using cluster = await openClient(io, options);
    findings.push({
      check: 'cluster',
      status: 'ok',
      message: `${cluster.client.transport.server} ${await versionOf(cluster)}`,
    });
    findings.push(...(await crdFindings(io, cluster, graph)));
    findings.push(...(await rightFindings(io, cluster, graph, options.asOperator === true)));
  } catch (error) {
    findings.push({ check: 'cluster', status: 'problem', message: explain(error) });
  }
  return findings;
}

/** Findings as lines. */
export function formatFindings(findings: readonly Finding[]): string {
  return findings.map(({ check, status, message }) => `${status.padEnd(8)} ${check.padEnd(10)} ${message}\n`).join('');
}

function nodeFinding(version: string): Finding {
  if (compareVersions(version, minimumNode) >= 0) return { check: 'node', status: 'ok', message: version };
  return { check: 'node', status: 'problem', message: `Node ${version} is too old: install ${minimumNode} or newer` };
}

async function versionOf({ client }: OpenCluster): Promise<string> {
  const response = await client.transport.send({ method: 'GET', path: '/version' });
  const chunks: Buffer[] = [];
  for await (const part of response.body) chunks.push(...part);
  const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString() || '{}');
  return typeof parsed === 'object' && parsed !== null && 'gitVersion' in parsed ? String(parsed.gitVersion) : '';
}

async function crdFindings(io: CliIo, { client }: OpenCluster, { resources }: OperatorGraph): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { kind, manifest } of resources) {
    const name = manifest.metadata.name ?? '';
    const check = 'crd';
    try {
      const found = await client.get(CustomResourceDefinition, { name }, { signal: io.signal });
      const installed = { ...found, apiVersion: CustomResourceDefinition.apiVersion, kind: 'CustomResourceDefinition' };
      const { changes, verdict } = diffCrd(installed, manifest);
      if (changes.length === 0) findings.push({ check, status: 'ok', message: `${name} is what the code says` });
      else
        findings.push({
          check,
          status: verdict === 'compatible' ? 'warning' : 'problem',
          message: `${name} differs from the code (${verdict}, ${changes.length} changes): run kctl install`,
        });
    } catch (error) {
      findings.push({
        check,
        status: 'problem',
        message: isNotFound(error)
          ? `the kind ${kind} (${name}) is not installed: run kctl install`
          : `${name} cannot be read: ${messageOf(error)}`,
      });
    }
  }
  return findings;
}

async function rightFindings(
  io: CliIo,
  cluster: OpenCluster,
  { name, namespace, accessNeeds }: OperatorGraph,
  asOperator: boolean,
): Promise<Finding[]> {
  const user = `system:serviceaccount:${namespace}:${name}`;
  const findings: Finding[] = [];
  const asked = new Set<string>();
  for (const need of accessNeeds)
    for (const attributes of questionsOf(need)) {
      const id = JSON.stringify(attributes);
      if (asked.has(id)) continue;
      asked.add(id);
      if (await isAllowed(io, cluster, attributes, asOperator ? user : undefined)) continue;
      const where = attributes.namespace === undefined ? '' : ` in ${attributes.namespace}`;
      findings.push({
        check: 'rights',
        status: 'problem',
        message: `${asOperator ? user : 'you'} may not ${attributes.verb} ${formatResource(need)}${where}, which ${need.reason} needs: apply what kctl generate rbac writes`,
      });
    }
  if (findings.length > 0) return findings;
  return [
    {
      check: 'rights',
      status: 'ok',
      message: `${asked.size} rights are there${asOperator ? '' : '; --as-operator asks for those of the service account'}`,
    },
  ];
}

interface Attributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

function questionsOf({
  group,
  resource: whole,
  verbs,
  namespaces = [undefined],
  names = [undefined],
}: {
  readonly group: AccessNeed['group'];
  readonly resource: AccessNeed['resource'];
  readonly verbs: AccessNeed['verbs'];
  readonly namespaces?: readonly (string | undefined)[];
  readonly names?: readonly (string | undefined)[];
}): Attributes[] {
  const [resource = '', subresource] = whole.split('/');
  return verbs.flatMap((verb) =>
    namespaces.flatMap((namespace) =>
      names.map((name) => ({
        verb,
        group,
        resource,
        ...(subresource === undefined ? {} : { subresource }),
        ...(namespace === undefined ? {} : { namespace }),
        ...(name === undefined ? {} : { name }),
      })),
    ),
  );
}

async function isAllowed(
  { signal }: CliIo,
  { client }: OpenCluster,
  resourceAttributes: Attributes,
  user: string | undefined,
): Promise<boolean> {
  if (user === undefined) {
    const { status } = await client.create(
      SelfSubjectAccessReview,
      { metadata: {}, spec: { resourceAttributes } },
      { signal },
    );
    return status?.allowed === true;
  }
  const [, , namespace = ''] = user.split(':');
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  const { status } = await client.create(
    SubjectAccessReview,
    { metadata: {}, spec: { user, groups, resourceAttributes } },
    { signal },
  );
  return status?.allowed === true;
}
