import {
  dns1035Label,
  dns1123Subdomain,
  duplicate,
  invalidValue,
  notSupported,
  numberOf,
  objectsOf,
  required,
  stringOf,
  stringsOf,
  validateWebhookAddress,
  type FieldError,
  type JsonObject,
} from '@kctl/crd/internal/engine';
import { validateConditions } from '../../expressions/match-conditions.js';
import { validateLabelSelector } from '../../resource/label-selector.js';
import { validateAdmissionRules } from './admission-rules.js';

/** Mirrors `IsFullyQualifiedName`. */
function validateName(name: string, field: string): FieldError[] {
  if (name === '') return [required(field)];
  const problems = dns1123Subdomain(name);
  if (problems.length > 0) return [invalidValue(field, name, problems.join(','))];
  return name.split('.').length < 3
    ? [invalidValue(field, name, 'should be a domain with at least three segments separated by dots')]
    : [];
}

function validateVersions(versions: readonly string[], field: string): FieldError[] {
  if (versions.length === 0) return [required(field, 'must specify one of v1, v1beta1')];
  const errors = versions.flatMap((version, index) => {
    const at = `${field}[${index}]`;
    if (versions.indexOf(version) < index) return [invalidValue(at, version, 'duplicate version')];
    return dns1035Label(version).map((why) => invalidValue(at, version, why));
  });
  if (!versions.some((version) => version === 'v1' || version === 'v1beta1'))
    errors.push(invalidValue(field, versions, 'must include at least one of v1, v1beta1'));
  return errors;
}

function oneOf(value: unknown, supported: readonly string[], field: string): FieldError[] {
  const text = stringOf(value);
  return value === undefined || value === null || supported.includes(text)
    ? []
    : [notSupported(field, text, supported)];
}

function validateSideEffects(value: unknown, field: string): FieldError[] {
  const supported = ['None', 'NoneOnDryRun'];
  return value === undefined || value === null
    ? [required(field, 'must specify one of None, NoneOnDryRun')]
    : oneOf(value, supported, field);
}

function validateWebhook(webhook: JsonObject, field: string): FieldError[] {
  const timeout = numberOf(webhook['timeoutSeconds']);
  return [
    ...validateName(stringOf(webhook['name']), `${field}.name`),
    ...validateAdmissionRules(webhook['rules'], `${field}.rules`),
    ...oneOf(webhook['failurePolicy'], ['Fail', 'Ignore'], `${field}.failurePolicy`),
    ...oneOf(webhook['matchPolicy'], ['Equivalent', 'Exact'], `${field}.matchPolicy`),
    ...validateSideEffects(webhook['sideEffects'], `${field}.sideEffects`),
    ...(timeout !== undefined && (timeout < 1 || timeout > 30)
      ? [invalidValue(`${field}.timeoutSeconds`, timeout, 'the timeout value must be between 1 and 30 seconds')]
      : []),
    ...validateLabelSelector(webhook['namespaceSelector'], `${field}.namespaceSelector`),
    ...validateLabelSelector(webhook['objectSelector'], `${field}.objectSelector`),
    ...oneOf(webhook['reinvocationPolicy'], ['IfNeeded', 'Never'], `${field}.reinvocationPolicy`),
    ...validateWebhookAddress(webhook['clientConfig'], `${field}.clientConfig`),
    ...validateConditions(webhook['matchConditions'], `${field}.matchConditions`),
    ...validateVersions(stringsOf(webhook['admissionReviewVersions']), `${field}.admissionReviewVersions`),
  ];
}

/** Validates a MutatingWebhookConfiguration or a ValidatingWebhookConfiguration. */
export function validateWebhookConfiguration(object: JsonObject): FieldError[] {
  const seen = new Set<string>();
  return objectsOf(object['webhooks']).flatMap((webhook, index) => {
    const field = `webhooks[${index}]`;
    const errors = validateWebhook(webhook, field);
    const name = stringOf(webhook['name']);
    if (name !== '' && seen.has(name)) errors.push(duplicate(`${field}.name`, name));
    seen.add(name);
    return errors;
  });
}
