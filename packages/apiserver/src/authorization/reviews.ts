import type { UntypedObject } from '@kctl/apimachinery';
import { at, invalidValue, isObject, stringOf, type FieldError, type JsonObject } from '@kctl/crd/internal/engine';
import { userOfSpec } from '../authentication/user-info.js';
import { badRequest, invalid } from '../protocol/status.js';
import type { User } from '../protocol/api-request.js';
import { selectorErrors, selectorProblems } from './review-selectors.js';
import { pathAttributes, resourceAttributes, type Attributes } from './attributes.js';
import type { Authorizer } from './authorizer.js';

/** An access review, decoded. */
export interface AccessReview {
  /** The plural. */
  readonly resource: string;
  readonly object: UntypedObject;
  /** The requesting user. */
  readonly user: User;
  /** The namespace of the URL. */
  readonly namespace: string;
}

/** Plurals of the access reviews. */
export const accessReviews: ReadonlySet<string> = new Set([
  'selfsubjectaccessreviews',
  'subjectaccessreviews',
  'localsubjectaccessreviews',
]);

/**
 * Refuses an invalid access review before admission sees it.
 *
 * @throws StatusError 400, 422
 */
export function checkAccessReview(review: AccessReview): void {
  const { resource, object, namespace } = review;
  const errors = [...specErrors(review), ...metadataErrors(review)];
  if (errors.length > 0) throw invalid({ group: 'authorization.k8s.io', kind: '' }, '', errors);
  if (resource === 'localsubjectaccessreviews' && namespace !== (object.metadata.namespace ?? ''))
    throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
}

function specErrors({ resource, object }: AccessReview): FieldError[] {
  const spec = object['spec'];
  const resourceAsked = at(spec, 'resourceAttributes');
  const pathAsked = at(spec, 'nonResourceAttributes');
  const errors: FieldError[] = [];
  if (isObject(resourceAsked) && isObject(pathAsked))
    errors.push(
      invalidValue(
        'spec.nonResourceAttributes',
        internalPath(pathAsked),
        'cannot be specified in combination with resourceAttributes',
      ),
    );
  if (!isObject(resourceAsked) && !isObject(pathAsked))
    errors.push(
      invalidValue(
        'spec.resourceAttributes',
        null,
        'exactly one of nonResourceAttributes or resourceAttributes must be specified',
      ),
    );
  const { name, groups } = userOfSpec(spec);
  if (resource !== 'selfsubjectaccessreviews' && name === '' && groups.length === 0)
    errors.push(invalidValue('spec.user', name, 'at least one of user or group must be specified'));
  errors.push(...selectorErrors(resourceAsked));
  return errors;
}

/** The internal form, as upstream prints it. */
function internalPath(asked: JsonObject): JsonObject {
  return { Path: stringOf(asked['path']), Verb: stringOf(asked['verb']) };
}

function metadataErrors({ resource, object }: AccessReview): FieldError[] {
  const isLocal = resource === 'localsubjectaccessreviews';
  const { managedFields: _fields, namespace, ...metadata } = object.metadata;
  const errors: FieldError[] = [];
  if (Object.keys(metadata).length > 0 || (!isLocal && namespace !== undefined && namespace !== ''))
    errors.push(
      invalidValue('metadata', object.metadata, isLocal ? 'must be empty except for namespace' : 'must be empty'),
    );
  if (!isLocal) return errors;
  const asked = at(object, 'spec', 'resourceAttributes');
  const wanted = stringOf(at(asked, 'namespace'));
  if (isObject(asked) && wanted !== (namespace ?? ''))
    errors.push(invalidValue('spec.resourceAttributes.namespace', wanted, 'must match metadata.namespace'));
  const path = at(object, 'spec', 'nonResourceAttributes');
  if (isObject(path))
    errors.push(invalidValue('spec.nonResourceAttributes', internalPath(path), 'disallowed on this kind of request'));
  return errors;
}

/** The status of an access review. */
export function answerAccessReview(authorizer: Authorizer, review: AccessReview): JsonObject {
  const { allowed, reason } = authorizer.authorize(askedBy(review));
  const evaluationError = selectorProblems(at(review.object, 'spec', 'resourceAttributes'));
  return { allowed, ...(reason !== '' && { reason }), ...(evaluationError !== '' && { evaluationError }) };
}

function askedBy({ resource, object, user }: AccessReview): Attributes {
  const spec = object['spec'];
  const subject = resource === 'selfsubjectaccessreviews' ? user : userOfSpec(spec);
  const asked = at(spec, 'resourceAttributes');
  const field = (name: string): string => stringOf(at(asked, name));
  if (!isObject(asked)) {
    const path = at(spec, 'nonResourceAttributes');
    return pathAttributes(subject, stringOf(at(path, 'verb')), stringOf(at(path, 'path')));
  }
  return resourceAttributes(subject, field('verb'), {
    group: field('group'),
    version: field('version') || '*',
    resource: field('resource'),
    subresource: field('subresource'),
    namespace: field('namespace'),
    name: field('name'),
  });
}

/** The status of a SelfSubjectRulesReview. @throws StatusError 400 */
export function answerRulesReview(authorizer: Authorizer, { object, user }: AccessReview): JsonObject {
  const namespace = stringOf(at(object, 'spec', 'namespace'));
  if (namespace === '') throw badRequest('no namespace on request');
  return { ...authorizer.rulesFor(user, namespace), incomplete: false };
}
