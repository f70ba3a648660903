import { isStatusError, mutableCopy, type UntypedObject } from '@kctl/apimachinery';
import { compareText, invalidValue, jsonText } from '@kctl/crd/internal/engine';
import { isUnreadable, mediaTypeOf, parseJsonBody, parseYamlBody, type OtherThread } from '../codecs/body.js';
import { JsonSyntaxError, TooDeepError } from '../json/strict-json.js';
import { applyJsonPatch } from '../patch/json-patch.js';
import { applyMergePatch } from '../patch/merge-patch.js';
import { badRequest, conflict, invalid, methodNotAllowed, unsupportedMediaType } from '../protocol/status.js';
import { unsupportedPatchType } from '../protocol/http-statuses.js';
import { convertVersions } from '../storage/convert-versions.js';
import type { Rendering } from '../storage/version.js';
import { apply as applyConfiguration, applyPatch, isApply } from './apply.js';
import type { Admission } from './admission.js';
import type { WriteBackend, ResourceCall } from './call.js';
import { retryOnLostRace } from './commit.js';
import { beginUpdateAdmission, checkIdentity, requirePresent, writeUpdate, type WriteTarget } from './update.js';
import { parseWriteOptions, reportProblems, type WriteOptions } from './write-options.js';
import type { Written } from './written.js';

const jsonPatch = 'application/json-patch+json';
const mergePatch = 'application/merge-patch+json';
const strategicPatch = 'application/strategic-merge-patch+json';

/** Applies the patch of a request to a document. Reads only. */
export type PatchFunction = (document: unknown) => unknown;

/** The media type of the patch, which is checked before anything else of the request. @throws StatusError 415 */
export function patchTypeOf({ request, definition }: Pick<ResourceCall, 'request' | 'definition'>): string {
  const type = mediaTypeOf(request.header('content-type'));
  const { strategicMerge } = definition;
  const isStrategic = type === strategicPatch && strategicMerge !== undefined;
  if (type !== jsonPatch && type !== mergePatch && !isStrategic && !definition.isCustom) throw unsupportedPatchType();
  if (type !== jsonPatch && type !== mergePatch && !isStrategic)
    throw unsupportedMediaType([
      jsonPatch,
      mergePatch,
      ...(strategicMerge === undefined ? [] : [strategicPatch]),
      applyPatch,
    ]);
  return type;
}

/**
 * The patch of a request as a function. A body that is not a patch is refused when it is applied, because upstream
 * reports first that the object is missing.
 *
 * @throws StatusError 413
 */
export async function readPatch(call: ResourceCall, type: string): Promise<PatchFunction> {
  const bytes = await call.request.readBody();
  try {
    return await patchOf(call, type, bytes);
  } catch (error) {
    if (!isStatusError(error)) throw error;
    return () => {
      throw error;
    };
  }
}

