/**
 * `libraries [--schemas N] [--values N] [--seed S]`: random types in zod, Valibot, ArkType and TypeBox with values. Unless the
 * definition is refused, what the API server stores is what the library takes, and it refuses nothing that the library
 * takes; `resource.validate` agrees with the server.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { defineResource, isResourceDefinitionError } from '@kctl/crd';
import { startRealApiServer } from '@kctl/kube-apiserver';
import { Agent, request } from 'undici';
import { libraries, type LibrarySchema } from './library-schemas.js';
import { Random } from './random.js';
import { Shapes, valueOf, type Shape } from './random-shape.js';

const { values } = parseArgs({
  options: {
    schemas: { type: 'string', default: '60' },
    values: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
  },
});
const [schemas, perSchema, seed] = [Number(values.schemas), Number(values.values), Number(values.seed)];

const server = await startRealApiServer();
const agent = new Agent({ connect: { ca: server.caPem }, connections: 8 });

async function call(method: 'GET' | 'POST', path: string, body?: unknown): Promise<{ status: number; body: object }> {
  const response = await request(`${server.url}${path}`, {
    method,
    dispatcher: agent,
    headers: { authorization: `Bearer ${server.adminToken}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.body.text();
  const parsed: unknown = text.startsWith('{') ? JSON.parse(text) : {};
  return { status: response.statusCode, body: Object(parsed) };
}

function makeResource(kind: string, { spec }: LibrarySchema) {
  return defineResource({ group: 'libraries.kctl.dev', kind, scope: 'Cluster', versions: { v1: { spec } } });
}

const counts = { definitions: 0, refused: 0, values: 0, taken: 0, dropped: 0, listsForObjects: 0 };
const reasons = new Map<string, number>();
const differences: object[] = [];

async function install(manifest: object, path: string): Promise<void> {
  const created = await call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', manifest);
  if (created.status !== 201)
    throw new Error(`the API server refuses a definition: ${JSON.stringify(Reflect.get(created.body, 'message'))}`);
  for (let attempt = 0; attempt < 400; attempt++) {
    if ((await call('GET', path)).status === 200) return;
    await delay(25);
  }
  throw new Error(`${path} is not served`);
}

async function compare(random: Random, kind: string, shape: Shape, library: string): Promise<void> {
  const schema = libraries[library]?.(shape);
  if (schema === undefined) throw new Error(`no library ${library}`);
  let resource: ReturnType<typeof makeResource>;
  try {
    resource = makeResource(kind, schema);
  } catch (error) {
    if (!isResourceDefinitionError(error)) throw error;
    counts.refused += 1;
    const reason = /: ((?:a|an) [a-z ]+):/.exec(error.message)?.[1] ?? error.message;
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    return;
  }
  counts.definitions += 1;
  const path = `/apis/libraries.kctl.dev/v1/${resource.plural}`;
  await install(resource.manifest, path);
  const { apiVersion } = resource;
  const drawn = Array.from({ length: perSchema }, () => valueOf(random, shape));
  await Promise.all(
    drawn.map(async (spec) => {
      counts.values += 1;
      const object = { apiVersion, kind, metadata: { name: 'x' }, spec };
      const theirs = await call('POST', `${path}?dryRun=All`, object);
      const ours = resource.validate({ ...object, spec: structuredClone(spec) });
      const isTaken = theirs.status === 201;
      const stored: unknown = Reflect.get(theirs.body, 'spec');
      const note = (what: string): void =>
        void differences.push({ what, library, spec, stored, manifest: resource.manifest, message: ours.message });
      if (isTaken !== ours.isValid) note('verdicts of validate and of the server');
      else if (isTaken && !isDeepStrictEqual(stored, Reflect.get(ours.object, 'spec'))) note('stored objects');
      if (!isTaken && schema.takes(spec)) {
        // An object without required fields takes a list in Valibot and ArkType, which no definition means.
        if (/must be of type object: "array"/.test(ours.message)) counts.listsForObjects += 1;
        else note('the library takes what the server refuses');
      }
      if (isTaken) {
        counts.taken += 1;
        // Unknown fields, and null in fields that have none, are dropped: the library looks at what is left.
        if (!isDeepStrictEqual(stored, spec)) counts.dropped += 1;
        if (!schema.takes(stored)) note('the server stores what the library refuses');
      }
    }),
  );
}

try {
  for (let index = 0; index < schemas; index++) {
    const random = new Random(seed * 1000 + index);
    const shape = new Shapes(random).object(0);
    const library = Object.keys(libraries)[index % 4] ?? '';
    await compare(random, `Kind${String(index)}`, shape, library);
  }
} finally {
  await agent.close();
  await server.stop();
}
for (const difference of differences.slice(0, 10)) console.log(JSON.stringify(difference));
console.log(JSON.stringify({ server: server.version, seed, ...counts, reasons: Object.fromEntries(reasons) }));
console.log(
  `${String(counts.definitions)} definitions, ${String(counts.values)} values, ${String(differences.length)} differences`,
);
process.exitCode = differences.length === 0 ? 0 : 1;
