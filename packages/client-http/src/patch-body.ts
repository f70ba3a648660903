import { formatKey, stringifyJson } from '@kctl/apimachinery';
import type { Kind, ObjectKey } from '@kctl/apimachinery';
import type { Patch, PatchOptions } from '@kctl/client';

/** The parts of a patch request. */
export interface PatchRequest {
  readonly kind: Kind;
  readonly key: ObjectKey;
  readonly patch: Patch;
  readonly options: PatchOptions;
}

const patchTypes: readonly unknown[] = ['json', 'merge', 'strategic', 'apply'] satisfies readonly Patch['type'][];

/**
 * Body and content type of a patch.
 *
 * @throws TypeError for a value that is not a patch, for an apply without a field owner, with managedFields, or of
 * another object than the key names
 */
export function patchBody(request: PatchRequest): { readonly body: string; readonly contentType: string } {
  const { patch, kind, key } = request;
  requirePatch(`patch ${kind.kind} ${JSON.stringify(formatKey(key))}`, patch);
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

/**
 * Possible input from plain JavaScript, which is `{ type: 'merge', patch: … }`, an object without a type, or nothing.
 */
function requirePatch(what: string, patch: unknown): void {
  const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
  const type: unknown = isObject(patch) ? Reflect.get(patch, 'type') : undefined;
  if (!isObject(patch) || !patchTypes.includes(type))
    throw new TypeError(
      `${what}: the patch is not valid: expected that of mergePatch(…), jsonPatch(…) or mergeFrom(…)`,
    );
  const field = type === 'json' ? 'operations' : 'body';
  const content: unknown = Reflect.get(patch, field);
  if (!isObject(content) || (type === 'json' && !isOperations(content)))
    throw new TypeError(
      `${what}: ${field} of the patch is not set: expected an ${type === 'json' ? 'array' : 'object'}`,
    );
}

/** An element that is not an object has no operation to look at. */
function isOperations(content: object): boolean {
  return Array.isArray(content) && content.every((operation) => typeof operation === 'object' && operation !== null);
}

function applyConfiguration({ kind, key, options }: PatchRequest, body: object): object {
  const refuse = (reason: string): never => {
    throw new TypeError(`apply ${kind.kind} ${JSON.stringify(formatKey(key))}: ${reason}`);
  };
  if ((options.fieldOwner ?? '') === '')
    refuse('options.fieldOwner is not set: the server must know who owns the fields');
  const metadata = 'metadata' in body && typeof body.metadata === 'object' ? body.metadata : {};
  if (metadata !== null && 'managedFields' in metadata && (metadata.managedFields ?? undefined) !== undefined)
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
