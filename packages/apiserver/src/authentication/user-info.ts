import { at, isObject, stringOf, stringsOf, type JsonObject } from '@kctl/crd/internal/engine';
import type { User } from '../protocol/api-request.js';

/** A user as `userInfo` of reviews shows it. */
export function userInfoOf({ name, uid = '', groups, extra = {} }: User): JsonObject {
  return {
    ...(name !== '' && { username: name }),
    ...(uid !== '' && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}

/** The user that the spec of a SubjectAccessReview describes. */
export function userOfSpec(spec: unknown): User {
  const extra = at(spec, 'extra');
  return {
    name: stringOf(at(spec, 'user')),
    uid: stringOf(at(spec, 'uid')),
    groups: stringsOf(at(spec, 'groups')),
    ...(isObject(extra) && {
      extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, stringsOf(values)])),
    }),
  };
}
