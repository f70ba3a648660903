/**
 * `changes [--changes N] [--seed S]`: random changes of definitions with objects stored under the old one. The real API
 * server takes the new one, and shows what becomes of the objects: the verdict of `diffCrd` must agree.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { defineResource, diffCrd, fromJsonSchema, isResourceDefinitionError } from '@kctl/crd';
import { startRealApiServer } from '@kctl/kube-apiserver';
import { Agent, request } from 'undici';
import { changed } from './random-change.js';
import { Random } from './random.js';
import { node, type Json } from './random-schema.js';
import { valueFor } from './random-value.js';
import { versionChanges } from './version-changes.js';

const { values } = parseArgs({
  options: { changes: { type: 'string', default: '200' }, seed: { type: 'string', default: '1' } },
});
const [total, seed] = [Number(values.changes), Number(values.seed)];
const group = 'changes.kctl.dev';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const server = await startRealApiServer();
const agent = new Agent({ connect: { ca: server.caPem }, connections: 8 });

async function call(method: 'DELETE' | 'GET' | 'POST' | 'PUT', path: string, body?: unknown) {
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

async function until<T>(what: string, probe: () => Promise<T | undefined>): Promise<T> {
  for (let attempt = 0; attempt < 600; attempt++) {
    const found = await probe();
    if (found !== undefined) return found;
    await delay(25);
  }
  throw new Error(`${what}: not within 15 s`);
}

/** A definition whose objects show by `marker` that the API server uses it. */
function resourceOf(index: number, spec: Json, marker: string) {
  return defineResource({
    group,
    kind: `Kind${String(index)}`,
    scope: 'Cluster',
    versions: {
      v1: {
        schema: fromJsonSchema<{ spec?: unknown; marker?: string }>({
          type: 'object',
          properties: { spec, marker: { type: 'string', default: marker } },
        }),
      },
    },
  });
}
type Resource = ReturnType<typeof resourceOf>;

function drawn(index: number, random: Random): { old: Resource; next: Resource; spec: Json; what: readonly string[] } {
  for (;;) {
    const spec: Json = { ...node(random, 0) };
    if (spec['type'] !== 'object' || !isObject(spec['properties'])) continue;
    const { schema, what } = changed(random, spec);
    try {
      return { old: resourceOf(index, spec, 'old'), next: resourceOf(index, schema, 'next'), spec, what };
    } catch (error) {
      if (!isResourceDefinitionError(error)) throw error;
    }
  }
}

/** Paths of what stands in one value and not in the other. A null may also go because its field has a default now. */
function lost(before: unknown, after: unknown, path: string, withNull: boolean): string[] {
  if (before === undefined || (before === null && !withNull)) return [];
  if (Array.isArray(before)) {
    const items: readonly unknown[] = Array.isArray(after) ? after : [];
    return before.flatMap((item: unknown, index) => lost(item, items[index], `${path}[${String(index)}]`, withNull));
  }
  if (isObject(before)) {
    if (!isObject(after)) return [path];
    return Object.keys(before).flatMap((name) => lost(before[name], after[name], `${path}.${name}`, withNull));
  }
  return after === undefined ? [path] : [];
}

const counts = {
  changes: 0,
  objects: 0,
  refused: 0,
  dropped: 0,
  ratcheted: 0,
  listsForTexts: 0,
  compatible: 0,
  narrowing: 0,
  breaking: 0,
};
const differences: object[] = [];

