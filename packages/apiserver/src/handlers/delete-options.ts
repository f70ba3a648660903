import { messageOf } from '@kctl/telemetry/internal';
import {
  compareText,
  decodeStruct,
  goQuoted,
  invalidValue,
  isObject,
  notSupported,
  objectOf,
  type FieldError,
  type JsonObject,
} from '@kctl/crd/internal/engine';
import { goKindOf, noObjectText, parseBoolParameter, parseIntParameter } from '../protocol/go-text.js';
import { mediaTypeOf, parseBody, type ParsedBody, type ProtobufBody } from '../codecs/body.js';
import { bodyStruct } from '../resource/builtin-table.js';
import { requireIntegers } from '../resource/number-literals.js';
import { badRequest, invalidOptions } from '../protocol/status.js';
import { syntaxProblem } from './body.js';
import type { NamedQuery } from '../protocol/named-query.js';
import type { ResourceCall } from './call.js';
import type { deleteParameters, QueryOf } from './parameters.js';
import type { DeletionWish } from './lifecycle.js';
import { checkDryRun } from './write-options.js';

/** Parameters of a DELETE. */
export interface DeleteOptions extends DeletionWish {
  readonly dryRun: boolean;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** The options as received, for admission. */
  readonly given: JsonObject;
}

const policies = ['Foreground', 'Background', 'Orphan'] as const;

function isPolicy(value: unknown): value is (typeof policies)[number] {
  return policies.some((policy) => policy === value);
}

/** Options from the body, or from the query if there is no body. @throws StatusError 400, 415, 422 */
export async function readDeleteOptions(call: ResourceCall): Promise<DeleteOptions> {
  const bytes = await call.request.readBody();
  return checkDeleteOptions(
    bytes.length === 0 ? queryOptions(call.query) : decodeOptions(await parseOptions(call, bytes)),
  );
}

/** The parameters of DeleteOptions, and the preconditions, which are parameters by the names of their fields. */
type DeleteQuery = QueryOf<typeof deleteParameters> & NamedQuery<'uid' | 'resourceVersion'>;

function queryOptions(query: DeleteQuery): JsonObject {
  const given: JsonObject = {};
  const gracePeriodSeconds = parseIntParameter(query, 'gracePeriodSeconds');
  if (gracePeriodSeconds !== undefined) given['gracePeriodSeconds'] = gracePeriodSeconds;
  if (query.has('orphanDependents')) given['orphanDependents'] = parseBoolParameter(query, 'orphanDependents');
  if (query.has('propagationPolicy')) given['propagationPolicy'] = query.get('propagationPolicy');
  if (query.has('dryRun')) given['dryRun'] = query.getAll('dryRun');
  // As upstream, an empty precondition in a query is ignored, unlike one in a body.
  const preconditions = (['uid', 'resourceVersion'] as const).filter((name) => (query.get(name) ?? '') !== '');
  if (preconditions.length > 0)
    given['preconditions'] = Object.fromEntries(preconditions.map((name) => [name, query.get(name)]));
  return given;
}

/** Kinds of the scheme of options that every version has, and those that `meta.k8s.io/v1` alone has. */
const anyVersion: ReadonlySet<string> = new Set(
  'Status,APIVersions,APIGroup,APIGroupList,APIResourceList,CreateOptions,UpdateOptions,PatchOptions'.split(','),
);
const metaVersion: ReadonlySet<string> = new Set(
  'ListOptions,GetOptions,TableOptions,WatchEvent,Table,PartialObjectMetadata,PartialObjectMetadataList'.split(','),
);

/** Decodes a body. @throws StatusError 400 */
function decodeOptions({ value, literals = [], overwritten = [] }: ParsedBody): JsonObject {
  if (value === null) return {};
  if (!isObject(value)) throw badRequest(noObjectText(value));
  for (const members of overwritten) for (const field of ['apiVersion', 'kind'] as const) typeOf(members, field);
  checkType(value);
  const struct = bodyStruct('DeleteOptions');
  try {
    // As upstream, of a key that is there twice both values have to be of its type.
    for (const members of overwritten) decodeStruct(members, struct, []);
    requireIntegers(value, struct, literals);
    const decoded = decodeStruct(value, struct, []);
    // As upstream without its feature gate, it has no effect, and admission does not see it.
    delete decoded['ignoreStoreReadErrorWithClusterBreakingPotential'];
    return decoded;
  } catch (error) {
    throw badRequest(messageOf(error));
  }
}

