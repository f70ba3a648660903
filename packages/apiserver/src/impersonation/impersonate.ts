import { dns1123Subdomain, regexError, goQuoted } from '@kctl/crd/internal/engine';
import {
  allAuthenticated,
  allUnauthenticated,
  anonymousUser,
  extraKeys,
  nodeOf,
  nodesGroup,
  serviceAccountGroups,
  serviceAccountOf,
} from '../authentication/user-names.js';
import { forbiddenRequest, resourceAttributes, type Attributes } from '../authorization/attributes.js';
import type { Authorizer } from '../authorization/authorizer.js';
import { privilegedGroup } from '../authorization/rbac/rbac-authorizer.js';
import type { User } from '../protocol/api-request.js';
import type { WantedUser } from './wanted-user.js';

/** From this many values on, one check of all of them comes before those of each. */
const manyValues = 4;

/** Group of the users, groups and other resources that can be impersonated. */
const authentication = { group: 'authentication.k8s.io', version: 'v1' };

/** A way to be allowed to impersonate. */
interface Mode {
  readonly name: string;
  appliesTo(wanted: WantedUser, requestor: User): boolean;
  /** Attributes as this mode checks them. @default as they are */
  readonly asked?: (attributes: Attributes) => Attributes;
}

const isNameAlone = ({ uid, groups, extra }: WantedUser): boolean =>
  uid === '' && groups.length === 0 && extra.size === 0;

function nodeOfRequestor(requestor: User): string | undefined {
  const values = requestor.extra?.[extraKeys.nodeName] ?? [];
  return serviceAccountOf(requestor.name) === undefined || values.length !== 1 ? undefined : values[0];
}

/** The constrained modes (`ConstrainedImpersonation`, on by default since 1.36), in the order in which they are tried. */
const modes: readonly Mode[] = [
  {
    name: 'associated-node',
    appliesTo: (wanted, requestor) => {
      const node = nodeOf(wanted.name);
      return isNameAlone(wanted) && node !== undefined && node === nodeOfRequestor(requestor);
    },
    // One permission covers all nodes; the token of the requestor names the node.
    asked: (attributes) => ({
      ...attributes,
      ...(attributes.verb === 'impersonate:associated-node' && { name: '*' }),
      user: {
        ...attributes.user,
        extra: {
          'authentication.kubernetes.io/associated-node-keys': Object.keys(attributes.user.extra ?? {}).sort(),
        },
      },
    }),
  },
  { name: 'arbitrary-node', appliesTo: (wanted) => isNameAlone(wanted) && nodeOf(wanted.name) !== undefined },
  { name: 'serviceaccount', appliesTo: (wanted) => isNameAlone(wanted) && serviceAccountOf(wanted.name) !== undefined },
  {
    name: 'user-info',
    appliesTo: ({ name }) => nodeOf(name) === undefined && serviceAccountOf(name) === undefined,
  },
];

/** Requestors whose last way is remembered. */
const maxRemembered = 10_000;

/** Determines the user that requests are made as. */
export interface Impersonator {
  /**
   * The user that a request is to be made as. A constrained mode needs two permissions, `impersonate-on:<mode>:<verb>`
   * on the object of the request, and `impersonate:<mode>` on the impersonated user. If no mode allows it,
   * `impersonate` (the way before 1.36) is enough. As upstream, the way by which a requestor was allowed last is tried
   * first, so a requestor that may use all of them and has used the old one gets the groups that this one gives, so no
   * groups for a node.
   *
   * @throws StatusError 403 of the first way that was tried
   */
  userOf(wanted: WantedUser, attributes: Attributes): User;
}

/** A way to impersonate; undefined if it does not apply. */
type Way = (wanted: WantedUser, attributes: Attributes) => User | undefined;

export function createImpersonator(authorizer: Authorizer): Impersonator {
  const constrained = modes.map(
    (mode): Way =>
      (wanted, attributes) => {
        if (!mode.appliesTo(wanted, attributes.user)) return undefined;
        const { asked = (same: Attributes): Attributes => same } = mode;
        const require = (needed: Attributes): void => requireAllowed(authorizer, asked(needed));
        require({ ...attributes, verb: `impersonate-on:${mode.name}:${attributes.verb}` });
        return new Check(require, `impersonate:${mode.name}`, attributes.user).userOf(wanted);
      },
  );
  const legacy: Way = (wanted, attributes) =>
    new Check((needed) => requireAllowed(authorizer, needed), 'impersonate', attributes.user).userOf(wanted);
  const ways = [...constrained, legacy];
  /** By the name of the requestor, the one that was used least recently first. */
  const lastWays = new Map<string, Way>();

  const remember = (requestor: string, way: Way): void => {
    lastWays.delete(requestor);
    const [oldest] = lastWays.keys();
    if (lastWays.size >= maxRemembered && oldest !== undefined) lastWays.delete(oldest);
    lastWays.set(requestor, way);
  };

  return {
    userOf(wanted, attributes) {
      const requestor = attributes.user.name;
      const last = lastWays.get(requestor);
      const refusals: unknown[] = [];
      for (const way of last === undefined ? ways : [last, ...ways.filter((each) => each !== last)]) {
        try {
          const user = way(wanted, attributes);
          if (user === undefined) continue;
          remember(requestor, way);
          return user;
        } catch (error) {
          refusals.push(error);
        }
      }
      throw refusals[0];
    },
  };
}

