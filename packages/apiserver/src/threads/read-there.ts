import type { UntypedObject } from '@kctl/apimachinery';
import { parseJsonFast } from '../json/strict-json.js';
import { seededRandom } from '../process/seeded-random.js';
import { toStatusError } from '../handlers/reply.js';
import { Inquiry } from './inquiry.js';
import type { KnownDefinitions } from './known-definitions.js';
import type { ResourceDefinition } from '../resource/resource.js';
import { isStoredObject } from '../storage/log-files.js';
import { isLongText, longContentOf, objectText } from '../storage/long-object.js';
import type { LongRead, LongReadResult, ReadObject } from '../offload/long-read.js';

function readText(text: string): UntypedObject {
  const object = parseJsonFast(text);
  if (!isStoredObject(object)) throw new TypeError('the stored JSON is not an object');
  return object;
}

function handedOver(
  definition: ResourceDefinition,
  object: UntypedObject,
  stored: UntypedObject | undefined,
): ReadObject {
  const fields = definition.fieldsOf(object);
  if (object === stored) return { fields };
  const text = objectText(object);
  return isLongText(text) ? { long: longContentOf(object), fields } : { text, fields };
}

async function readAll(
  definition: ResourceDefinition,
  stored: readonly UntypedObject[],
): Promise<readonly UntypedObject[]> {
  const { conversion } = definition;
  const called = conversion === undefined ? [] : stored.filter((object) => conversion.needsCall(object));
  const converted = called.length === 0 ? [] : await conversion?.fromStorage(called);
  const byStored = new Map(called.map((object, index) => [object, converted?.[index]]));
  return stored.map((object) => byStored.get(object) ?? definition.fromStorage(object));
}

/** Reads stored objects in this thread, for the thread of the server. */
export async function readThere(definitions: KnownDefinitions, job: LongRead): Promise<LongReadResult> {
  const { crd, version, texts, seed, outcomes } = job;
  definitions.serve(new Set([crd.name]), crd, () => readText(crd.text));
  const [plural = '', ...group] = crd.name.split('.');
  const definition = definitions.registry.find(group.join('.'), version, plural);
  if (definition === undefined) throw new Error(`version ${version} of ${crd.name} is not served`);
  const facts = { isReviewed: false, records: [], tables: [], outcomes, uids: [], decisions: {} };
  const inquiry = new Inquiry(facts, seededRandom(seed));
  definitions.inquiry = inquiry;
  const stored = texts.map(readText);
  try {
    const objects = await Promise.race([readAll(definition, stored), inquiry.stalled]);
    if (objects === undefined) return { type: 'asks', calls: inquiry.asked?.calls ?? [] };
    return { type: 'read', objects: objects.map((object, index) => handedOver(definition, object, stored[index])) };
  } catch (error) {
    return { type: 'failed', status: toStatusError(error).status };
  }
}
