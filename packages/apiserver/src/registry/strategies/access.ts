import {
  at,
  dns1123Subdomain,
  equalSemantic,
  invalidValue,
  isObject,
  notSupportedText,
  objectsOf,
  pathSegment,
  required,
  stringOf,
  stringsOf,
  type FieldError,
} from '@kctl/crd/internal/engine';
import { validateMutatingPolicy, validatePolicyBinding, validateValidatingPolicy } from './admission-policies.js';
import type { KindStrategy } from '../kind-strategy.js';
import { validateLabelSelector } from '../../resource/label-selector.js';
import { validateWebhookConfiguration } from './webhook-configurations.js';

const rbac = 'rbac.authorization.k8s.io';

const validateRules =
  (isNamespaced: boolean) =>
  (object: Record<string, unknown>): FieldError[] => [
    ...objectsOf(object['rules']).flatMap((rule, index) => validateRule(rule, `rules[${index}]`, isNamespaced)),
    ...validateAggregation(object['aggregationRule']),
  ];

function validateAggregation(rule: unknown): FieldError[] {
  if (!isObject(rule)) return [];
  const field = 'aggregationRule.clusterRoleSelectors';
  const selectors = objectsOf(rule['clusterRoleSelectors']);
  if (selectors.length === 0)
    return [required(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  return selectors.flatMap((selector, index) => {
    const errors = validateLabelSelector(selector, `${field}[${index}]`);
    return errors.length === 0 ? [] : [...errors, invalidValue(`${field}[${index}]`, null, 'invalid label selector.')];
  });
}

function validateRule(rule: Record<string, unknown>, field: string, isNamespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (stringsOf(rule['verbs']).length === 0) {
    errors.push(required(`${field}.verbs`, 'verbs must contain at least one value'));
  }
  const urls = stringsOf(rule['nonResourceURLs']);
  if (urls.length > 0) {
    const refuse = (why: string): void => void errors.push(invalidValue(`${field}.nonResourceURLs`, urls, why));
    if (isNamespaced) refuse('namespaced rules cannot apply to non-resource URLs');
    if (['apiGroups', 'resources', 'resourceNames'].some((name) => stringsOf(rule[name]).length > 0))
      refuse('rules cannot apply to both regular resources and non-resource URLs');
    return errors;
  }
  if (stringsOf(rule['apiGroups']).length === 0) {
    errors.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'));
  }
  if (stringsOf(rule['resources']).length === 0) {
    errors.push(required(`${field}.resources`, 'resource rules must supply at least one resource'));
  }
  return errors;
}

function validateSubject(subject: Record<string, unknown>, field: string, isNamespaced: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const name = stringOf(subject['name']);
  const kind = stringOf(subject['kind']);
  const group = stringOf(subject['apiGroup']);
  if (name === '') errors.push(required(`${field}.name`));
  if (kind === 'ServiceAccount') {
    if (name !== '')
      for (const message of dns1123Subdomain(name)) errors.push(invalidValue(`${field}.name`, name, message));
    if (group !== '') errors.push(notSupportedText(`${field}.apiGroup`, group, ['']));
    if (!isNamespaced && stringOf(subject['namespace']) === '') errors.push(required(`${field}.namespace`));
  } else if (kind === 'User' || kind === 'Group') {
    if (group !== rbac) errors.push(notSupportedText(`${field}.apiGroup`, group, [rbac]));
  } else {
    errors.push(notSupportedText(`${field}.kind`, kind, ['ServiceAccount', 'User', 'Group']));
  }
  return errors;
}

function validateBinding(isNamespaced: boolean): (object: Record<string, unknown>) => FieldError[] {
  const kinds = isNamespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  return (object) => {
    const errors: FieldError[] = [];
    const group = stringOf(at(object, 'roleRef', 'apiGroup'));
    const kind = stringOf(at(object, 'roleRef', 'kind'));
    const name = stringOf(at(object, 'roleRef', 'name'));
    if (group !== rbac) errors.push(notSupportedText('roleRef.apiGroup', group, [rbac]));
    if (!kinds.includes(kind)) errors.push(notSupportedText('roleRef.kind', kind, kinds));
    if (name === '') errors.push(required('roleRef.name'));
    else for (const message of pathSegment(name)) errors.push(invalidValue('roleRef.name', name, message));
    for (const [index, subject] of objectsOf(object['subjects']).entries()) {
      errors.push(...validateSubject(subject, `subjects[${index}]`, isNamespaced));
    }
    return errors;
  };
}

function validateRoleRefChange(object: Record<string, unknown>, old: Record<string, unknown>): FieldError[] {
  if (equalSemantic(object['roleRef'], old['roleRef'])) return [];
  // The internal form, as upstream prints it.
  const part = (name: string): string => stringOf(at(object, 'roleRef', name));
  const internal = { APIGroup: part('apiGroup'), Kind: part('kind'), Name: part('name') };
  return [invalidValue('roleRef', internal, 'cannot change roleRef')];
}

const common: KindStrategy = { nameRule: pathSegment, allowCreateOnUpdate: true };

const admissionPolicy: KindStrategy = {
  generation: 'spec',
  allowUnconditionalUpdate: false,
};

const webhookConfiguration: KindStrategy = {
  generation: 'content',
  allowUnconditionalUpdate: false,
  validate: validateWebhookConfiguration,
};

/** RBAC and admission. */
export const accessStrategies: Readonly<Record<string, KindStrategy>> = {
  [`${rbac}/Role`]: { ...common, validate: validateRules(true) },
  [`${rbac}/ClusterRole`]: { ...common, validate: validateRules(false) },
  [`${rbac}/RoleBinding`]: { ...common, validate: validateBinding(true), validateChange: validateRoleRefChange },
  [`${rbac}/ClusterRoleBinding`]: {
    ...common,
    validate: validateBinding(false),
    validateChange: validateRoleRefChange,
  },
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': webhookConfiguration,
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': webhookConfiguration,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': { ...admissionPolicy, validate: validateValidatingPolicy },
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': { ...admissionPolicy, validate: validateMutatingPolicy },
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': {
    ...admissionPolicy,
    validate: (object) => validatePolicyBinding(object, false),
  },
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': {
    ...admissionPolicy,
    validate: (object) => validatePolicyBinding(object, true),
  },
};
