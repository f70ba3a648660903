import type { UntypedObject } from '@kctl/apimachinery';
import { at, numberOf, objectsOf, stringOf } from '@kctl/crd/internal/engine';
import { ageColumn, integer, nameColumn, orElse, text, wide, type PrintedColumn } from './column.js';
import { humanDuration } from './duration.js';

function subjects(kind: string): PrintedColumn['cell'] {
  return (object) =>
    objectsOf(object['subjects'])
      .filter((subject) => subject['kind'] === kind)
      .map((subject) => {
        const namespace = stringOf(subject['namespace']);
        return kind === 'ServiceAccount' && namespace !== ''
          ? `${namespace}/${stringOf(subject['name'])}`
          : stringOf(subject['name']);
      })
      .join(', ');
}

function binding(of: string): readonly PrintedColumn[] {
  return [
    nameColumn,
    text('Role', (object) => `${stringOf(at(object, 'roleRef', 'kind'))}/${stringOf(at(object, 'roleRef', 'name'))}`),
    ageColumn,
    wide(text('Users', subjects('User'), `Users in the ${of}`)),
    wide(text('Groups', subjects('Group'), `Groups in the ${of}`)),
    wide(text('ServiceAccounts', subjects('ServiceAccount'), `ServiceAccounts in the ${of}`)),
  ];
}

const webhooks: readonly PrintedColumn[] = [
  nameColumn,
  integer(
    'Webhooks',
    (object) => objectsOf(object['webhooks']).length,
    'Webhooks indicates the number of webhooks registered in this configuration',
  ),
  ageColumn,
];

function policy(rules: string, column: string, description: string): readonly PrintedColumn[] {
  return [
    nameColumn,
    integer(column, (object) => objectsOf(at(object, 'spec', rules)).length, description),
    text(
      'ParamKind',
      (object) => {
        const kind = at(object, 'spec', 'paramKind');
        return kind === undefined ? '<unset>' : `${stringOf(at(kind, 'apiVersion'))}/${stringOf(at(kind, 'kind'))}`;
      },
      'ParamKind specifies the kind of resources used to parameterize this policy',
    ),
    ageColumn,
  ];
}

const policyBinding: readonly PrintedColumn[] = [
  nameColumn,
  text(
    'PolicyName',
    (object) => stringOf(at(object, 'spec', 'policyName')),
    'PolicyName indicates the policy definition which the policy binding binded to',
  ),
  text(
    'ParamRef',
    (object) => {
      const reference = at(object, 'spec', 'paramRef');
      if (reference === undefined) return '<unset>';
      const namespace = stringOf(at(reference, 'namespace'));
      const name = orElse(at(reference, 'name'), '*');
      return namespace === '' ? name : `${namespace}/${name}`;
    },
    'ParamRef indicates the param resource which sets the configuration param',
  ),
  ageColumn,
];

function signingStatus(object: UntypedObject): string {
  const conditions = objectsOf(at(object, 'status', 'conditions')).map((each) => each['type']);
  const verdict = conditions.includes('Denied') ? 'Denied' : conditions.includes('Approved') ? 'Approved' : 'Pending';
  const failed = conditions.includes('Failed') ? ',Failed' : '';
  const issued = stringOf(at(object, 'status', 'certificate')) === '' ? '' : ',Issued';
  return verdict + failed + issued;
}

const admission = 'admissionregistration.k8s.io';

/** Columns of RBAC, admission and certificates. */
export const accessColumns: Readonly<Record<string, readonly PrintedColumn[]>> = {
  'rbac.authorization.k8s.io/RoleBinding': binding('roleBinding'),
  'rbac.authorization.k8s.io/ClusterRoleBinding': binding('clusterRoleBinding'),
  [`${admission}/MutatingWebhookConfiguration`]: webhooks,
  [`${admission}/ValidatingWebhookConfiguration`]: webhooks,
  [`${admission}/ValidatingAdmissionPolicy`]: policy(
    'validations',
    'Validations',
    'Validations indicates the number of validation rules defined in this configuration',
  ),
  [`${admission}/MutatingAdmissionPolicy`]: policy(
    'mutations',
    'Mutations',
    'Mutation indicates the number of mutations rules defined in this configuration',
  ),
  [`${admission}/ValidatingAdmissionPolicyBinding`]: policyBinding,
  [`${admission}/MutatingAdmissionPolicyBinding`]: policyBinding,
  'certificates.k8s.io/CertificateSigningRequest': [
    nameColumn,
    ageColumn,
    text('SignerName', (object) => orElse(at(object, 'spec', 'signerName'))),
    text('Requestor', (object) => stringOf(at(object, 'spec', 'username'))),
    text('RequestedDuration', (object) => {
      const seconds = numberOf(at(object, 'spec', 'expirationSeconds'));
      return seconds === undefined ? '<none>' : humanDuration(seconds * 1000);
    }),
    text('Condition', signingStatus),
  ],
};
