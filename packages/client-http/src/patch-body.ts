import { stringifyJson } from '@kctl/apimachinery';
import type { Kind, ObjectKey } from '@kctl/apimachinery';
import type { Patch, PatchOptions } from '@kctl/client';

/** What a patch request is made of. */
export interface PatchRequest {
  readonly kind: Kind;
  readonly key: ObjectKey;
  readonly patch: Patch;
  readonly options: PatchOptions;
}

/**
 * Body and content type of a patch.
 *
 * @throws TypeError for an apply without a field owner, with managedFields, or of another object than the key says
 */
export function patchBody(request: PatchRequest): { readonly body: string; readonly contentType: string } {
  const { patch } = request;
  switch (patch.type) {
    case 'json':
      return { body: stringifyJson(patch.operations), contentType: 'application/json-patch+json' };
    case 'merge':
      return { body: stringifyJson(patch.body), contentType: 'application/merge-patch+json' };
    case 'strategic':
      return { body: stringifyJson(patch.body), contentType: 'application/strategic-merge-patch+json' };
    case 'apply':
      return {
        body: stringifyJson(applyConfiguration(request, patch.body)),
        contentType: 'application/apply-patch+yaml',
      };
  }
}

function applyConfiguration({ kind, key, options }: PatchRequest, body: object): object {
  const refuse = (reason: string): never => {
    throw new TypeError(`apply ${kind.kind} ${JSON.stringify(key.name)}: ${reason}`);
  };
  if ((options.fieldOwner ?? '') === '')
    refuse('options.fieldOwner is not set: the server must know who owns the fields');
  const metadata = 'metadata' in body && typeof body.metadata === 'object' ? body.metadata : {};
  if (metadata !== null && 'managedFields' in metadata && metadata.managedFields !== undefined)
    refuse('metadata.managedFields is set: apply only the fields that you mean to own');
  if (metadata !== null && 'name' in metadata && metadata.name !== key.name)
    refuse(`metadata.name is ${JSON.stringify(metadata.name)}`);
  const namespace = kind.scope === 'Namespaced' ? { namespace: key.namespace } : {};
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    ...body,
    metadata: { name: key.name, ...namespace, ...metadata },
  };
}
