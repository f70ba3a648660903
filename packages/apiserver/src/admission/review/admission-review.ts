import type { UntypedObject } from '@kctl/apimachinery';
import type { JsonObject } from '@kctl/crd/internal/engine';
import { userInfoOf } from '../../authentication/user-info.js';
import type { KindRef } from '../../resource/resource.js';
import { isConnectOptions } from '../connect-options.js';
import type { AdmissionWrite, ResourceRef } from '../write.js';

/** Versions of AdmissionReview that this server speaks. */
export type ReviewVersion = 'v1' | 'v1beta1';

/** A write as one webhook is to see it. */
export interface ReviewedWrite {
  readonly write: AdmissionWrite;
  /** Resource and kind named by the webhook's rule, possibly of an equivalent version. */
  readonly resource: ResourceRef;
  readonly kind: KindRef;
  /** The objects in that kind. */
  readonly object: UntypedObject | undefined;
  readonly oldObject: UntypedObject | undefined;
}

/** The first version that a webhook accepts and this server speaks. */
export function reviewVersionOf(accepted: readonly string[]): ReviewVersion | undefined {
  return accepted.find((version) => version === 'v1' || version === 'v1beta1');
}

/** The `apiVersion` of a review. */
export function reviewApiVersion(version: ReviewVersion): string {
  return `admission.k8s.io/${version}`;
}

/** An object as JSON of a kind. */
export function typedObject(object: UntypedObject, of: KindRef): JsonObject {
  const { group, version, kind } = of;
  const typed: JsonObject = { ...object, kind, apiVersion: group === '' ? version : `${group}/${version}` };
  if (isConnectOptions(of)) delete typed['metadata'];
  return typed;
}

/** Request of a review sent to a webhook. CEL expressions see it as `request`, without the objects. */
export function admissionRequest(uid: string, { write, resource, kind, object, oldObject }: ReviewedWrite): JsonObject {
  const { name, namespace, operation, subresource, user, dryRun, options } = write;
  return {
    uid,
    kind: { group: kind.group, version: kind.version, kind: kind.kind },
    resource,
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: { group: write.kind.group, version: write.kind.version, kind: write.kind.kind },
    requestResource: write.resource,
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }),
    ...(namespace !== '' && { namespace }),
    operation,
    userInfo: userInfoOf(user),
    object: object === undefined ? null : typedObject(object, kind),
    oldObject: oldObject === undefined ? null : typedObject(oldObject, kind),
    dryRun,
    options,
  };
}

/** The AdmissionReview to send. */
export function admissionReview(version: ReviewVersion, request: JsonObject): JsonObject {
  return { kind: 'AdmissionReview', apiVersion: reviewApiVersion(version), request };
}
