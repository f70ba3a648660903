import { invalidError, invalidField, webhookManagedBy, type RuntimeManager } from '@kctl/runtime';
import { __Kind__ } from '../api/__kind-file__.ts';

/** What the schema of a __Kind__ cannot say. The API server asks at each write: the answer needs no request. */
export function add__Kind__Webhook(manager: RuntimeManager): void {
  webhookManagedBy(manager)
    .for(__Kind__)
    .withDefaulter(({ metadata }) => {
      metadata.labels ??= {};
      metadata.labels['app.kubernetes.io/managed-by'] ??= '__name__';
    })
    .withValidator({
      validateCreate: ({ metadata: { name = '' } }) => {
        if (name.length <= 52) return;
        throw invalidError(__Kind__, name, [invalidField('metadata.name', name, 'must be no more than 52 characters')]);
      },
    })
    .complete();
}
