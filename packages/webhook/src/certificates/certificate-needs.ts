import { accessTo, type AccessNeed, type AccessVerb } from '@kctl/rbac';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { Secret } from '@kctl/apimachinery/kinds/core/v1';
import type { Kind } from '@kctl/apimachinery';
import type { InjectionTargets } from './inject-ca.js';

/** Returns the rights of `certificateRules` as needs, for `Manager.accessNeeds`. */
export function certificateNeeds({
  secret,
  inject = {},
}: {
  readonly secret: { readonly name: string; readonly namespace: string };
  readonly inject?: InjectionTargets | undefined;
}): readonly AccessNeed[] {
  const reason = 'selfManagedCertificates';
  const { mutating = [], validating = [], crds = [] } = inject;
  const where = { namespaces: [secret.namespace], reason };
  const verbs: readonly AccessVerb[] = ['get', 'update'];
  const onNamed = (kind: Kind, names: readonly string[]): AccessNeed[] =>
    names.length === 0 ? [] : [accessTo(kind, verbs, { names, reason })];
  return [
    accessTo(Secret, ['get'], { ...where, names: [secret.name] }),
    accessTo(Secret, ['update'], { ...where, names: [secret.name], when: 'the Secret exists, or is renewed' }),
    accessTo(Secret, ['create'], { ...where, when: 'the installation has not created the Secret' }),
    ...onNamed(MutatingWebhookConfiguration, mutating),
    ...onNamed(ValidatingWebhookConfiguration, validating),
    ...onNamed(CustomResourceDefinition, crds),
  ];
}
