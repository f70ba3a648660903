import type { OperatorGraph } from '@kctl/operator';
import type { ClusterOptions } from '../cluster.js';
import type { CliIo } from '../io.js';
import type { Guardian } from '../start-guardian.js';
import type { DevRecord } from './dev-record.js';
import type { DevServer } from './dev-server.js';
import { placesOf, restoreOriginals, saveOriginals, writePlaces, type Place } from './originals.js';
import { routeWebhooks, type WebhookRoute } from './webhook-route.js';
import { placesInUse, pointConversions, pointWebhooks, type HookedOperator, type Pointing } from './webhook-tunnel.js';

/** Options for {@link createTunnel}. */
export interface TunnelOptions {
  readonly server: DevServer;
  readonly settings: Pick<OperatorGraph['settings'], 'webhookPort'>;
  /** Of the operator, as the person gave them. */
  readonly arguments: readonly string[];
  /** By which the cluster reaches this machine. @default by the context */
  readonly host: string | undefined;
  /** Folder of the certificate, which is removed with the command. */
  readonly folder: string;
  readonly session: string;
  /** Of what this machine changes in clusters. */
  readonly record: DevRecord;
  readonly guardian: Guardian;
  readonly access: ClusterOptions;
}

/** Leads the API server to the webhooks of an operator on this machine, also to those that a change of its files brings. */
export interface Tunnel {
  /** Arguments of the operator; they may change by {@link Tunnel.prepare}. */
  readonly arguments: readonly string[];
  /** Address at which this machine reaches the webhooks; undefined if none is called. */
  readonly address: { readonly host: string; readonly port: number } | undefined;
  /** Has a certificate, and notes what is about to change. Before the CRDs of the operator are applied. */
  prepare(io: CliIo, operator: HookedOperator): Promise<void>;
  /** Has the API server convert by the operator. The CRDs are there. */
  pointConversions(io: CliIo): Promise<void>;
  /** Has the API server call what is there now, and nothing that is there no longer. The operator listens. */
  pointWebhooks(io: CliIo): Promise<void>;
  /** Makes the cluster what it was. */
  close(io: Pick<CliIo, 'err'>, signal: AbortSignal): Promise<void>;
}

/** A tunnel that leads nowhere before its first `prepare`. */
export function createTunnel(options: TunnelOptions): Tunnel {
  const { server, session, record, guardian, folder, access } = options;
  const { cluster, isEmbedded } = server;
  /** Everything that was changed, or may have been. */
  const places = new Map<string, Place>();
  let pointed: ReadonlyMap<string, Place> = new Map();
  let route: WebhookRoute | undefined;
  let underWay: Promise<void> = Promise.resolve();
  let operator: HookedOperator | undefined;
  const pointing = (): Pointing | undefined =>
    operator === undefined || route === undefined || route.url === ''
      ? undefined
      : { operator, route, session, record };
  return {
    get arguments() {
      return route?.arguments ?? [];
    },
    get address() {
      const to = pointing();
      return to === undefined || [...to.operator.webhooks].length === 0 ? undefined : to.route;
    },
    prepare: async (io, next) => {
      operator = next;
      route ??= await routeWebhooks(io, cluster, {
        graph: { webhooks: next.webhooks, settings: options.settings },
        arguments: options.arguments,
        folder,
        isEmbedded,
        context: server.context,
        host: options.host,
      });
      if (pointing() === undefined || isEmbedded) return;
      const all = placesOf(next);
      for (const place of all) places.set(idOf(place), place);
      // First the guardian knows, then it is done.
      await guardian.order({
        folder,
        session,
        operator: next.name,
        cluster: access,
        places: writePlaces([...places.values()]),
      });
      await saveOriginals(io, cluster, { places: all, session, record });
    },
    pointConversions: async (io) => {
      const to = pointing();
      if (to !== undefined) await pointConversions(io, cluster, to);
    },
    pointWebhooks: async (io) => {
      const to = pointing();
      if (to === undefined) return;
      const work = pointWebhooks(io, cluster, to);
      underWay = work.catch(() => undefined);
      await work;
      const used = new Map(placesInUse(to).map((place) => [idOf(place), place]));
      const gone = [...pointed].flatMap(([id, place]) => (used.has(id) ? [] : [place]));
      pointed = used;
      await restoreOriginals(io, cluster, { places: gone, session, record, signal: io.signal });
    },
    close: async (io, signal) => {
      // A create that the end of the command has overtaken is recorded first.
      await underWay;
      await restoreOriginals(io, cluster, { places: [...places.values()], session, record, signal });
    },
  };
}

function idOf({ kind, name }: Place): string {
  return `${kind.kind}/${name}`;
}
