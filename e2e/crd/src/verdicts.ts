/**
 * `verdicts [--objects N] [--schemas N] [--seed S]`: random objects and updates over random schemas, judged by
 * `resource.validate` and by a real API server: same verdict, same fields, same stored object.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { defineResource, fromJsonSchema, isResourceDefinitionError } from '@kctl/crd';
import { startRealApiServer } from '@kctl/kube-apiserver';
import { Agent, request } from 'undici';
import { Random } from './random.js';
import { node, type Json } from './random-schema.js';
import { mutated, valueFor } from './random-value.js';

const { values } = parseArgs({
  options: {
    objects: { type: 'string', default: '20000' },
    schemas: { type: 'string', default: '30' },
    seed: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
  },
});
const [total, schemas, seed] = [Number(values.objects), Number(values.schemas), Number(values.seed)];

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const server = await startRealApiServer();
const agent = new Agent({ connect: { ca: server.caPem }, connections: 8 });

interface Answer {
  readonly status: number;
  readonly body: Json;
}

async function call(method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown): Promise<Answer> {
  const response = await request(`${server.url}${path}`, {
    method,
    dispatcher: agent,
    headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.body.text();
  const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: response.statusCode, body: isObject(parsed) ? parsed : {} };
}

function define(
  index: number,
  random: Random,
): { resource: ReturnType<typeof makeResource>; spec: Json; refused: number } {
  for (let refused = 0; ; refused++) {
    const spec: Json = { ...node(random, 0) };
    if (spec['type'] !== 'object' || !isObject(spec['properties'])) continue;
    delete spec['nullable'];
    try {
      return { resource: makeResource(index, spec), spec, refused };
    } catch (error) {
      if (!isResourceDefinitionError(error)) throw error;
    }
  }
}

function makeResource(index: number, spec: Json) {
  return defineResource({
    group: 'verdicts.kctl.dev',
    kind: `Kind${String(index)}`,
    scope: 'Cluster',
    versions: { v1: { spec: fromJsonSchema<unknown>(spec) } },
  });
}

function causesOf(body: Json): { field: string; message: string; reason: string }[] {
  const details = isObject(body['details']) ? body['details'] : {};
  const causes = Array.isArray(details['causes']) ? details['causes'].filter(isObject) : [];
  return causes.map(({ field, message, reason }) => ({
    field: String(field),
    message: String(message),
    reason: String(reason),
  }));
}

interface Difference {
  readonly what: string;
  readonly schema: number;
  readonly object: unknown;
  readonly old?: unknown;
  readonly ours: unknown;
  readonly theirs: unknown;
}
const differences: Difference[] = [];
const counts = {
  objects: 0,
  updates: 0,
  accepted: 0,
  refused: 0,
  causes: 0,
  otherMessages: 0,
  messagesOfChance: 0,
  schemas: 0,
  redrawn: 0,
};

/** One version of the resources, and where it is served. */
interface Served {
  readonly schema: number;
  readonly resource: ReturnType<typeof makeResource>;
}

