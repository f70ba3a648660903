import { SelfSubjectAccessReview, SubjectAccessReview } from '@kctl/apimachinery/kinds/authorization.k8s.io/v1';
import type { OperatorGraph } from '@kctl/operator';
import { type AccessNeed } from '@kctl/rbac';
import { formatResource } from '@kctl/rbac/internal';
import type { OpenCluster } from '../cluster.js';
import type { CliIo } from '../io.js';
import type { Finding } from './finding.js';
import { ownCommand } from '../own-command.js';

/** Whether the rights that the operator declares are there; each that is missing with the rule to add. */
export async function rightFindings(
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
        message: `${asOperator ? user : 'you'} may not ${attributes.verb} ${formatResource(need)}${where}, which ${need.reason} needs: apply what ${ownCommand('generate rbac')} writes, or add ${ruleOf(attributes)}`,
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

/** The rule of a role that grants it, as YAML writes it on one line. */
function ruleOf({ group, resource, subresource, verb, name }: Attributes): string {
  const rule = {
    apiGroups: [group],
    resources: [subresource === undefined ? resource : `${resource}/${subresource}`],
    ...(name === undefined ? {} : { resourceNames: [name] }),
    verbs: [verb],
  };
  return `{ ${Object.entries(rule)
    .map(([field, value]) => `${field}: ${JSON.stringify(value)}`)
    .join(', ')} }`;
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