function checkType(body: JsonObject): void {
  const version = typeOf(body, 'apiVersion') || 'meta.k8s.io/v1';
  const kind = typeOf(body, 'kind') || 'DeleteOptions';
  if (version.split('/').length > 2) throw badRequest(`unexpected GroupVersion string: ${version}`);
  if (kind === 'DeleteOptions') return;
  throw badRequest(
    anyVersion.has(kind) || (version === 'meta.k8s.io/v1' && metaVersion.has(kind))
      ? `converting (v1.${kind}) to (v1.DeleteOptions): unknown conversion`
      : `no kind ${goQuoted(kind)} is registered for version ${goQuoted(version)} in scheme "pkg/runtime/scheme.go:111"`,
  );
}

function typeOf(body: JsonObject, field: 'apiVersion' | 'kind'): string {
  const value = body[field] ?? '';
  if (typeof value === 'string') return value;
  throw badRequest(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${goKindOf(value)} into Go struct field .${field} of type string`,
  );
}

const protobufOptions: ProtobufBody = {
  apiVersion: 'meta.k8s.io/v1',
  kind: 'DeleteOptions',
  fail: (_given, why) => badRequest(why),
};

async function parseOptions({ request, offload }: ResourceCall, bytes: Uint8Array): Promise<ParsedBody> {
  try {
    const { signal } = request;
    const how = { expected: protobufOptions, offload, signal };
    const contentType = request.header('content-type');
    const body = await parseBody(bytes, contentType, how);
    // As upstream, YAML is converted to JSON with sorted members first, and the first member of a wrong type is
    // reported.
    return mediaTypeOf(contentType) === 'application/yaml' ? { ...body, value: sorted(body.value) } : body;
  } catch (error) {
    const why = syntaxProblem(error);
    throw why === undefined ? error : badRequest(why);
  }
}

function sorted(value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => compareText(a, b))) : value;
}

/** Checks decoded options of a deletion or of an eviction. @throws StatusError 422 */
export function checkDeleteOptions(given: JsonObject): DeleteOptions {
  const policy = given['propagationPolicy'] ?? undefined;
  const orphan = given['orphanDependents'] ?? undefined;
  const grace = given['gracePeriodSeconds'];
  const dryRun = dryRunOf(given);
  const errors: FieldError[] = [];
  if (policy !== undefined && orphan !== undefined)
    errors.push(
      invalidValue('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  if (policy !== undefined && !isPolicy(policy))
    errors.push(notSupported('propagationPolicy', policy, [...policies, 'nil']));
  errors.push(...checkDryRun(dryRun));
  if (errors.length > 0) throw invalidOptions('DeleteOptions', errors);
  const { uid, resourceVersion } = objectOf(given['preconditions']);
  return {
    policy: isPolicy(policy) ? policy : undefined,
    orphanDependents: typeof orphan === 'boolean' ? orphan : undefined,
    gracePeriodSeconds: typeof grace === 'number' || typeof grace === 'bigint' ? Number(grace) : undefined,
    dryRun: dryRun.includes('All'),
    uid: typeof uid === 'string' ? uid : undefined,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : undefined,
    given: shown(given),
  };
}

/** The values of `dryRun` in options that have been decoded. */
export function dryRunOf(options: JsonObject): string[] {
  const values = options['dryRun'];
  return Array.isArray(values) ? values.filter((value): value is string => typeof value === 'string') : [];
}

/** DeleteOptions as Go prints them, without unset fields. */
function shown(given: JsonObject): JsonObject {
  const set = Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
  return { ...Object.fromEntries(set), kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' };
}

/** Options of deletions by the server itself, without preferences or conditions. */
export const plainDeletion: DeleteOptions = {
  policy: undefined,
  orphanDependents: undefined,
  gracePeriodSeconds: undefined,
  dryRun: false,
  uid: undefined,
  resourceVersion: undefined,
  given: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
};