async function tryChange(index: number): Promise<void> {
  const random = new Random(seed * 100_000 + index);
  const { old, next, spec, what } = drawn(index, random);
  const path = `/apis/${group}/v1/${old.plural}`;
  const name = `${old.plural}.${group}`;
  const created = await call('POST', definitions, old.manifest);
  if (created.status !== 201) {
    differences.push({ index, problem: 'the first definition is refused', message: created.body['message'] });
    return;
  }
  await until(`${path} is served`, async () => ((await call('GET', path)).status === 200 ? true : undefined));
  const stored: Json[] = [];
  for (let attempt = 0; attempt < 60 && stored.length < 12; attempt++) {
    const metadata = { name: `object-${String(attempt)}` };
    const body = { apiVersion: old.apiVersion, kind: old.kind, metadata, spec: valueFor(random, spec) };
    const answer = await call('POST', path, body);
    if (answer.status === 201) stored.push(answer.body);
  }
  // Sent back without the field that only shows which definition is used.
  const contents = stored.map(({ marker: _marker, ...object }) => object);
  const installed = await call('GET', `${definitions}/${name}`);
  const diff = diffCrd(installed.body, next.manifest, { objects: contents });
  counts.changes += 1;
  counts[diff.verdict] += 1;
  const place = { index, what, verdict: diff.verdict, changes: diff.changes };
  const metadata = isObject(installed.body['metadata']) ? installed.body['metadata'] : {};
  const resourceVersion = metadata['resourceVersion'];
  const written = await call('PUT', `${definitions}/${name}`, {
    ...next.manifest,
    metadata: { ...next.manifest.metadata, resourceVersion },
  });
  if (written.status !== 200) {
    differences.push({ ...place, problem: 'the definition is refused', message: written.body['message'] });
    return;
  }
  const probe = { apiVersion: old.apiVersion, kind: old.kind, metadata: { name: 'probe' } };
  await until(`${name} is replaced`, async () => {
    const { body } = await call('POST', `${path}?dryRun=All`, probe);
    return body['marker'] === 'next' ? true : undefined;
  });
  for (const object of contents) await judgeObject(object, { next, path, diff, place });
  await call('DELETE', `${definitions}/${name}`);
}

interface Judged {
  readonly next: Resource;
  readonly path: string;
  readonly diff: ReturnType<typeof diffCrd>;
  readonly place: object;
}

async function judgeObject(object: Json, { next, path, diff, place }: Judged): Promise<void> {
  counts.objects += 1;
  const name = isObject(object['metadata']) ? String(object['metadata']['name']) : '';
  const affected = diff.affected.find((each) => each.name === name);
  // Written anew, nothing is excused by what was stored.
  const anew = await call('POST', `${path}?dryRun=All`, { ...object, metadata: { name: `${name}-anew` } });
  const isRefused = anew.status !== 201;
  const gone = isRefused ? [] : lost(object['spec'], anew.body['spec'], 'spec', false);
  const goneOrNull = isRefused ? [] : lost(object['spec'], anew.body['spec'], 'spec', true);
  const fail = (problem: string, more: object = {}): void =>
    void differences.push({ ...place, problem, object: object['spec'], affected, ...more });
  if (isRefused) counts.refused += 1;
  if (gone.length > 0) counts.dropped += 1;
  if (isRefused !== (affected !== undefined && affected.message !== ''))
    fail('refused or not', { theirs: anew.body['message'] });
  const dropped = affected?.dropped ?? [];
  if (!isRefused && (dropped.length === 0 ? gone : goneOrNull).length > 0 !== dropped.length > 0)
    fail('dropped or not', { gone, goneOrNull });
  if (isRefused && diff.verdict === 'compatible') {
    // Where a text has a format, the API server takes a list, too (kube-openapi leaves both to the format's check, which
    // passes a list over). No definition means that, and no other type than text with a format does it.
    if (/must be of type [a-z,]*string: "array"/.test(String(anew.body['message']))) counts.listsForTexts += 1;
    else fail('compatible, and refused', { theirs: anew.body['message'] });
  }
  if (gone.length > 0 && diff.verdict !== 'breaking') fail('not breaking, and data is dropped', { gone });
  // Written back as it was read, what is unchanged is not held against it.
  const read = await call('GET', `${path}/${name}`);
  const back = await call('PUT', `${path}/${name}?dryRun=All`, object);
  const { isValid, message } = next.validate({ metadata: {}, ...object }, { old: { ...read.body } });
  if (isValid !== (back.status === 200)) fail('written back', { ours: message, theirs: back.body['message'] ?? '' });
  if (isRefused && back.status === 200) counts.ratcheted += 1;
}

let versions = 0;
try {
  for (const change of versionChanges(group)) {
    versions += 1;
    const problem = await change.run({ call, until, definitions, diff: diffCrd });
    if (problem !== undefined) differences.push({ change: change.name, problem });
  }
  for (let index = 0; index < total; index += 4) {
    const batch = [index, index + 1, index + 2, index + 3].filter((each) => each < total);
    await Promise.all(batch.map(tryChange));
  }
} finally {
  await agent.close();
  await server.stop();
}
for (const difference of differences.slice(0, 12)) console.log(JSON.stringify(difference));
console.log(JSON.stringify({ server: server.version, seed, versions, ...counts }));
console.log(
  `${String(counts.changes + versions)} changes, ${String(counts.objects)} stored objects, ${String(differences.length)} differences`,
);
process.exitCode = differences.length === 0 ? 0 : 1;
