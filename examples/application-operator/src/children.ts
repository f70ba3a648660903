import type { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import type { Service } from '@kctl/apimachinery/kinds/core/v1';
import type { ChildConfiguration, ReadObject } from '@kctl/runtime';
import type { Application } from './application.js';

type Owner = ReadObject<typeof Application>;

/** The Deployment that an application asks for: the fields that the operator cares for, and no others. */
export function deploymentOf(application: Owner): ChildConfiguration<typeof Deployment> {
  const { image, replicas = 1, port = 8080 } = application.spec;
  const labels = labelsOf(application);
  return {
    metadata: { name: application.metadata.name, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'application', image, ports: [{ containerPort: port }] }] },
      },
    },
  };
}

/** Likewise its Service. */
export function serviceOf(application: Owner): ChildConfiguration<typeof Service> {
  const { port = 8080 } = application.spec;
  const labels = labelsOf(application);
  return {
    metadata: { name: application.metadata.name, labels },
    spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: port }] },
  };
}

function labelsOf(application: Owner): Record<string, string> {
  return {
    'app.kubernetes.io/name': application.metadata.name,
    'app.kubernetes.io/managed-by': 'application-operator',
  };
}
