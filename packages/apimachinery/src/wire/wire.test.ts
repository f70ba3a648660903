import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../json-text.js';
import {
  compileFieldPaths,
  createLineSplitter,
  createListSplitter,
  createObjectScan,
  createWatchFrameScan,
  fieldAt,
  framesOfLine,
  headerOf,
  readText,
  mayRepeat,
  scanBodyFields,
  scanObject,
  scanWatchFrame,
  splitPath,
} from './index.js';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (part: Uint8Array): string => Buffer.from(part).toString();

/** Cuts bytes at given places (taken modulo what is left). */
function cut(whole: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (let at = 0, index = 0; at < whole.length; index++) {
    const size = Math.max(1, sizes[index % sizes.length] ?? 1);
    parts.push(whole.subarray(at, at + size));
    at += size;
  }
  return parts;
}

const name = fc.stringMatching(/^[a-z0-9]{1,12}$/);
const item = fc.record({
  metadata: fc.record({
    name,
    namespace: name,
    resourceVersion: fc.nat().map(String),
    annotations: fc.dictionary(fc.string(), fc.string()),
  }),
  spec: fc.jsonValue(),
});
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 });

describe('createListSplitter', () => {
  it.each(['before', 'after'])('cuts any list into its items, with metadata %s them, however it arrives', (place) => {
    fc.assert(
      fc.property(fc.array(item), sizes, fc.boolean(), (items, chunks, isPretty) => {
        const metadata = { resourceVersion: '7', continue: 'items":[' };
        const list =
          place === 'before'
            ? { kind: 'PodList', apiVersion: 'v1', metadata, items }
            : { apiVersion: 'v1', items, kind: 'PodList', metadata };
        const splitter = createListSplitter();
        const found = cut(bytes(isPretty ? JSON.stringify(list, null, 2) : JSON.stringify(list)), chunks).flatMap(
          (chunk) => splitter.push(chunk),
        );
        expect(found.map((part) => JSON.parse(text(part)) as unknown)).toEqual(JSON.parse(JSON.stringify(items)));
        expect(splitter.finish()).toEqual({ kind: 'PodList', apiVersion: 'v1', metadata });
      }),
    );
  });

  it('does not take items of an embedded list for its own', () => {
    const splitter = createListSplitter();
    expect(
      splitter
        .push(bytes('{"metadata":{"items":[{"a":1}]},"extra":"items","other":[1],"items":[{"b":[{"items":[{}]}]}]}'))
        .map(text),
    ).toEqual(['{"b":[{"items":[{}]}]}']);
  });

  it('steps over managedFields, whatever is in them and wherever a chunk ends', () => {
    const managed = [
      '[{"manager":"a]},"},{"fieldsV1":{"f:weird}]},":{},"k:{\\"ip\\":\\"[::1]\\"}":{}}}]',
      '[{"v":"]}"},{"w":"],"}]',
      '[{"list":[{"a":[1]}]},{"x":"]"}]',
      '[]',
      '[ {"a":"\\\\"} ]',
      `[{"f:${'x'.repeat(300)}":{}}]`,
    ];
    const items = managed.flatMap((fields) => [
      `{"metadata":{"name":"a","managedFields":${fields}},"spec":{"managedFields":[{"a":"]},\\""}],"b":"}"}}`,
      `{"metadata":{"managedFields":${fields},"name":"]"}}`,
      `{"metadata":{"managedFields" : ${fields}},"mmmmmmmmmmmmm":[1]}`,
    ]);
    for (const item of items) JSON.parse(item);
    const body = bytes(`{"items":[${items.join(',')}],"metadata":{}}`);
    for (let size = 1; size < 400; size++) {
      const splitter = createListSplitter();
      expect(
        cut(body, [size])
          .flatMap((chunk) => splitter.push(chunk))
          .map(text),
      ).toEqual(items);
      splitter.finish();
    }
  });

  it('takes a list without items and one whose items are null', () => {
    for (const rest of ['"items":[],', '"items":null,', '']) {
      const splitter = createListSplitter();
      expect(splitter.push(bytes(`{"kind":"PodList",${rest}"metadata":{}}`))).toEqual([]);
      expect(splitter.finish()).toEqual({ kind: 'PodList', metadata: {} });
    }
  });

  it.each([
    ['a Table', '{"kind":"Table","metadata":{"resourceVersion":"5"},"rows":[{"cells":[]}]}'],
    ['a Status', '{"kind":"Status","metadata":{},"status":"Success"}'],
    ['anything else without items', '{"message":"please log in"}'],
  ])('does not take %s for an empty list', (_name, body) => {
    const splitter = createListSplitter();
    splitter.push(bytes(body));
    expect(() => splitter.finish()).toThrow(/not a list/u);
  });

  it.each([
    '{"kind":"PodList","items":{}}',
    '{"kind":"PodList","items":{"a":{"b":1}}}',
    '{"kind":"PodList","items":"none"}',
    '{"kind":"PodList","items":5}',
    '{"kind":"PodList","items":false}',
    '{"kind":"PodList","items":[{}],"items":null}',
    '{"kind":"PodList","items":[{}],"items":{}}',
  ])('does not take %s for an empty list', (body) => {
    const splitter = createListSplitter();
    splitter.push(bytes(body));
    expect(() => splitter.finish()).toThrow(/malformed list: items is/u);
  });

  it.each(['\\u0069tems', 'it\\u0065ms', 'item\\u0073', '\\u0069\\u0074\\u0065\\u006d\\u0073'])(
    'finds the items under a key with escape sequences: %s',
    (key) => {
      for (let size = 1; size < 20; size++) {
        const splitter = createListSplitter();
        const items = cut(bytes(`{"a":"i","metadata":{},"${key}" :\n[ {"b":1} ,\t{"c":2} ]}`), [size]);
        expect(items.flatMap((chunk) => splitter.push(chunk)).map(text)).toEqual(['{"b":1}', '{"c":2}']);
        expect(splitter.finish()).toEqual({ metadata: {} });
      }
    },
  );

  it.each(['', '{"items":[{"a":1}', '{"items":[{"a":"x', '{"metadata":{}', '[]', 'nonsense'])(
    'says that %j is not a whole list',
    (body) => {
      const splitter = createListSplitter();
      splitter.push(bytes(body));
      expect(() => splitter.finish()).toThrow(expect.objectContaining({ code: 'KCTL_FRAME' }) as Error);
    },
  );

  it.each([
    '{"items":["a"]}',
    '{"items":[null]}',
    '{"items":[5]}',
    '{"items":[[]]}',
    '{"items":[{}{}]}',
    '{"items":[{},]}',
    '{"items":[,{}]}',
    '{"items":[{},,{}]}',
    '{"items":[{}],"items":[{}]}',
    '{"items":[}',
    '}',
  ])('refuses %j', (body) => {
    expect(() => createListSplitter().push(bytes(body))).toThrow(
      expect.objectContaining({ code: 'KCTL_FRAME' }) as Error,
    );
  });
});