function requireAllowed(authorizer: Authorizer, attributes: Attributes): void {
  const { allowed, reason } = authorizer.authorize(attributes);
  if (!allowed) throw forbiddenRequest(attributes, reason);
}

/** Checks for each part of a wanted user whether the requestor may use it, in one mode. */
class Check {
  readonly #require: (attributes: Attributes) => void;
  readonly #verb: string;
  readonly #requestor: User;

  constructor(require: (attributes: Attributes) => void, verb: string, requestor: User) {
    this.#require = require;
    this.#verb = verb;
    this.#requestor = requestor;
  }

  get #isConstrained(): boolean {
    return this.#verb !== 'impersonate';
  }

  userOf(wanted: WantedUser): User {
    const fixedGroups = this.#checkName(wanted);
    if (wanted.uid !== '') this.#require(this.#about('uids', { ...authentication, name: wanted.uid }));
    this.#checkGroups(wanted.groups);
    this.#checkExtra(wanted.extra);
    const { name, uid, extra } = wanted;
    return {
      name,
      ...(uid !== '' && { uid }),
      groups: withServerGroups(name, fixedGroups ?? wanted.groups),
      ...(extra.size > 0 && { extra: Object.fromEntries(extra) }),
    };
  }

  #about(
    resource: string,
    { name = '', ...more }: Partial<Pick<Attributes, 'group' | 'version' | 'name' | 'namespace' | 'subresource'>>,
  ): Attributes {
    return resourceAttributes(this.#requestor, this.#verb, { ...more, resource, name });
  }

  get #userGroup(): { readonly group: string; readonly version: string } {
    return this.#isConstrained ? authentication : { group: '', version: 'v1' };
  }

  /** Returns the groups that a node or a service account has by its name. */
  #checkName({ name, groups }: WantedUser): readonly string[] | undefined {
    const node = this.#isConstrained ? nodeOf(name) : undefined;
    const account = serviceAccountOf(name);
    if (node !== undefined) {
      this.#require(this.#about('nodes', { ...this.#userGroup, name: node }));
      return [nodesGroup];
    }
    if (account !== undefined) {
      this.#require(this.#about('serviceaccounts', { ...this.#userGroup, ...account }));
      return groups.length === 0 ? serviceAccountGroups(account.namespace) : undefined;
    }
    this.#require(this.#about('users', { ...this.#userGroup, name }));
    return undefined;
  }

  #checkGroups(groups: readonly string[]): void {
    const about = (name: string): Attributes => this.#about('groups', { ...this.#userGroup, name });
    if (this.#isConstrained && groups.includes(''))
      throw forbiddenRequest(about(''), 'impersonating the empty string group is not allowed');
    if (this.#isConstrained && groups.includes(privilegedGroup))
      throw forbiddenRequest(about(privilegedGroup), 'impersonating the system:masters group is not allowed');
    if (this.#isConstrained && groups.length >= manyValues && this.#allows(about('*'))) return;
    for (const group of groups) this.#require(about(group));
  }

  #checkExtra(extra: WantedUser['extra']): void {
    if (extra.size === 0) return;
    const about = (subresource: string, name: string): Attributes =>
      this.#about('userextras', { ...authentication, subresource, name });
    const values = [...extra].flatMap(([key, each]) => each.map((value) => [key, value] as const));
    if (this.#isConstrained) {
      const problem = extraProblem(extra);
      if (problem !== undefined) throw forbiddenRequest(about('', ''), problem);
      const isMany = values.length >= manyValues;
      if (isMany && this.#allows(about('*', '*'))) return;
    }
    for (const [key, value] of values) this.#require(about(key, value));
  }

  #allows(attributes: Attributes): boolean {
    try {
      this.#require(attributes);
      return true;
    } catch {
      return false;
    }
  }
}

function withServerGroups(name: string, groups: readonly string[]): readonly string[] {
  const wanted = name === anonymousUser.name ? allUnauthenticated : allAuthenticated;
  const isLeft = groups.includes(wanted) || (wanted === allAuthenticated && groups.includes(allUnauthenticated));
  return isLeft ? groups : [...groups, wanted];
}

const httpPath = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";
const httpPathPattern = new RegExp(`^${httpPath}$`);

/** Returns the problem of extras that a constrained mode does not take. */
function extraProblem(extra: WantedUser['extra']): string | undefined {
  for (const [key, values] of extra) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const problem = keyProblem(key);
    if (problem !== undefined) return `impersonating an invalid key in extra is not allowed: ${problem}`;
    if (key !== key.toLowerCase()) return `impersonating a non-lowercase key in extra is not allowed: ${goQuoted(key)}`;
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}

function keyProblem(key: string): string | undefined {
  const invalid = (value: string, message: string): string =>
    `extra.key: Invalid value: ${goQuoted(value)}: ${message}`;
  const slash = key.indexOf('/');
  const host = key.slice(0, slash);
  const path = key.slice(slash + 1);
  if (slash <= 0 || path === '') return invalid(key, 'must be a domain-prefixed path (such as "acme.io/foo")');
  const problems = dns1123Subdomain(host).map((message) => invalid(host, message));
  if (!httpPathPattern.test(path)) problems.push(invalid(path, regexError('Invalid path', httpPath)));
  return problems.length > 1 ? `[${problems.join(', ')}]` : problems[0];
}
