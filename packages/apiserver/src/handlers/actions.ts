import { badRequest, conflict, methodNotAllowed } from '../protocol/status.js';
import { formatTime } from '../protocol/go-text.js';
import type { Reply } from '../protocol/api-request.js';
import { isLongBody } from '../codecs/long-body.js';
import { readWriteBody } from './body.js';
import type { Backend, ResourceCall } from './call.js';
import { nextTurn } from '@kctl/wait/internal';
import { textReply } from './reply.js';
import { userInfoOf } from '../authentication/user-info.js';
import {
  accessReviews,
  answerAccessReview,
  answerRulesReview,
  checkAccessReview,
  type AccessReview,
} from '../authorization/reviews.js';
import { dropSystemFields, placeInNamespace, requireNamespace } from './create.js';
import { trackCreate } from './managed-fields.js';
import { beginAdmission } from './admission.js';
import { decodeEviction, evictionOptions, evictStored } from './eviction.js';
import { commitUpdate, retryOnLostRace } from './commit.js';
import { requirePresent } from './update.js';
import { admissionOptions, parseWriteOptions, reportProblems } from './write-options.js';
import {
  decodeTokenRequest,
  issueToken,
  prepareTokenRequest,
  type TokenContext,
} from '../authentication/token-request.js';
import { answerTokenReview, checkTokenReview } from '../authentication/token-review.js';
import type { UntypedObject } from '@kctl/apimachinery';
import { jsonText, goQuoted } from '@kctl/crd/internal/engine';

/** Kinds that are answered and not kept. */
export async function answerUnstored(backend: Backend, call: ResourceCall): Promise<Reply> {
  const { definition, path, user } = call;
  const { plural: resource } = definition;
  const { authorizer } = backend.access;
  const options = parseWriteOptions(call, 'CreateOptions');
  const body = await readWriteBody(call);
  const isLong = isLongBody(body.text);
  if (isLong) await nextTurn();
  const { object: given, problems } = definition.decode({ value: body.value, text: body.text });
  reportProblems(call, [...body.duplicates, ...problems], options.fieldValidation);
  if (isLong) await nextTurn();
  dropSystemFields(given);
  placeInNamespace(call, given);
  await trackCreate(backend, { definition, manager: options.fieldManager, subresource: '' }, given);
  const review = (object: UntypedObject): AccessReview => ({ resource, object, user, namespace: path.namespace });
  if (resource === 'tokenreviews') checkTokenReview(given);
  if (accessReviews.has(resource)) checkAccessReview(review(given));
  const object = await admitAction(backend, call, { object: given });
  if (isLong) await nextTurn();
  if (resource === 'bindings') return assign(backend, podCallOf(backend, call, given.metadata.name ?? ''), object);
  if (accessReviews.has(resource)) {
    const status = answerAccessReview(authorizer, review(object));
    if (isLong) await nextTurn();
    return reviewReply(call, object, status);
  }
  if (resource === 'selfsubjectrulesreviews')
    return reviewReply(call, { metadata: {}, spec: {} }, answerRulesReview(authorizer, review(object)));
  if (resource === 'tokenreviews')
    return reviewReply(call, object, await answerTokenReview(backend.identities.authenticator, object));
  if (resource === 'selfsubjectreviews') {
    const creationTimestamp = formatTime(backend.clock.now());
    const answered = { ...object, metadata: { creationTimestamp } };
    return reviewReply(call, answered, { userInfo: userInfoOf(user) });
  }
  throw methodNotAllowed();
}

function reviewReply(call: ResourceCall, object: UntypedObject, status: unknown): Promise<Reply> {
  const { kind, apiVersion } = call.definition;
  return textReply(201, jsonText({ ...object, kind, apiVersion, status }), call.negotiated);
}

/** Subresources that act, such as binding and eviction of pods and tokens of service accounts. */
export async function answerAction(backend: Backend, call: ResourceCall, name: string): Promise<Reply> {
  if (name === 'binding') return bind(backend, call);
  if (name === 'eviction') return evict(backend, call);
  if (name === 'token') return requestToken(backend, call);
  throw methodNotAllowed();
}

const created = jsonText({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });

/** The older form of `pods/binding`: the binding names its pod itself. */
function podCallOf(backend: Backend, call: ResourceCall, name: string): ResourceCall {
  if (name === '') throw badRequest('Name parameter required.');
  const pods = backend.registry.list().find(({ plural, group }) => plural === 'pods' && group === '');
  if (pods === undefined) throw new Error('the registry has no pods: a binding cannot be assigned');
  return { ...call, definition: pods, path: { ...call.path, name } };
}

async function bind(backend: Backend, call: ResourceCall): Promise<Reply> {
  parseWriteOptions(call, 'CreateOptions');
  const body = await readWriteBody(call);
  const binding = await admitAction(backend, call, { object: asUntyped(body.value), subresource: 'binding' });
  return assign(backend, call, binding);
}

