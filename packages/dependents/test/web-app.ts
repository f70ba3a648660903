import { defineKind } from '@kctl/apimachinery';
import type { Condition, KubeObject } from '@kctl/apimachinery';
import { Deployment, StatefulSet } from '@kctl/apimachinery/kinds/apps/v1';
import { ConfigMap, Secret, Service } from '@kctl/apimachinery/kinds/core/v1';
import type { ReadObject } from '@kctl/client';
import { dependents, notYet } from '@kctl/dependents';
import type { DependentsOptions } from '@kctl/dependents';

/** The primary of the scenarios. */
export interface WebApp extends KubeObject {
  spec: {
    image: string;
    settings?: Record<string, string>;
    tlsSecret?: string;
    database?: boolean;
    replicas?: number;
    hosts?: { id: string; host: string }[];
  };
  status?: { conditions?: Condition[]; observedGeneration?: number; replicas?: number };
}

export const WebApp = defineKind<WebApp>()({
  group: 'dependents.kctl.test',
  version: 'v1',
  kind: 'WebApp',
  scope: 'Namespaced',
});
export type ReadWebApp = ReadObject<typeof WebApp>;

export const fieldOwner = 'webapp.kctl.test';

export const podOf = (name: string, image: string) => ({
  selector: { matchLabels: { app: name } },
  template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'app', image }] } },
});

/** Config, database, web server and one Service for each host; web needs the database ready. */
export function webAppChildren(options: Partial<DependentsOptions> = {}) {
  return dependents(WebApp, { fieldOwner, ...options })
    .ref('tls', Secret, {
      key: ({ metadata, spec }) => ({ namespace: metadata.namespace, name: spec.tlsSecret ?? 'none' }),
      optional: true,
    })
    .child('config', ConfigMap, { desired: ({ spec }) => ({ data: { ...spec.settings } }) })
    .child('db', StatefulSet, {
      when: ({ spec }) => spec.database === true,
      desired: ({ metadata }) => ({ spec: { serviceName: 'db', ...podOf(`${metadata.name}-db`, 'postgres:17') } }),
    })
    .child('web', Deployment, {
      needs: ['config', 'tls'],
      needsReady: ['db'],
      initial: ({ spec }) => ({ spec: { replicas: spec.replicas ?? 2 } }),
      desired: ({ metadata, spec }, { config, tls }) => {
        if (spec.tlsSecret !== undefined && tls?.data?.['tls.crt'] === undefined)
          return notYet('the certificate is not issued');
        const { selector, template } = podOf(`${metadata.name}-web`, spec.image);
        return { metadata: { annotations: { config: config.metadata.name } }, spec: { selector, template } };
      },
    })
    .set('routes', Service, {
      each: ({ spec }) => new Map((spec.hosts ?? []).map((host) => [host.id, host])),
      needs: ['web'],
      desired: (_app, { host }, { web }) => ({
        metadata: { annotations: { host, web: web.metadata.name } },
        spec: { ports: [{ port: 80 }] },
      }),
    });
}