describe('createLineSplitter', () => {
  it('cuts a stream into its documents, however it arrives', () => {
    fc.assert(
      fc.property(fc.array(item), sizes, (items, chunks) => {
        const splitter = createLineSplitter();
        const lines = items.map((one) => `${JSON.stringify(one)}\n`).join('\n');
        expect(
          cut(bytes(lines), chunks)
            .flatMap((chunk) => splitter.push(chunk))
            .map(text),
        ).toEqual(items.map((one) => JSON.stringify(one)));
        expect(splitter.finish()).toBeUndefined();
      }),
    );
  });

  it('hands out what was cut off', () => {
    const splitter = createLineSplitter();
    expect(splitter.push(bytes('{"a":1}\n{"b"')).map(text)).toEqual(['{"a":1}']);
    expect(text(splitter.finish() ?? bytes(''))).toBe('{"b"');
  });
});

describe('scanWatchFrame', () => {
  const scan = createWatchFrameScan();
  it.each([
    ['{"type":"ADDED","object":{"a":{}}}', 'ADDED', '{"a":{}}'],
    ['{"type":"MODIFIED","object":{"a":"}}"}} ', 'MODIFIED', '{"a":"}}"}'],
    ['{"type":"DELETED","object":{}}\r', 'DELETED', '{}'],
    ['{"object":{"a":{}},"type":"BOOKMARK"}', 'BOOKMARK', '{"a":{}}'],
    ['{ "type" : "ERROR" , "object" : {"a":[1]} }', 'ERROR', '{"a":[1]}'],
    ['{"type":"NEWS","object":{}}', '', '{}'],
  ])('reads %s', (frame, type, object) => {
    expect(scanWatchFrame(bytes(frame), scan)).toBe(true);
    expect(scan.type).toBe(type);
    expect(frame.slice(scan.objectStart, scan.objectEnd)).toBe(object);
  });

  it.each([
    '{"type":"ADDED","object":{}}garbage',
    '{"type":"ADDED","object":{}} {"type":"ADDED","object":{}',
    '{"typ\\u0065":"ADDED","object":{}}',
    '{"type":"ADDED","type":"DELETED","object":{}}',
    '{"object":{},"object":{"a":1},"type":"ADDED"}',
    '{"type":["ADDED"],"object":{}}',
  ])('leaves %j to the parser', (frame) => {
    expect(scanWatchFrame(bytes(frame), scan)).toBe(false);
  });

  it.each(['ALTER', 'MANIFEST', 'DELAYED', 'Added', 'ADDED '])('does not know the type %j', (type) => {
    for (const frame of [`{"type":"${type}","object":{}}`, `{"object":{},"type":"${type}"}`]) {
      expect(scanWatchFrame(bytes(frame), scan)).toBe(true);
      expect(scan.type).toBe('');
    }
  });

  it.each(['', '[]', '{"type":"ADDED"}', '{"type":"ADDED","object":{}', 'null', '{"object":{}}'])(
    'refuses %j',
    (frame) => {
      expect(scanWatchFrame(bytes(frame), scan)).toBe(false);
    },
  );
});

