import { badRequest, conflict, notImplemented } from '../registry/status.js';
import { formatTime } from '../codecs/go-text.js';
import type { Reply } from '../server/api-request.js';
import { jsonText } from '../storage/json-text.js';
import { readWriteBody } from './body.js';
import type { Backend, ResourceCall } from './call.js';
import { textReply } from './reply.js';
import { deleteStored, plainDeletion } from './delete.js';
import { commitUpdate, retryOnLostRace } from './commit.js';
import { requirePresent } from './update.js';
import type { UntypedObject } from '@kctl/apimachinery';

const accessReviews = new Set(['selfsubjectaccessreviews', 'subjectaccessreviews', 'localsubjectaccessreviews']);

/** Kinds that are answered and not kept. Everybody who is known may do everything, so access reviews say yes. */
export async function answerUnstored(_backend: Backend, call: ResourceCall): Promise<Reply> {
  const { definition, user } = call;
  const body = await readWriteBody(call);
  const { object } = definition.decode({ value: body.value, text: body.text });
  if (accessReviews.has(definition.plural)) return reviewReply(call, object, { allowed: true });
  if (definition.plural === 'selfsubjectreviews')
    return reviewReply(call, object, { userInfo: { username: user.name, groups: user.groups } });
  throw notImplemented(`${definition.plural} are not implemented by this server yet`);
}

function reviewReply(call: ResourceCall, object: UntypedObject, status: unknown): Promise<Reply> {
  const { kind, apiVersion } = call.definition;
  return textReply(201, jsonText({ ...object, kind, apiVersion, status }), call.negotiated);
}

/** Subresources that act: binding and eviction of pods. */
export async function answerAction(backend: Backend, call: ResourceCall, name: string): Promise<Reply> {
  if (name === 'binding') return bind(backend, call);
  if (name === 'eviction') return evict(backend, call);
  throw notImplemented(`${call.definition.plural}/${name} is not implemented by this server yet`);
}

const created = jsonText({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });

async function bind(backend: Backend, call: ResourceCall): Promise<Reply> {
  const body = await readWriteBody(call);
  const target = memberOf(body.value, 'target');
  const node = memberOf(target, 'name');
  if (typeof node !== 'string' || node === '') throw badRequest('target.name: Required value');
  await retryOnLostRace(
    () => {
      const present = requirePresent(backend, call);
      const object = structuredClone(present.in(call.definition).object);
      const assigned = memberOf(object['spec'], 'nodeName');
      if (typeof assigned === 'string' && assigned !== '')
        throw conflict(
          { group: '', plural: 'pods/binding' },
          call.path.name,
          `pod ${call.path.name} is already assigned to node ${JSON.stringify(assigned)}`,
        );
      object['spec'] = { ...asObject(object['spec']), nodeName: node };
      const lastTransitionTime = formatTime(backend.clock.now());
      const scheduled = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime };
      const conditions = memberOf(object['status'], 'conditions');
      const others: unknown[] = Array.isArray(conditions) ? conditions : [];
      object['status'] = {
        ...asObject(object['status']),
        conditions: [...others.filter((each) => memberOf(each, 'type') !== 'PodScheduled'), scheduled],
      };
      return commitUpdate(backend, { definition: call.definition, object, present, dryRun: call.query.has('dryRun') });
    },
    () => conflict(call.definition, call.path.name),
  );
  return textReply(201, created, call.negotiated);
}

async function evict(backend: Backend, call: ResourceCall): Promise<Reply> {
  await call.request.readBody();
  await retryOnLostRace(
    () =>
      deleteStored(backend, call.definition, {
        present: requirePresent(backend, call),
        options: { ...plainDeletion, dryRun: call.query.has('dryRun') },
      }),
    () => conflict(call.definition, call.path.name),
  );
  return textReply(201, created, call.negotiated);
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
