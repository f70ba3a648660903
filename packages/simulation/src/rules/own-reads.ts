import {
  compareResourceVersions,
  isNotFound,
  type Kind,
  type NamespacedKey,
  type PersistedObject,
} from '@kctl/apimachinery';
import type { Exchange } from '../network/exchange.js';
import type { ReplicaHost } from '../replica/replica-host.js';
import type { Scope } from '../scope.js';
import type { CausedCommit } from '../caused-commit.js';
import type { Rule, RuleContext } from './rule.js';

/** The required part of an operator's client. */
interface ReadingClient {
  get(kind: Kind, key: NamespacedKey): Promise<PersistedObject<Kind>>;
  list(kind: Kind, options: object): Promise<{ readonly items: readonly PersistedObject<Kind>[] }>;
}

interface OwnWrite {
  readonly label: string;
  readonly namespace: string;
  readonly name: string;
  readonly resource: string;
  readonly resourceVersion: string;
  readonly uid: string;
  /** It was deleted by the replica, and is gone. */
  readonly isDelete: boolean;
}

/** Options of {@link ownReadsRule}. */
export interface OwnReadsOptions {
  readonly random: () => number;
  /** Runs it after so long, as the scope. */
  readonly after: (scope: Scope, ms: number, work: () => void) => void;
}

/** How long the kinds of a cache are taken to be the same, in ms. */
const kindsLastMs = 1000;
/** How soon after the answer to a write the object is read, in ms at most. */
const soonMs = 400;

/** A replica that has the answer to its write reads nothing older through its client. */
export function ownReadsRule(context: RuleContext, { random, after }: OwnReadsOptions): Rule {
  const pending = new WeakMap<Exchange, OwnWrite>();
  const kinds = new WeakMap<object, { readonly until: number; readonly kinds: readonly Kind[] }>();

  /** The kind of a resource, if it is read from the cache of the operator. */
  const cachedKind = ({ operator }: ReplicaHost, resource: string): Kind | undefined => {
    const cache = operator?.cache;
    if (typeof cache !== 'object' || cache === null) return undefined;
    let known = kinds.get(cache);
    if (known === undefined || known.until < context.now) {
      known = { until: context.now + kindsLastMs, kinds: kindsOf(cache) };
      kinds.set(cache, known);
    }
    return known.kinds.find(({ group, plural }) => `${group}/${plural}` === resource);
  };

  const check = async (host: ReplicaHost, scope: Scope, write: OwnWrite): Promise<void> => {
    const { client } = host.operator ?? {};
    const kind = cachedKind(host, write.resource);
    if (kind === undefined || !isReading(client)) return;
    const { label, name, namespace } = write;
    const judge = (how: string, found: PersistedObject<Kind> | undefined): void => {
      if (scope.isDead) return;
      const present = context.objects.get(label)?.object.metadata;
      if (write.isDelete) {
        if (found?.metadata.uid === write.uid) violate(`${how} has ${label}, which it has deleted`);
      } else if (found === undefined) {
        if (present?.uid === write.uid && present.deletionTimestamp === undefined)
          violate(
            `${how} does not have ${label}, which it wrote at ${write.resourceVersion} and which was not deleted`,
          );
      } else if (found.metadata.uid === write.uid && isOlder(found.metadata.resourceVersion, write.resourceVersion))
        violate(
          `${how} has ${label} at ${found.metadata.resourceVersion}, and it has written ${write.resourceVersion}`,
        );
    };
    const violate = (what: string): void =>
      context.violate(
        'reads-behind-own-writes',
        `${scope.name}: ${what}: reads must not go back behind own writes`,
        label,
      );
    try {
      if (random() < 0.3) {
        const { items } = await client.list(kind, namespace === '' ? {} : { namespace });
        judge(
          'a list',
          items.find(({ metadata }) => metadata.name === name),
        );
      } else judge('a get', await client.get(kind, { namespace, name }));
    } catch (error) {
      if (isNotFound(error)) judge('a get', undefined);
    }
  };

  return {
    names: ['reads-behind-own-writes'],
    committed({ exchange, change, label, resource, namespace, name, object }: CausedCommit) {
      if (exchange?.scope.kind !== 'replica') return;
      const isDelete = change === 'DELETED';
      if (isDelete && (exchange.target.verb !== 'delete' || exchange.target.name !== name)) return;
      const { resourceVersion = '', uid = '' } = object.metadata;
      pending.set(exchange, { label, resource, namespace, name, resourceVersion, uid, isDelete });
    },
    answered(exchange, status) {
      const write = pending.get(exchange);
      const { scope } = exchange;
      if (write === undefined || status < 200 || status > 299) return;
      const host = context.replicas.find((each) => each.scope === scope);
      if (host === undefined || cachedKind(host, write.resource) === undefined) return;
      after(scope, random() * soonMs, () => {
        if (host.isStopping || context.phase === 'stopping') return;
        scope.enter(() => void check(host, scope, write));
      });
    },
  };
}

function isOlder(found: string, written: string): boolean {
  return compareResourceVersions(found, written) === 'older';
}

function isReading(client: unknown): client is ReadingClient {
  return (
    typeof client === 'object' &&
    client !== null &&
    ['get', 'list'].every((name) => typeof Reflect.get(client, name) === 'function')
  );
}

/** The kinds that are read from a cache. */
interface InformerOfKind {
  readonly kind: Kind;
  readonly isWanted: boolean;
  readonly selection?: string;
}

function kindsOf(cache: object): readonly Kind[] {
  if (!('informers' in cache)) return [];
  const { informers } = cache;
  if (typeof informers !== 'function') return [];
  const all = Reflect.apply(informers, cache, []) as readonly InformerOfKind[];
  // The client of the operator reads no selected informers.
  return all
    .filter(({ kind, isWanted, selection }) => isWanted && selection === undefined && kind.shape === 'full')
    .map(({ kind }) => kind);
}
