import type { Attributes } from './attributes.js';
import type { User } from '../protocol/api-request.js';

/** An answer of an authorizer. */
export interface Decision {
  readonly allowed: boolean;
  /** Why, as access reviews show it. */
  readonly reason: string;
}

/** What a user may do with resources. */
export interface ResourceRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** What a user may do with paths. */
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

/** Decides who may do what. Synchronous: each request asks it. */
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