/** Gives a pod to the node that a binding names. */
async function assign(backend: Backend, call: ResourceCall, binding: UntypedObject): Promise<Reply> {
  const target = memberOf(binding, 'target');
  const node = memberOf(target, 'name');
  if (typeof node !== 'string' || node === '') throw badRequest('target.name: Required value');
  await retryOnLostRace(() => {
    const present = requirePresent(backend, call);
    const object = structuredClone(present.in(call.definition).object);
    const { name } = call.path;
    const refused = (why: string): Error => conflict({ group: '', plural: 'pods/binding' }, name, `pod ${name} ${why}`);
    const [assigned, gates] = ['nodeName', 'schedulingGates'].map((field) => memberOf(object['spec'], field));
    if (object.metadata.deletionTimestamp !== undefined)
      throw refused('is being deleted, cannot be assigned to a host');
    if (typeof assigned === 'string' && assigned !== '')
      throw refused(`is already assigned to node ${goQuoted(assigned)}`);
    if (Array.isArray(gates) && gates.length > 0) throw refused('has non-empty .spec.schedulingGates');
    object['spec'] = { ...asObject(object['spec']), nodeName: node };
    const { annotations } = binding.metadata;
    if (annotations !== undefined) object.metadata.annotations = { ...object.metadata.annotations, ...annotations };
    const lastTransitionTime = formatTime(backend.clock.now());
    const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime };
    const conditions = memberOf(object['status'], 'conditions');
    const others: unknown[] = Array.isArray(conditions) ? conditions : [];
    object['status'] = {
      ...asObject(object['status']),
      conditions: [...others.filter((each) => memberOf(each, 'type') !== 'PodScheduled'), scheduled],
    };
    return commitUpdate(backend, { definition: call.definition, object, present, dryRun: call.query.has('dryRun') });
  });
  return textReply(201, created, call.negotiated);
}

async function evict(backend: Backend, call: ResourceCall): Promise<Reply> {
  const options = parseWriteOptions(call, 'CreateOptions');
  const body = await readWriteBody(call);
  const { object, problems } = decodeEviction(body);
  const definition = { ...call.definition, kind: 'Eviction', version: 'v1' };
  reportProblems({ ...call, definition }, [...body.duplicates, ...problems], options.fieldValidation);
  placeInNamespace(call, object);
  const eviction = await admitAction(backend, call, { object, subresource: 'eviction' });
  if ((eviction.metadata.name ?? '') !== call.path.name)
    throw badRequest('name in URL does not match name in Eviction object');
  const deletion = evictionOptions(call, eviction);
  await retryOnLostRace(async () => {
    evictStored(backend, call, deletion);
    return Promise.resolve();
  });
  return textReply(201, created, call.negotiated);
}

async function requestToken(backend: Backend, call: ResourceCall): Promise<Reply> {
  const { path, warnings } = call;
  const { tokens, maxTokenSeconds } = backend.identities;
  const options = parseWriteOptions(call, 'CreateOptions');
  const body = await readWriteBody(call);
  const { object, problems } = decodeTokenRequest(body);
  const definition = { ...call.definition, kind: 'TokenRequest', version: 'v1' };
  const { namespace = '' } = object.metadata;
  if (namespace !== '') placeInNamespace(call, object);
  reportProblems({ ...call, definition }, [...body.duplicates, ...problems], options.fieldValidation);
  const context: TokenContext = {
    store: backend.store,
    tokens,
    maxSeconds: maxTokenSeconds,
    nowMs: backend.clock.now(),
    warn: (text) => warnings.push(text),
  };
  const about = { namespace: path.namespace, name: path.name };
  requireNamespace(backend, call, path.name);
  const prepared = prepareTokenRequest(context, { request: object, ...about });
  const request = await admitAction(backend, call, { object: prepared, subresource: 'token' });
  const issued = await issueToken(context, { request, ...about });
  // A dry run issues a token all the same, as upstream, since nothing of it is kept.
  return textReply(201, jsonText(issued), call.negotiated);
}

/** Both passes of admission over something that is posted and not kept. @throws StatusError */
async function admitAction(
  backend: Backend,
  call: ResourceCall,
  { object, subresource = '' }: { readonly object: UntypedObject; readonly subresource?: string },
): Promise<UntypedObject> {
  using admission = beginAdmission(backend, call, {
    operation: 'CREATE',
    subresource,
    dryRun: call.query.has('dryRun'),
    options: () => admissionOptions(call, 'CreateOptions'),
  });
  if (admission === undefined) return object;
  const name = call.path.name || (object.metadata.name ?? '');
  const admitted = await admission.admit({ name, object });
  await admission.validate({ name, object: admitted });
  return admitted;
}

function asUntyped(value: unknown): UntypedObject {
  const object = asObject(value);
  const metadata = memberOf(value, 'metadata');
  return { ...object, metadata: asObject(metadata) };
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