async function judge({ schema, resource }: Served, path: string, object: Json, old?: Json): Promise<void> {
  const ours = resource.validate({ metadata: {}, spec: {}, ...object }, old === undefined ? {} : { old });
  const theirs = await call(old === undefined ? 'POST' : 'PUT', `${path}?dryRun=All`, object);
  counts[old === undefined ? 'objects' : 'updates'] += 1;
  const place = { schema, object, ...(old !== undefined && { old }) };
  const isTaken = theirs.status < 300;
  counts[isTaken ? 'accepted' : 'refused'] += 1;
  if (isTaken !== ours.isValid) {
    differences.push({
      what: 'verdict',
      ...place,
      ours: ours.message,
      theirs: theirs.body['message'] ?? theirs.status,
    });
    return;
  }
  if (isTaken) {
    const [stored, local] = [theirs.body['spec'], Reflect.get(ours.object, 'spec')];
    if (!isDeepStrictEqual(stored, local))
      differences.push({ what: 'stored object', ...place, ours: local, theirs: stored });
    return;
  }
  const expected = causesOf(theirs.body);
  counts.causes += expected.length;
  const fields = (all: readonly { field: string }[]): string[] => all.map(({ field }) => field).sort();
  if (!isDeepStrictEqual(fields(expected), fields(ours.errors))) {
    differences.push({ what: 'fields', ...place, ours: ours.errors, theirs: theirs.body['message'] });
  } else {
    const texts = (all: readonly { message: string }[]): string[] => all.map(({ message }) => message).sort();
    if (isDeepStrictEqual(texts(expected), texts(ours.errors))) return;
    // An object that differs in one field and cannot be compared in another is refused for either of them: Go goes through
    // its fields in an order of chance. The same request gives both messages then.
    for (let attempt = 0; attempt < 40; attempt++) {
      const again = await call(old === undefined ? 'POST' : 'PUT', `${path}?dryRun=All`, object);
      if (isDeepStrictEqual(texts(causesOf(again.body)), texts(ours.errors))) {
        counts.messagesOfChance += 1;
        return;
      }
    }
    counts.otherMessages += 1;
    if (counts.otherMessages <= 5) console.log('other message', JSON.stringify([texts(expected), texts(ours.errors)]));
  }
}

async function install(manifest: object, path: string): Promise<void> {
  const created = await call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', manifest);
  if (created.status !== 201)
    throw new Error(`the API server refuses a definition: ${JSON.stringify(created.body['message'])}`);
  for (let attempt = 0; attempt < 400; attempt++) {
    const { status } = await call('GET', path);
    if (status === 200) return;
    await delay(25);
  }
  throw new Error(`${path} is not served`);
}

const started = process.hrtime.bigint();
try {
  for (let index = 0; index < schemas; index++) {
    const random = new Random(seed * 1000 + index);
    const { resource, spec, refused } = define(index, random);
    counts.schemas += 1;
    counts.redrawn += refused;
    const path = `/apis/verdicts.kctl.dev/v1/${resource.plural}`;
    await install(resource.manifest, path);
    const each = Math.ceil(total / schemas);
    const { apiVersion, kind } = resource;
    const olds: Json[] = [];
    let left = each;
    while (left > 0) {
      const batch: Promise<void>[] = [];
      for (let count = 0; count < 8 && left > 0; count++, left--) {
        const old = olds.length > 0 && random.chance(0.5) ? olds[random.below(olds.length)] : undefined;
        const metadata = old?.['metadata'] ?? { name: `object-${String(left)}` };
        const next = old === undefined ? valueFor(random, spec) : mutated(random, old['spec'], spec);
        const object = { apiVersion, kind, metadata, spec: next };
        const target = isObject(metadata) && old !== undefined ? `${path}/${String(metadata['name'])}` : path;
        batch.push(judge({ schema: index, resource }, target, object, old));
        if (old === undefined && olds.length < 10) {
          batch.push(
            call('POST', path, { ...object, metadata: { name: `stored-${String(left)}` } }).then(
              ({ status, body }) => void (status === 201 && olds.push(body)),
            ),
          );
        }
      }
      await Promise.all(batch);
    }
  }
} finally {
  await agent.close();
  await server.stop();
}
const seconds = Number((process.hrtime.bigint() - started) / 1_000_000n) / 1000;
for (const difference of differences.slice(0, 10)) console.log(JSON.stringify(difference));
const result = {
  server: server.version,
  seed,
  ...counts,
  seconds: Math.round(seconds),
  differences: differences.length,
};
console.log(JSON.stringify(result));
if (values.write) {
  const folder = join(import.meta.dirname, '..', 'results');
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'verdicts.json');
  const known: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  const rows = Array.isArray(known) ? known.filter(isObject).filter((row) => row['seed'] !== seed) : [];
  rows.push(result);
  rows.sort((a, b) => Number(a['seed']) - Number(b['seed']));
  writeFileSync(file, `${JSON.stringify(rows, null, 2)}\n`);
}
console.log(
  `${String(counts.objects + counts.updates)} objects and updates, ${String(differences.length)} differences`,
);
process.exitCode = differences.length === 0 ? 0 : 1;
