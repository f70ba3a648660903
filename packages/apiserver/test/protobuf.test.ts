/** Golden bytes of Go's serializer (e2e/peers/protobuf), and the answers of a real server of 1.36.3 to the same requests. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { decodeStruct, type JsonObject } from '@kctl/crd/internal/engine';
import { scanJson } from '../src/json/strict-json.js';
import { watchFrame } from '../src/codecs/protobuf-shapes.js';
import { decodeEnvelope, encodeObject, unwrapMessage, wrapMessage } from '../src/protobuf/envelope.js';
import { structOfKind } from '../src/protobuf/kinds.js';
import { encodeMessage } from '../src/protobuf/message.js';
import { builtinKinds } from '../src/resource/builtin-table.js';
import { configMaps, harness, widget, widgetCrd, widgets } from './harness.js';

const type = 'application/vnd.kubernetes.protobuf';

interface Sample {
  readonly name: string;
  readonly object: JsonObject;
  readonly bytes: Buffer;
  readonly event: Buffer | undefined;
}

/** Integers of 64 bits do not survive JSON.parse: the object is read by the scanner that reads bodies. */
function readSamples(): Sample[] {
  const text = readFileSync(new URL('golden/protobuf.jsonl', import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { json: object, protobuf, event } = scanJson(line).value as Record<string, any>;
      return {
        name: `${object.apiVersion} ${object.kind}`,
        object,
        bytes: Buffer.from(protobuf, 'base64'),
        event: event === undefined ? undefined : Buffer.from(event, 'base64'),
      };
    });
}

function pb(object: JsonObject): Uint8Array {
  return encodeObject(object);
}