describe('scanObject', () => {
  const scan = createObjectScan();
  const labels = fc.dictionary(fc.string({ maxLength: 8 }), fc.string({ maxLength: 8 }));
  const anything = fc.jsonValue();
  const object = fc.record(
    {
      apiVersion: fc.constant('v1'),
      kind: fc.constant('Pod'),
      metadata: fc
        .tuple(
          fc.record({ name }),
          fc.record(
            {
              namespace: name,
              uid: name,
              resourceVersion: fc.nat().map(String),
              generation: fc.nat(),
              deletionTimestamp: fc.constant('2026-01-01T00:00:00Z'),
              labels,
              annotations: labels,
              finalizers: fc.array(fc.string()),
              ownerReferences: fc.array(fc.record({ apiVersion: name, kind: name, name, uid: name })),
              managedFields: fc.array(fc.record({ manager: fc.string(), fieldsV1: anything })),
              other: anything,
            },
            { requiredKeys: [] },
          ),
        )
        .chain(([needed, more]) =>
          fc.shuffledSubarray(Object.entries({ ...needed, ...more }), {
            minLength: Object.keys({ ...needed, ...more }).length,
          }),
        )
        .map((entries) => Object.fromEntries(entries) as { name: string; managedFields?: unknown }),
      spec: fc.record(
        {
          node: fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.constant({})),
          template: fc.record({ metadata: fc.record({ name, managedFields: anything }) }),
          rest: anything,
        },
        { requiredKeys: [] },
      ),
      status: anything,
    },
    { requiredKeys: ['metadata'] },
  );

  it('finds what a parse finds, whatever the order of the keys, and cuts managedFields to valid JSON', () => {
    const paths = compileFieldPaths(['spec.node', 'metadata.name', 'spec.template.metadata.name', 'status']);
    fc.assert(
      fc.property(object, fc.boolean(), fc.boolean(), (value, isPretty, withPaths) => {
        const entries = Object.entries(value).reverse();
        const source = isPretty ? JSON.stringify(value, null, 1) : JSON.stringify(Object.fromEntries(entries));
        const whole = Buffer.from(`xx${source}yy`);
        const end = whole.length - 2;
        const parsed = JSON.parse(source) as { metadata: Record<string, unknown>; kind?: string; apiVersion?: string };
        const isFound = scanObject(whole, 2, end, withPaths ? { scan, paths } : { scan });
        // An apiVersion alone says nothing: it may be passed over where it comes last, and is left to the parser elsewhere.
        if (parsed.kind !== undefined || parsed.apiVersion === undefined)
          expect(isFound).toBe((parsed.kind === undefined) === (parsed.apiVersion === undefined));
        if (!isFound) return;
        const header = headerOf(parsed);
        const part = (from: number, to: number): string => (from < 0 ? '' : readText(whole, from, to));
        expect(part(scan.nameStart, scan.nameEnd)).toBe(header.name);
        expect(part(scan.namespaceStart, scan.namespaceEnd)).toBe(header.namespace);
        expect(part(scan.uidStart, scan.uidEnd)).toBe(header.uid);
        expect(part(scan.resourceVersionStart, scan.resourceVersionEnd)).toBe(header.resourceVersion);
        expect(part(scan.deletionTimestampStart, scan.deletionTimestampEnd)).toBe(header.deletionTimestamp ?? '');
        expect(scan.generation).toBe(header.generation ?? -1);
        if (scan.labelsStart >= 0) expect(JSON.parse(part(scan.labelsStart, scan.labelsEnd))).toEqual(header.labels);
        else expect(header.labels).toEqual({});
        if (scan.ownersStart >= 0)
          expect(JSON.parse(part(scan.ownersStart, scan.ownersEnd))).toEqual(header.ownerReferences);
        expect(part(scan.kindStart, scan.kindEnd)).toBe(parsed.kind ?? '');
        expect(part(scan.apiVersionStart, scan.apiVersionEnd)).toBe(
          parsed.kind === undefined ? '' : (parsed.apiVersion ?? ''),
        );
        expect(JSON.parse(part(scan.metadataStart, scan.metadataEnd))).toEqual(parsed.metadata);
        const { managedFields, ...metadata } = parsed.metadata;
        expect(scan.managedFieldsStart >= 0).toBe(managedFields !== undefined);
        if (scan.managedFieldsStart >= 0)
          expect(JSON.parse(part(2, scan.managedFieldsStart) + part(scan.managedFieldsEnd, end))).toEqual({
            ...parsed,
            metadata,
          });
        if (withPaths) expect(scan.fields).toEqual(paths.paths.map((path) => fieldAt(parsed, splitPath(path))));
      }),
      { numRuns: 400 },
    );
  });

  it('reads paths after metadata as the whole scan does, from no more bytes than it says', () => {
    const paths = compileFieldPaths(['spec.node', 'spec.template.metadata.name']);
    let bounded = 0;
    fc.assert(
      fc.property(object, fc.string(), ({ metadata, kind: _kind, apiVersion: _apiVersion, ...body }, noise) => {
        const whole = Buffer.from(JSON.stringify({ metadata, ...body }));
        expect(scanObject(whole, 0, whole.length, { scan, paths })).toBe(true);
        const expected = [...scan.fields];
        expect(scanObject(whole, 0, whole.length, { scan })).toBe(true);
        expect(scan.isMetadataFirst).toBe(true);
        const end = scanBodyFields(whole, whole.length, { scan, paths });
        expect(scan.fields).toEqual(expected);
        expect(end >= 0).toBe(expected.every((value) => value !== undefined));
        if (end < 0) return;
        bounded++;
        const other = Buffer.concat([whole.subarray(0, end), Buffer.from(noise)]);
        expect(scanBodyFields(other, other.length, { scan, paths })).toBe(end);
        expect(scan.fields).toEqual(expected);
      }),
      { numRuns: 600 },
    );
    expect(bounded).toBeGreaterThan(10);
  });

  it.each([
    ['{"kind":"K","apiVersion":"v1","metadata":{"name":"x"},"spec":{}}', true],
    ['{"apiVersion":"v1","kind":"K","metadata":{"name":"x"}}', true],
    ['{"spec":{},"metadata":{"name":"x"}}', false],
    ['{"apiVersion":"v1","data":{},"kind":"K","metadata":{"name":"x"}}', false],
  ])('knows whether metadata comes first: %s', (source, expected) => {
    const whole = Buffer.from(source);
    expect(scanObject(whole, 0, whole.length, { scan })).toBe(true);
    expect(scan.isMetadataFirst).toBe(expected);
  });

  it.each(['{"metadata":{"name":"x"}', '{"metadata":{"name":"x"},', '{"metadata":{"name":"x"},"spec":{"a":1}'])(
    'leaves a body that it does not understand to the parser: %s',
    (source) => {
      const whole = Buffer.from(source);
      expect(scanObject(whole, 0, whole.length, { scan })).toBe(true);
      expect(scanBodyFields(whole, whole.length, { scan, paths: compileFieldPaths(['spec.node']) })).toBe(-2);
    },
  );

  it.each([
    '',
    '[]',
    '{}',
    '{"metadata":{}}',
    '{"metadata":{"name":1}}',
    '{"metadata":{"name":"\\u0061"}}',
    '{"metadata":{"name":"a"',
    '{"metadata":[]}',
    '{"metadata":{"name":"ä"}}',
    '{"metadata":{"name":""}}',
    '{"metadata":{"n\\u0061me":"a","name":"b"}}',
    '{"m\\u0065tadata":{"name":"a"},"metadata":{"name":"b"}}',
    '{"metadata":{"name":"a","name":"b"}}',
    '{"metadata":{"name":"a"},"metadata":{"name":"b"},"kind":"K","apiVersion":"v1"}',
    '{"metadata":{"name":"a","uid":"\\u0061"}}',
    '{"metadata":{"name":"a","uid":null}}',
    '{"metadata":{"name":"a","uid":"x","uid":"y"}}',
    '{"metadata":{"name":"a","namespace":5}}',
    '{"metadata":{"name":"a","resourceVersion":5}}',
    '{"metadata":{"name":"a","generation":null}}',
    '{"metadata":{"name":"a","generation":-1}}',
    '{"metadata":{"name":"a","generation":1.5}}',
    '{"metadata":{"name":"a","generation":9007199254740993}}',
    '{"metadata":{"name":"a","deletionTimestamp":null}}',
    '{"metadata":{"name":"a","labels":null}}',
    '{"metadata":{"name":"a","labels":{},"labels":{"a":"b"}}}',
    '{"metadata":{"name":"a","ownerReferences":{}}}',
    '{"metadata":{"name":"a","managedFields":null}}',
    '{"kind":null,"apiVersion":"v1","metadata":{"name":"a"}}',
    '{"kind":"K","kind":"L","apiVersion":"v1","metadata":{"name":"a"}}',
    '{"kind":"\\u004b","apiVersion":"v1","metadata":{"name":"a"}}',
    '{"kind":"K","metadata":{"name":"a"}}',
    '{"apiVersion":"v1","metadata":{"name":"a"}}',
  ])('leaves %j to the parser', (source) => {
    const whole = bytes(source);
    expect(scanObject(whole, 0, whole.length, { scan })).toBe(false);
  });

  it.each([
    '[{"manager":"a]},"},{"fieldsV1":{"f:weird}]},":{},"k:{\\"ip\\":\\"[::1]\\"}":{}}}]',
    '[{"v":"]}"},{"w":"],"}]',
    '[{"list":[{"a":[1]}]},{"x":"]"}]',
    '[]',
    '[ {"a":"\\\\"} ]',
  ])('cuts managedFields exactly, whatever is in them: %s', (managed) => {
    for (const rest of ['},"spec":{"a":[1]}}', ',"name2":"x"},"spec":{"a":"]},"}}', '}}', ',"z":["]},"]}}']) {
      const source = `{"kind":"K","apiVersion":"v1","metadata":{"name":"x","managedFields":${managed}${rest}`;
      const whole = Buffer.from(source);
      expect(scanObject(whole, 0, whole.length, { scan })).toBe(true);
      const { managedFields: _, ...metadata } = (JSON.parse(source) as { metadata: Record<string, unknown> }).metadata;
      const kept = readText(whole, 0, scan.managedFieldsStart) + readText(whole, scan.managedFieldsEnd, whole.length);
      expect((JSON.parse(kept) as { metadata: unknown }).metadata).toEqual(metadata);
    }
  });

  it('does not take a comma that lies behind the end for its own', () => {
    const whole = Buffer.from('{"metadata":{"managedFields":[{"manager":"a"}],"name":"b"}}');
    const end = whole.indexOf(',"name"');
    scanObject(whole, 0, end, { scan });
    expect(scan.managedFieldsEnd).toBeLessThanOrEqual(end);
  });

  it('never reads past the end that it is given', () => {
    fc.assert(
      fc.property(object, fc.nat(), (value, at) => {
        const whole = Buffer.from(JSON.stringify(value));
        const end = at % whole.length;
        scanObject(whole, 0, end, { scan, paths: compileFieldPaths(['spec.node']) });
        for (const position of [scan.nameEnd, scan.labelsEnd, scan.managedFieldsEnd, scan.ownersEnd])
          expect(position).toBeLessThanOrEqual(end);
      }),
    );
  });
});