async function patchOf(
  { definition, offload, request }: ResourceCall,
  type: string,
  bytes: Uint8Array,
): Promise<PatchFunction> {
  const { strategicMerge } = definition;
  const isStrategic = type === strategicPatch;
  const patch = await parsePatch(bytes, isStrategic ? '' : 'error decoding patch: ', {
    offload,
    signal: request.signal,
  });
  if (type === jsonPatch) return (document) => applyJsonPatch(document, patch);
  if (patch === null && isStrategic) return (document) => document;
  if (patch === null) throw badRequest('Invalid JSON Patch');
  if (typeof patch !== 'object' || Array.isArray(patch)) {
    const prefix = isStrategic ? '' : 'error decoding patch: ';
    throw badRequest(
      `${prefix}json: cannot unmarshal ${jsonKind(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return type === mergePatch
    ? (document) => applyMergePatch(document, patch)
    : (document) => (isMetadataObject(document) ? mergeTyped(document, strategicMerge?.(document, patch)) : document);
}

async function parsePatch(bytes: Uint8Array, prefix: string, elsewhere: OtherThread): Promise<unknown> {
  const text = new TextDecoder().decode(bytes);
  try {
    return parseJsonBody(text, elsewhere.offload.depth).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError) || error instanceof TooDeepError) throw error;
    // Upstream takes YAML for patches, too; if that is no object either, the JSON error is more helpful.
    const yaml =
      text.trimStart().startsWith('{') || text.trimStart().startsWith('[')
        ? undefined
        : await parseYamlBody(text, elsewhere).catch((failure: unknown) => {
            if (!isUnreadable(failure)) throw failure;
            return undefined;
          });
    if (typeof yaml?.value === 'object' && yaml.value !== null) return yaml.value;
    throw badRequest(`${prefix}${error.message}`);
  }
}

/** A strategic merge works on typed objects upstream, so kind and apiVersion of a patch are ignored. */
function mergeTyped(document: UntypedObject, merged: unknown): unknown {
  return isMetadataObject(merged) ? { ...merged, kind: document.kind, apiVersion: document.apiVersion } : merged;
}

function jsonKind(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
}

function isMetadataObject(value: unknown): value is UntypedObject {
  return (
    typeof value === 'object' &&
    value !== null &&
    'metadata' in value &&
    typeof value.metadata === 'object' &&
    value.metadata !== null
  );
}

/** PATCH of an object, or of a subresource that shows it whole. */
export async function patch(backend: WriteBackend, call: ResourceCall, target: WriteTarget): Promise<Written> {
  const { path } = call;
  if (path.name === '') throw methodNotAllowed();
  if (isApply(call)) return applyConfiguration(backend, call, target);
  const type = patchTypeOf(call);
  const options = parseWriteOptions(call, 'PatchOptions');
  const apply = await readPatch(call, type);
  const warned = call.warnings.length;
  using admission = beginUpdateAdmission(backend, call, { target, options });
  const rendering = await retryOnLostRace(() => {
    call.warnings.length = warned;
    return patchOnce(backend, call, { target, options, apply, admission });
  }, admission?.signal);
  return { status: 200, rendering };
}

async function patchOnce(
  backend: WriteBackend,
  call: ResourceCall,
  {
    target,
    options,
    apply,
    admission,
  }: {
    readonly target: WriteTarget;
    readonly options: WriteOptions;
    readonly apply: PatchFunction;
    readonly admission: Admission | undefined;
  },
): Promise<Rendering> {
  const { definition, path } = call;
  const present = requirePresent(backend, call);
  const converted = convertVersions(definition, [present]);
  if (converted !== undefined) await converted;
  const value = apply(withType(call, present.in(definition).object));
  const { object, problems } = decodePatched(call, value, target);
  if (problems.length > 0 && options.fieldValidation === 'Strict') throw strictPatchError(value, problems);
  reportProblems(call, problems, options.fieldValidation);
  checkIdentity(call, object);
  if (admission === undefined) {
    const version = object.metadata.resourceVersion ?? '';
    if (version !== '' && version !== String(present.revision)) throw conflict(definition, path.name);
  }
  return writeUpdate(backend, call, { object, present, target, options, admission });
}

/** Stored built-ins include their kind, too, so that a patch can test it. */
function withType({ definition }: ResourceCall, object: UntypedObject): UntypedObject {
  return { ...object, kind: definition.kind, apiVersion: definition.apiVersion };
}

function decodePatched(
  { definition }: ResourceCall,
  value: unknown,
  target: WriteTarget,
): { object: UntypedObject; problems: readonly string[] } {
  try {
    const { object, problems } = definition.decode({
      value: mutableCopy(value),
      ...(target.subresource !== '' && { subresource: target.subresource }),
    });
    return { object, problems: definition.isCustom ? problems : problems.toSorted(comparePaths) };
  } catch (error) {
    const isTold = isStatusError(error) && error.message.includes(' cannot be handled as a ');
    throw definition.isCustom && !isTold ? error : undecodablePatch(error, value);
  }
}

/** Compares by paths, key by key, as upstream, which writes the patched object with sorted keys and then decodes it. */
function comparePaths(a: string, b: string): number {
  const [left, right] = [a, b].map((problem) => problem.split(/[.[\]"]+/));
  for (const [index, key] of (left ?? []).entries()) {
    const other = right?.[index] ?? '';
    if (key === other) continue;
    const numbers = Number(key) - Number(other);
    return Number.isNaN(numbers) ? compareText(key, other) : numbers;
  }
  return (left?.length ?? 0) - (right?.length ?? 0);
}

/** Upstream's refusal of a patched object that does not decode, a 422 about nothing in particular. */
export function undecodablePatch(error: unknown, value: unknown): unknown {
  if (!isStatusError(error) || error.status.code !== 400) return error;
  const message = error.message.replace(/^.* cannot be handled as a \S+: /, '');
  return invalid({ group: '', kind: '' }, '', [invalidValue('patch', jsonText(value), message)]);
}

/**
 * Upstream's refusal of unknown fields in a patched object, a 422 about nothing in particular, with the whole object in
 * it.
 */
function strictPatchError(value: unknown, problems: readonly string[]): Error {
  const errors = [invalidValue('patch', jsonText(value), `strict decoding error: ${problems.join(', ')}`)];
  return invalid({ group: '', kind: '' }, '', errors);
}
