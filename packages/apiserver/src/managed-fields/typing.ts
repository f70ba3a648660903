import type { UntypedObject } from '@kctl/apimachinery';
import type { Atom } from './atom.js';
import { buildSet, type FieldSet } from './field-set.js';
import { fieldElement } from './path-element.js';

/** Facts about one version of a kind that the ownership of fields needs. */
export interface FieldTyping {
  readonly atom: Atom;
  /** The object that a create is compared with, like Go's value of `{}`. Shared, to be read only. */
  empty(): UntypedObject;
  /** Fields that writes to the object ('') or to a subresource do not change, whatever they contain. */
  ignored(subresource: string): FieldSet | undefined;
}

/** A set of whole fields: `status`, `metadata.labels`. */
export function fieldPaths(paths: readonly string[]): FieldSet {
  return buildSet(...paths.map((path) => path.split('.').map(fieldElement)));
}

const status = fieldPaths(['status']);
const spec = fieldPaths(['spec']);
const metadataAndSpec = fieldPaths(['metadata', 'spec']);

/** Differences by kind and subresource from the rule that the object ignores its status, and /status the spec. */
const exceptions: Readonly<Record<string, FieldSet>> = {
  'certificates.k8s.io/CertificateSigningRequest': fieldPaths(['spec', 'status']),
  'certificates.k8s.io/CertificateSigningRequest/status': fieldPaths(['spec', 'status.conditions']),
  'certificates.k8s.io/CertificateSigningRequest/approval': fieldPaths(['spec', 'status.certificate']),
  'networking.k8s.io/ServiceCIDR/status': metadataAndSpec,
  'resource.k8s.io/ResourceClaim/status': metadataAndSpec,
  'storage.k8s.io/VolumeAttachment/status': metadataAndSpec,
  'flowcontrol.apiserver.k8s.io/FlowSchema/status': metadataAndSpec,
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration/status': metadataAndSpec,
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy/status': metadataAndSpec,
  'apiextensions.k8s.io/CustomResourceDefinition/status': metadataAndSpec,
  'apiregistration.k8s.io/APIService/status': metadataAndSpec,
  'apps/Deployment/status': fieldPaths(['spec', 'metadata.labels']),
  '/Namespace/finalize': status,
  '/Pod/status': fieldPaths(['spec', 'metadata.deletionTimestamp', 'metadata.ownerReferences']),
  '/Pod/ephemeralcontainers': status,
  '/Pod/resize': status,
};

/** {@link FieldTyping.ignored} of a built-in kind. */
export function builtinIgnored(
  kind: { readonly group: string; readonly kind: string; readonly hasStatus: boolean },
  subresource: string,
): FieldSet | undefined {
  const name = `${kind.group}/${kind.kind}${subresource === '' ? '' : `/${subresource}`}`;
  const exception = exceptions[name];
  if (exception !== undefined || !kind.hasStatus) return exception;
  if (subresource === '') return status;
  return subresource === 'status' ? spec : undefined;
}

/** {@link FieldTyping.ignored} of a custom resource. */
export function customIgnored(hasStatus: boolean, subresource: string): FieldSet | undefined {
  if (!hasStatus) return undefined;
  if (subresource === 'status') return metadataAndSpec;
  return subresource === '' ? status : undefined;
}