describe('framesOfLine', () => {
  const frame = (name: string): string => JSON.stringify({ type: 'MODIFIED', object: { metadata: { name } } });
  it.each(['', ' ', '\t', '\r', '  \t '])('cuts frames that are on one line, with %j between them', (between) => {
    const frames = [frame('a'), frame('b"object"'), frame('c}}{')];
    expect(framesOfLine(bytes(frames.join(between))).map(text)).toEqual(frames);
  });

  it.each([
    frame('a'),
    `{"object":{"properties":{"object":{"type":"object"}}},"type":"ADDED"}`,
    '{ "type" : "MODIFIED" ,        "object" : {} }',
  ])('leaves one frame whole: %s', (line) => {
    expect(framesOfLine(bytes(line)).map(text)).toEqual([line]);
  });

  it('hands out what is not complete as it is', () => {
    const cutOff = frame('b').slice(0, -3);
    expect(framesOfLine(bytes(frame('a') + cutOff)).map(text)).toEqual([frame('a'), cutOff]);
    expect(framesOfLine(bytes(`${frame('a')}, "object"`)).map(text)).toEqual([frame('a'), ', "object"']);
  });
});

describe('field paths', () => {
  const scan = createObjectScan();
  it.each([
    ['a tab behind the colon', '{"spec":\t{"node":\t"n1"}}', 'n1'],
    ['a newline behind the colon', '{"spec":\n{"node"\n:\n"n1"}}', 'n1'],
    ['an escape sequence', '{"spec":{"node":"n\\u0031"}}', 'n1'],
    ['an integer beyond 2^53', '{"spec":{"node":9007199254740993}}', '9007199254740993'],
    ['a fraction that is none', '{"spec":{"node":1.0}}', '1'],
    ['an exponent', '{"spec":{"node":1e3}}', '1000'],
    ['a negative zero', '{"spec":{"node":-0}}', '0'],
    ['a boolean', '{"spec":{"node":false}}', 'false'],
    ['null', '{"spec":{"node":null}}', undefined],
    ['an array', '{"spec":{"node":["n1"]}}', undefined],
  ])('lead to what a parse finds: %s', (_name, body, value) => {
    const paths = compileFieldPaths(['spec.node']);
    const whole = bytes(`{"metadata":{"name":"x"},${body.slice(1)}`);
    expect(fieldAt(parseJson(text(whole)), ['spec', 'node'])).toBe(value);
    expect(scanObject(whole, 0, whole.length, { scan, paths })).toBe(true);
    expect(scan.fields).toEqual([value]);
    expect(scanObject(whole, 0, whole.length, { scan })).toBe(true);
    scanBodyFields(whole, whole.length, { scan, paths });
    expect(scan.fields).toEqual([value]);
  });

  it.each([
    '{"sp\\u0065c":{"node":"n1"}}',
    '{"spec":{"nod\\u0065":"n1"}}',
    '{"spec":{"node":{},"node":"n1"}}',
    '{"spec":{"x":1},"spec":{"node":"n1"}}',
    '{"spec":{"node":nonsense}}',
    '{"spec":{"node":01}}',
    '{"spec":{"node":"\\x"}}',
    '{"spec":{"node"}}',
  ])('leave to the parser what it may read differently: %s', (body) => {
    const paths = compileFieldPaths(['spec.node', 'spec.other']);
    const whole = bytes(`{"metadata":{"name":"x"},${body.slice(1)}`);
    expect(scanObject(whole, 0, whole.length, { scan, paths })).toBe(false);
    if (scanObject(whole, 0, whole.length, { scan }))
      expect(scanBodyFields(whole, whole.length, { scan, paths })).toBe(-2);
  });

  it.each([
    ['spec.node', '{"spec":{"node":"n1","node":"n2"}}'],
    ['spec.node', '{"spec":{"node":"n1","x":"y","node" : null}}'],
    ['spec.node', '{"spec":{"node":"n1","nod\\u0065":"n2"}}'],
    ['spec.node', '{"spec":{"node":"n1"},"spec":{}}'],
    ['spec.node', '{"spec":{"node":"n1"},"x":1,"spec":null}'],
    ['spec.node', '{"spec":{"node":"n1"},"\\u0073pec":{"node":"n2"}}'],
    ['spec.a/b', '{"spec":{"a/b":"n1","a\\/b":"n2"}}'],
    ['spec.a"b', '{"spec":{"a\\"b":"n1","a\\u0022b":"n2"}}'],
    ['spec.a.b', '{"spec":{"a":{"b":"n1"},"a":{"b":"n2"}}}'],
    ['status.phase', '{"status":{"phase":"x"},"spec":{"status":{}},"status":{"phase":"y"}}'],
  ])('are those before a key that may be there again, which a search finds: %s in %s', (path, body) => {
    const paths = compileFieldPaths([path]);
    const whole = bytes(`{"metadata":{"name":"x"},${body.slice(1)}`);
    const isScanned = scanObject(whole, 0, whole.length, { scan });
    const end = isScanned ? scanBodyFields(whole, whole.length, { scan, paths }) : -2;
    // What is there twice in what is scanned is left to the parser at once.
    if (end >= 0) expect(mayRepeat(whole, end, whole.length, paths)).toBe(true);
    else expect(end).toBe(-2);
  });

  it.each([
    ['the name of a key in a value', '{"spec":{"node":"n1","env":[{"path":"spec.node"}]}}'],
    ['the key elsewhere', '{"spec":{"node":"n1","on":{"node":"n2","spec":{}}},"status":{"spec":{"node":"n3"}}}'],
    ['an escape sequence elsewhere', '{"spec":{"node":"n1","args":["a \\u0026\\u0026 b"]}}'],
  ])('are read by the scan although something looks alike: %s', (_what, body) => {
    const paths = compileFieldPaths(['spec.node']);
    const whole = bytes(`{"metadata":{"name":"x"},${body.slice(1)}`);
    expect(scanObject(whole, 0, whole.length, { scan, paths })).toBe(true);
    expect(scan.fields).toEqual(['n1']);
    expect(scanObject(whole, 0, whole.length, { scan })).toBe(true);
    expect(scanBodyFields(whole, whole.length, { scan, paths })).toBeGreaterThan(0);
    expect(scan.fields).toEqual(['n1']);
  });

  it('escape dots within keys', () => {
    expect(splitPath('metadata.annotations.example\\.com/role')).toEqual([
      'metadata',
      'annotations',
      'example.com/role',
    ]);
  });

  it.each(['', 'a..b', '.a'])('refuse %j', (path) => {
    expect(() => compileFieldPaths([path])).toThrow(TypeError);
  });

  it('refuse the same path twice', () => {
    expect(() => compileFieldPaths(['a.b', 'a.b'])).toThrow('given twice');
  });
});