/** Reads the answer to a request as protobuf. */
async function ask(
  h: Awaited<ReturnType<typeof harness>>,
  path: string,
  init: { method?: string; body?: Uint8Array; accept?: string; contentType?: string } = {},
) {
  const { method = 'GET', body, accept = type, contentType = type } = init;
  const response = await h.server.fetch(path, {
    method,
    headers: { accept, 'content-type': contentType },
    ...(body !== undefined && { body: new Uint8Array(body) }),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const isProtobuf = response.headers.get('content-type')?.startsWith(type) === true;
  const object: any = isProtobuf ? decodeEnvelope(unwrapMessage(bytes)) : JSON.parse(new TextDecoder().decode(bytes));
  return { status: response.status, type: response.headers.get('content-type'), object };
}

describe('protobuf: the bytes of Go', () => {
  const samples = readSamples();

  it('has samples of every built-in kind', () => {
    const known = new Set(samples.map(({ name }) => name));
    const missing = builtinKinds()
      .map(({ group, version, kind }) => `${group === '' ? '' : `${group}/`}${version} ${kind}`)
      .filter((name) => !known.has(name));
    expect(missing).toEqual([]);
  });

  it('writes what Go writes, byte by byte', () => {
    const different = samples.filter(({ object, bytes }) => !bytes.equals(encodeObject(object)));
    expect(different.map(({ name }) => name)).toEqual([]);
  });

  it('reads what Go writes', () => {
    for (const { name, object, bytes } of samples) {
      const { raw, ...envelope } = unwrapMessage(bytes);
      const struct = structOfKind(envelope.apiVersion, envelope.kind)!;
      const read = decodeStruct(decodeEnvelope({ ...envelope, raw })!, struct, []);
      expect(read, name).toEqual(decodeStruct(object, struct, []));
    }
  });

  it('keeps integers of 64 bits, explicit zeros of pointers, and neither field that it does not know', () => {
    const struct = structOfKind('apps/v1', 'Deployment')!;
    const object = {
      metadata: { name: 'a', generation: 9_007_199_254_740_993n },
      spec: { replicas: 0, selector: {}, template: { metadata: {}, spec: { containers: null } } },
      status: { collisionCount: -1 },
    };
    // Field 2047 with a varint, a fixed32 and a group in it.
    const unknown = Buffer.from([0xf8, 0x7f, 0x05, 0xfd, 0x7f, 1, 2, 3, 4, 0xfb, 0x7f, 0x08, 0x01, 0xfc, 0x7f]);
    const raw = Buffer.concat([unknown, encodeMessage(struct, object)]);
    const read: any = decodeEnvelope({ apiVersion: 'apps/v1', kind: 'Deployment', raw });
    expect(read.metadata.generation).toBe(9_007_199_254_740_993n);
    expect(read.spec.replicas).toBe(0);
    expect(read.status.collisionCount).toBe(-1);
    expect(read.metadata).not.toHaveProperty('namespace');
  });

  it('merges messages that come twice, as Go does', () => {
    const struct = structOfKind('v1', 'ConfigMap')!;
    const parts = [{ metadata: { name: 'a' } }, { metadata: { namespace: 'b', labels: { x: 'y' } } }];
    // Of the second only the fields that are set: zero values on the wire would take the name away again.
    const second = Buffer.from([0x0a, 0x03, 0x1a, 0x01, 0x62]);
    const raw = Buffer.concat([encodeMessage(struct, parts[0]!), second]);
    const read: any = decodeEnvelope({ apiVersion: 'v1', kind: 'ConfigMap', raw });
    expect(read.metadata).toMatchObject({ name: 'a', namespace: 'b' });
  });
});

describe('protobuf: requests and answers', () => {
  it('creates, reads, lists, updates and deletes a built-in kind', async () => {
    const h = await harness();
    const made = await ask(h, configMaps, {
      method: 'POST',
      body: pb({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { k: 'v' } }),
    });
    expect([made.status, made.type, made.object.data]).toEqual([201, type, { k: 'v' }]);
    const read = await ask(h, `${configMaps}/a`);
    expect(read.object).toEqual(made.object);
    const put = await ask(h, `${configMaps}/a`, { method: 'PUT', body: pb({ ...read.object, data: { k: 'w' } }) });
    expect([put.status, put.object.data]).toEqual([200, { k: 'w' }]);
    const list = await ask(h, configMaps);
    expect(list.object).toMatchObject({ kind: 'ConfigMapList', apiVersion: 'v1' });
    expect(list.object.items.map((item: any) => item.metadata.name)).toEqual(['a']);
    const options = pb({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'other' } });
    expect((await ask(h, `${configMaps}/a`, { method: 'DELETE', body: options })).status).toBe(409);
    const gone = await ask(h, `${configMaps}/a`, { method: 'DELETE' });
    expect([gone.status, gone.object.kind, gone.object.details.name]).toEqual([200, 'Status', 'a']);
  });

  it('takes a body without a kind, and answers JSON where JSON is asked for', async () => {
    const h = await harness();
    const raw = encodeMessage(structOfKind('v1', 'ConfigMap')!, { metadata: { name: 'a' } });
    const body = wrapMessage({ apiVersion: '', kind: '', raw });
    const made = await ask(h, configMaps, { method: 'POST', body, accept: 'application/json' });
    expect([made.status, made.type, made.object.kind]).toEqual([201, 'application/json', 'ConfigMap']);
  });

  it('writes long lists in slices that make one message', async () => {
    const h = await harness();
    for (let index = 0; index < 1_001; index++)
      await h.post(configMaps, { metadata: { name: `c${String(index).padStart(4, '0')}` } });
    const { object } = await ask(h, `${configMaps}?limit=1000`);
    expect(object.items).toHaveLength(1000);
    expect(object.items[999].metadata.name).toBe('c0999');
    expect(object.metadata).toMatchObject({ remainingItemCount: 1 });
    expect(object.metadata.continue).not.toBe('');
  });

  it('frames a watch: events, bookmarks and the failure that ends it', async () => {
    const h = await harness();
    await h.post(configMaps, { metadata: { name: 'a' }, data: { k: 'v' } });
    const path = `${configMaps}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
    const response = await h.server.fetch(path, { headers: { accept: `${type};stream=watch,${type}` } });
    expect(response.headers.get('content-type')).toBe(`${type};stream=watch`);
    const reader = response.body!.getReader();
    let buffered = Buffer.alloc(0);
    const next = async (): Promise<{ type: string; object: any }> => {
      for (;;) {
        const length = buffered.length < 4 ? Number.POSITIVE_INFINITY : 4 + buffered.readUInt32BE();
        if (buffered.length >= length) {
          const event = buffered.subarray(4, length);
          buffered = buffered.subarray(length);
          return readEvent(event);
        }
        const { value } = await reader.read();
        buffered = Buffer.concat([buffered, value!]);
      }
    };
    expect(await next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' }, data: { k: 'v' } } });
    const end = await next();
    expect(end).toMatchObject({ type: 'BOOKMARK', object: { kind: 'ConfigMap' } });
    expect(end.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
    await h.merge(`${configMaps}/a`, { data: { k: 'w' } });
    expect(await next()).toMatchObject({ type: 'MODIFIED', object: { data: { k: 'w' } } });
    await reader.cancel();
    h.server.faults.add({ match: { verb: 'watch' }, action: { type: 'expireWatch' } });
    const expired = await h.server.fetch(`${configMaps}?watch=1`, { headers: { accept: type } });
    const failure = readEvent(Buffer.from(await expired.arrayBuffer()).subarray(4));
    expect(failure).toMatchObject({ type: 'ERROR', object: { kind: 'Status', code: 410 } });
  });

  it('writes the frames that Go writes', () => {
    const events = readSamples().filter(({ event }) => event !== undefined);
    expect(events.length).toBeGreaterThan(5);
    for (const { name, bytes, event } of events) {
      const frame = Buffer.from(watchFrame('MODIFIED', bytes));
      expect(frame.readUInt32BE(), name).toBe(event?.length);
      expect(frame.subarray(4).equals(event!), name).toBe(true);
    }
  });

  it('answers failures in protobuf where the client accepts it, in YAML, and in JSON where it accepts nothing known', async () => {
    const h = await harness();
    const missing = await ask(h, `${configMaps}/none`);
    expect([missing.status, missing.type]).toEqual([404, type]);
    expect(missing.object).toMatchObject({ kind: 'Status', code: 404, details: { name: 'none', kind: 'configmaps' } });
    const asYaml = await h.get(`${configMaps}/none`, { accept: 'application/yaml' });
    expect([asYaml.headers.get('content-type'), asYaml.text.includes('reason: NotFound')]).toEqual([
      'application/yaml',
      true,
    ]);
    const neither = await ask(h, configMaps, { accept: 'application/cbor' });
    expect([neither.status, neither.type]).toEqual([406, 'application/json']);
    const shaped = `${type};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json`;
    expect((await ask(h, `${configMaps}/none`, { accept: shaped })).type).toBe('application/json');
  });

  it('says as upstream what is wrong with a body', async () => {
    const h = await harness();
    const at = (bytes: readonly number[]) =>
      wrapMessage({ apiVersion: 'v1', kind: 'ConfigMap', raw: Uint8Array.from(bytes) });
    const bodies: [Uint8Array, string][] = [
      [at([0x0a, 0x7f, 1]), 'ConfigMap in version "v1" cannot be handled as a ConfigMap: unexpected EOF'],
      [
        at([0x08, 0x01]),
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: wrong wireType = 0 for field ObjectMeta',
      ],
      [
        at([0x07, 0x01]),
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: proto: ConfigMap: illegal tag 0 (wire type 7)',
      ],
      [
        pb({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }),
        'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion',
      ],
      [
        wrapMessage({ apiVersion: 'v1', kind: 'Nope', raw: new Uint8Array() }),
        'Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
      ],
      [
        Buffer.from('{"hello":1}'),
        'the object provided is unrecognized (must be of type ConfigMap): provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({"hello":1})',
      ],
      [Buffer.from('k8s\0'), 'the object provided is unrecognized (must be of type ConfigMap): empty body (6b387300)'],
    ];
    for (const [body, message] of bodies) {
      const { status, object } = await ask(h, configMaps, { method: 'POST', body, accept: 'application/json' });
      expect([status, object.message]).toEqual([400, message]);
    }
    const deep = Array.from({ length: 200_000 }, () => [0x0a, 0x7f]).flat();
    expect((await ask(h, configMaps, { method: 'POST', body: at(deep) })).status).toBe(400);
  });

  it('shows custom resources as JSON, their metadata alone in protobuf too, and takes none in protobuf', async () => {
    const h = await harness();
    await h.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgetCrd);
    expect((await h.post(widgets, widget('w', { labels: { a: 'b' } }))).status).toBe(201);
    const either = await ask(h, `${widgets}/w`, { accept: `${type},application/json` });
    expect([either.status, either.type]).toEqual([200, 'application/json']);
    const only = await ask(h, widgets);
    expect([only.status, only.type, only.object.reason]).toEqual([406, type, 'NotAcceptable']);
    const partial = await ask(h, widgets, { accept: `${type};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io` });
    expect(partial.object).toMatchObject({ kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' });
    expect(partial.object.items[0].metadata).toMatchObject({ name: 'w', labels: { a: 'b' } });
    const body = pb({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } });
    const accept = 'application/json';
    expect((await ask(h, widgets, { method: 'POST', body, accept })).status).toBe(415);
    const options = pb({ apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' });
    expect((await ask(h, `${widgets}/w`, { method: 'DELETE', body: options, accept })).status).toBe(200);
  });

  it('has no Table in protobuf and no watch in YAML', async () => {
    const h = await harness();
    const table = await ask(h, configMaps, { accept: `${type};as=Table;v=v1;g=meta.k8s.io` });
    expect([table.status, table.type]).toEqual([406, 'application/json']);
    const watch = await h.get(`${configMaps}?watch=1`, { accept: 'application/yaml' });
    expect(watch.status).toBe(406);
    expect(watch.text).toContain('application/json;stream=watch');
  });

  it('serves discovery', async () => {
    const h = await harness();
    expect((await ask(h, '/api')).object).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    const apps = await ask(h, '/apis/apps/v1');
    expect(apps.object.resources.find(({ name }: any) => name === 'deployments')).toMatchObject({
      namespaced: true,
      shortNames: ['deploy'],
      verbs: expect.arrayContaining(['watch']),
    });
    expect((await ask(h, '/apis')).object.groups.map(({ name }: any) => name)).toContain('apps');
  });

  it('reads and writes a Scale', async () => {
    const h = await harness();
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const labels = { app: 'a' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a' }] } };
    await h.post(deployments, { metadata: { name: 'd' }, spec: { selector: { matchLabels: labels }, template } });
    const scale = await ask(h, `${deployments}/d/scale`);
    expect(scale.object).toMatchObject({ kind: 'Scale', spec: { replicas: 1 } });
    const body = pb({ ...scale.object, spec: { replicas: 3 } });
    expect((await ask(h, `${deployments}/d/scale`, { method: 'PUT', body })).object.spec).toEqual({ replicas: 3 });
  });
});

/** A WatchEvent: type, and the object inside of a RawExtension. */
function readEvent(event: Buffer): { type: string; object: any } {
  const typeLength = event[1]!;
  const start = event.indexOf('k8s\0');
  return {
    type: event.subarray(2, 2 + typeLength).toString(),
    object: decodeEnvelope(unwrapMessage(event.subarray(start))),
  };
}
