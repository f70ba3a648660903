import { setControllerReference } from '@kctl/apimachinery';
import type { Deployment } from '@kctl/apimachinery/kinds/apps/v1';
import type { Service } from '@kctl/apimachinery/kinds/core/v1';
import type { ReadObject } from '@kctl/client';
import { Application } from './application.js';

type Owner = ReadObject<typeof Application>;

/** Writes what the application asks for into the draft of its Deployment; leaves alone what others may have set. */
export function shapeDeployment(application: Owner, draft: Deployment): void {
  const { image, replicas = 1, port = 8080 } = application.spec;
  const labels = labelsOf(application);
  draft.metadata.labels = { ...draft.metadata.labels, ...labels };
  const container = { name: 'application', image, ports: [{ containerPort: port }] };
  const existing = draft.spec?.template.spec?.containers.find(({ name }) => name === container.name);
  draft.spec = {
    ...draft.spec,
    replicas,
    selector: { matchLabels: labels },
    template: {
      ...draft.spec?.template,
      metadata: { ...draft.spec?.template.metadata, labels },
      spec: {
        ...draft.spec?.template.spec,
        containers: [{ ...existing, ...container, ports: [{ ...existing?.ports?.[0], containerPort: port }] }],
      },
    },
  };
  setControllerReference(application, Application, draft);
}

/** Likewise for its Service. */
export function shapeService(application: Owner, draft: Service): void {
  const { port = 8080 } = application.spec;
  const labels = labelsOf(application);
  draft.metadata.labels = { ...draft.metadata.labels, ...labels };
  draft.spec = {
    ...draft.spec,
    selector: labels,
    ports: [{ ...draft.spec?.ports?.[0], name: 'http', port: 80, targetPort: port }],
  };
  setControllerReference(application, Application, draft);
}

function labelsOf(application: Owner): Record<string, string> {
  return {
    'app.kubernetes.io/name': application.metadata.name,
    'app.kubernetes.io/managed-by': 'application-operator',
  };
}
