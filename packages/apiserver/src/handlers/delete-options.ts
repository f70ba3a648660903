import { invalidValue, isObject, notSupported, type FieldError, type JsonObject } from '@kctl/crd/engine';
import { parseBoolParameter, parseIntParameter } from '../codecs/go-text.js';
import { parseBody, type ProtobufBody } from '../codecs/body.js';
import { badRequest, invalidOptions } from '../registry/status.js';
import { syntaxProblem } from './body.js';
import type { ResourceCall } from './call.js';
import type { DeletionWish } from './lifecycle.js';
import { checkDryRun } from './write-options.js';

/** Parameters of a DELETE. */
export interface DeleteOptions extends DeletionWish {
  readonly dryRun: boolean;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  /** The options as they were given: what admission shows. */
  readonly given: JsonObject;
}

function member(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null ? Reflect.get(object, name) : undefined;
}

const policies = ['Foreground', 'Background', 'Orphan'] as const;

function isPolicy(value: unknown): value is (typeof policies)[number] {
  return policies.some((policy) => policy === value);
}

/** Options from the body, or from the query where there is no body. @throws StatusError 400, 415, 422 */
export async function readDeleteOptions(call: ResourceCall): Promise<DeleteOptions> {
  const { request, query } = call;
  const bytes = await request.readBody();
  const body = bytes.length === 0 ? undefined : await parseOptions(call, bytes);
  const kind = member(body, 'kind');
  if (kind !== undefined && kind !== 'DeleteOptions')
    throw badRequest('decoded object cannot be converted to DeleteOptions');
  const given = body ?? {
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    gracePeriodSeconds: parseIntParameter(query, 'gracePeriodSeconds'),
    orphanDependents: query.has('orphanDependents') ? parseBoolParameter(query, 'orphanDependents') : undefined,
    ...(query.has('dryRun') && { dryRun: query.getAll('dryRun') }),
  };
  return checkDeleteOptions(given);
}

const protobufOptions: ProtobufBody = {
  apiVersion: 'meta.k8s.io/v1',
  kind: 'DeleteOptions',
  fail: (_given, why) => badRequest(why),
};

async function parseOptions({ request, offload }: ResourceCall, bytes: Uint8Array): Promise<unknown> {
  try {
    const { signal } = request;
    const how = { expected: protobufOptions, offload, signal };
    return (await parseBody(bytes, request.header('content-type'), how)).value;
  } catch (error) {
    const why = syntaxProblem(error);
    throw why === undefined ? error : badRequest(why);
  }
}

/** Options as an eviction contains them, too. @throws StatusError 422 */
export function checkDeleteOptions(given: unknown): DeleteOptions {
  const policy = member(given, 'propagationPolicy') ?? undefined;
  const orphan = member(given, 'orphanDependents') ?? undefined;
  const dryRun = member(given, 'dryRun') ?? [];
  const grace = member(given, 'gracePeriodSeconds') ?? undefined;
  const preconditions = member(given, 'preconditions');
  const errors: FieldError[] = [];
  if (policy !== undefined && orphan !== undefined)
    errors.push(
      invalidValue('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'),
    );
  if (policy !== undefined && !isPolicy(policy))
    errors.push(notSupported('propagationPolicy', policy, [...policies, 'nil']));
  const dryRunValues = Array.isArray(dryRun) ? dryRun.map(String) : [];
  errors.push(...checkDryRun(dryRunValues));
  if (errors.length > 0) throw invalidOptions('DeleteOptions', errors);
  const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
  return {
    policy: isPolicy(policy) ? policy : undefined,
    orphanDependents: typeof orphan === 'boolean' ? orphan : undefined,
    gracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
    dryRun: dryRunValues.includes('All'),
    uid: text(member(preconditions, 'uid')),
    resourceVersion: text(member(preconditions, 'resourceVersion')),
    given: shown(given),
  };
}

/** DeleteOptions as Go prints them: what is not set is left out. */
function shown(given: unknown): JsonObject {
  const set = isObject(given) ? Object.entries(given).filter(([, value]) => value !== undefined && value !== null) : [];
  return { ...Object.fromEntries(set), kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' };
}

/** What the server itself deletes with: no wishes, no conditions. */
export const plainDeletion: DeleteOptions = {
  policy: undefined,
  orphanDependents: undefined,
  gracePeriodSeconds: undefined,
  dryRun: false,
  uid: undefined,
  resourceVersion: undefined,
  given: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
};
