import type { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import type { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import type { WatchingClient } from '../client.js';

/** What a server may lack: cases that need it are skipped, and say why. */
export type ConformanceFeature =
  | 'actions'
  | 'allNamespaces'
  | 'apply'
  | 'customResources'
  | 'dryRun'
  | 'fieldValidation'
  | 'managedFields'
  | 'metadataOnly'
  | 'paging'
  | 'scale'
  | 'strategic'
  | 'token';

/** Options of {@link clientConformance}. */
export interface ClientConformanceOptions {
  /** A client of a running server. Called once, before the first case. */
  readonly create: () => Promise<WatchingClient>;
  /** Called once, after the last case. */
  readonly dispose?: (client: WatchingClient) => Promise<void>;
  /** A namespace that exists. @default 'default' */
  readonly namespace?: string;
  /** What the server or the client lacks, and why. */
  readonly skip?: Partial<Record<ConformanceFeature, string>>;
}

/** What a case works with. */
export interface ConformanceContext {
  readonly client: WatchingClient;
  readonly namespace: string;
  /** A name that no other object has. */
  name(): string;
}

let created = 0;

/** Names that differ from run to run, so that a server may be used again. */
export function uniqueName(): string {
  return `conf-${Date.now().toString(36)}-${(created++).toString(36)}`;
}

/** A small object. */
export function configMap(context: ConformanceContext, name: string, labels: Record<string, string> = {}): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: context.namespace, name, labels },
    data: { a: '1' },
  };
}

/** An object with a status and a scale; without replicas by default, so that nothing has to be scheduled. */
export function deployment(context: ConformanceContext, name: string, replicas = 0): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: context.namespace, name },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'main', image: 'example.com/image:1' }] },
      },
    },
  };
}
