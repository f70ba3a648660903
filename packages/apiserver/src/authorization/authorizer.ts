import type { Attributes } from './attributes.js';
import type { User } from '../protocol/api-request.js';

/** An answer of an authorizer. */
export interface Decision {
  readonly allowed: boolean;
  /** Why, as access reviews show it. */
  readonly reason: string;
}

/** Permissions of a user on resources. */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Permissions of a user on paths. */
export interface PathRule {
  readonly verbs: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

/** All that a user may do in a namespace. */
export interface UserRules {
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly PathRule[];
  readonly evaluationError?: string;
}

/** Decides on permissions. Synchronous, because each request calls it. */
export interface Authorizer {
  authorize(attributes: Attributes): Decision;
  rulesFor(user: User, namespace: string): UserRules;
}

const everything: UserRules = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

/** Lets every user do everything. */
export const alwaysAllow: Authorizer = {
  authorize: () => ({ allowed: true, reason: '' }),
  rulesFor: () => everything,
};
