/**
 * `definitions [--definitions N] [--seed S]`: random definitions, most of them with something that is not allowed where it
 * stands, judged by `validateCrd` and by a real API server: same verdict. Where both refuse one, the fields that one
 * of them alone names are counted.
 */
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { toCauses, validateCrd } from '@kctl/crd/internal/engine';
import { startRealApiServer } from '@kctl/kube-apiserver';
import { Agent, request } from 'undici';
import { Random } from './random.js';
import { node, type Json } from './random-schema.js';

const { values } = parseArgs({
  options: { definitions: { type: 'string', default: '2000' }, seed: { type: 'string', default: '1' } },
});
const [total, seed] = [Number(values.definitions), Number(values.seed)];

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const text = { type: 'string' };
const either = [{ type: 'integer' }, { type: 'string' }];

/** Keywords that are not allowed everywhere. */
const oddities: readonly Json[] = [
  ...['atomic', 'granular', 'set'].map((type) => ({ 'x-kubernetes-map-type': type })),
  ...['atomic', 'set', 'map', 'bag'].map((type) => ({ 'x-kubernetes-list-type': type })),
  { 'x-kubernetes-list-map-keys': ['name'] },
  { 'x-kubernetes-preserve-unknown-fields': true },
  { 'x-kubernetes-preserve-unknown-fields': false },
  { 'x-kubernetes-int-or-string': true },
  { 'x-kubernetes-embedded-resource': true },
  { additionalProperties: true },
  { additionalProperties: false },
  { default: { kind: 'A' } },
  { default: { apiVersion: 'a/v1', kind: 'A' } },
  {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
    default: { kind: '' },
  },
  { anyOf: [] },
  { additionalProperties: text },
  {
    properties: {
      metadata: { type: 'object', properties: { labels: { type: 'object', additionalProperties: text } } },
    },
  },
  { properties: { metadata: text, kind: { type: 'integer' } } },
  { items: text },
  { type: 'null' },
  { type: 'object' },
  { type: 'array' },
  { nullable: true },
  { title: 'a title', description: 'a text' },
  { anyOf: either },
  { allOf: [{ anyOf: either }] },
  { allOf: [{ allOf: [{ anyOf: either }] }] },
  { anyOf: [{ properties: { alpha: { minLength: 1 }, other: {} } }] },
  { oneOf: [{ items: { minLength: 1 } }] },
  { not: { title: 'a', nullable: true, default: 1 } },
  { allOf: [{ 'x-kubernetes-map-type': 'atomic', 'x-kubernetes-preserve-unknown-fields': false }] },
  { uniqueItems: true },
];

/** Every schema below one, itself included. */
function schemasIn(schema: Json): Json[] {
  const { properties, items, additionalProperties } = schema;
  const below = [...(isObject(properties) ? Object.values(properties) : []), items, additionalProperties];
  return [schema, ...below.filter(isObject).flatMap(schemasIn)];
}

function definition(random: Random): Json {
  const root: Json = { type: 'object', properties: { spec: node(random, 0) } };
  if (random.chance(0.2))
    Object.assign(root, { properties: { ...Object(root['properties']), metadata: { type: 'object' } } });
  for (let count = random.below(3); count > 0; count--) {
    const places = schemasIn(root);
    const place = places[random.below(places.length)] ?? root;
    Object.assign(place, structuredClone(oddities[random.below(oddities.length)] ?? {}));
  }
  const version: Json = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: root } };
  if (random.chance(0.2)) version['subresources'] = { status: {} };
  if (random.chance(0.1))
    version['additionalPrinterColumns'] = [
      { name: 'a', type: 'string', jsonPath: random.pick(['.spec[', '.a.b', 'a']) },
    ];
  if (random.chance(0.1)) {
    const specReplicasPath = random.pick(['.spec.a[0].r', '.spec.r', '.status.r']);
    version['subresources'] = {
      ...Object(version['subresources']),
      scale: { specReplicasPath, statusReplicasPath: '.status.r' },
    };
  }
  if (random.chance(0.1)) {
    version['deprecated'] = random.chance(0.8);
    version['deprecationWarning'] = random.pick(['', 'soon', 'a\tb', 'ä'.repeat(129), '\u200d', '😀']);
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'foos.definitions.kctl.dev' },
    spec: {
      group: 'definitions.kctl.dev',
      scope: 'Namespaced',
      names: { plural: 'foos', singular: 'foo', kind: 'Foo', listKind: 'FooList' },
      conversion: { strategy: 'None' },
      versions: [version],
    },
  };
}

const server = await startRealApiServer();
const agent = new Agent({ connect: { ca: server.caPem } });

async function theirs(body: Json): Promise<{ fields: readonly string[]; message: string } | undefined> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All';
  const response = await request(`${server.url}${path}`, {
    method: 'POST',
    dispatcher: agent,
    headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const status: unknown = await response.body.json();
  const details = isObject(status) && isObject(status['details']) ? status['details'] : {};
  const causes = Array.isArray(details['causes']) ? details['causes'].filter(isObject) : [];
  const message = isObject(status) ? String(status['message']) : '';
  // What cannot be decoded is not judged here.
  if (response.statusCode === 400) return undefined;
  return { fields: fieldsOf(causes), message };
}

function fieldsOf(causes: readonly object[]): string[] {
  return [
    ...new Set(causes.map((cause) => `${String(Reflect.get(cause, 'field'))} ${String(Reflect.get(cause, 'reason'))}`)),
  ].sort();
}

const counts = { definitions: 0, taken: 0, refused: 0, undecodable: 0, verdicts: 0, fields: 0 };
try {
  for (let index = 0; index < total; index++) {
    const body = definition(new Random(seed * 1_000_003 + index));
    const expected = await theirs(body);
    counts.definitions += 1;
    if (expected === undefined) {
      counts.undecodable += 1;
      continue;
    }
    const isTaken = expected.fields.length === 0;
    counts[isTaken ? 'taken' : 'refused'] += 1;
    const copy = structuredClone(body);
    const found = validateCrd({
      ...copy,
      metadata: { name: 'foos.definitions.kctl.dev' },
      status: { storedVersions: ['v1'] },
    });
    const ours = fieldsOf(toCauses(found));
    if (isDeepStrictEqual(ours, expected.fields)) continue;
    const isOtherVerdict = (ours.length === 0) !== isTaken;
    counts[isOtherVerdict ? 'verdicts' : 'fields'] += 1;
    if (!isOtherVerdict) continue;
    const only = (a: readonly string[], b: readonly string[]): string[] => a.filter((each) => !b.includes(each));
    console.log(index, JSON.stringify(body), {
      theirs: only(expected.fields, ours),
      ours: only(ours, expected.fields),
    });
  }
} finally {
  await agent.close();
  await server.stop();
}
console.log(counts);
console.log(`${counts.definitions} definitions, ${counts.verdicts} differences`);
process.exitCode = counts.verdicts === 0 ? 0 : 1;
