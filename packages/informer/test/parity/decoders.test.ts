import type { KubeObject } from '@kctl/apimachinery';
import { defineKind, metadataOnly, parseJson } from '@kctl/apimachinery';
import type { FieldPaths } from '@kctl/apimachinery/internal/wire';
import { compileFieldPaths, isFrameError } from '@kctl/apimachinery/internal/wire';
import type { StoredObject } from '@kctl/cache-index';
import { describe, expect, it } from 'vitest';
import { ByteDecoder } from '../../src/decoders/byte-decoder.js';
import type { DecodedItem, Skip } from '../../src/decoders/decoder.js';
import { isObjectDecodeError } from '../../src/index.js';
import { ObjectDecoder } from '../../src/decoders/object-decoder.js';
import { createChance } from '../model/random.js';
import { hostileObject } from './hostile-json.js';

/** KCTL_TEXTS=30000 is the full check; KCTL_SEED replays one text. */
const texts = Number(process.env['KCTL_TEXTS'] ?? 1500);
const only = process.env['KCTL_SEED'];
const seeds = only === undefined ? Array.from({ length: texts }, (_, index) => index + 1) : [Number(only)];

interface Thing extends KubeObject {
  spec?: { node?: unknown };
}
const ThingKind = defineKind<Thing>()({ group: 'example.com', version: 'v1', kind: 'Thing', scope: 'Namespaced' });

const forms = {
  whole: { kind: ThingKind },
  metadata: { kind: metadataOnly(ThingKind) as unknown as typeof ThingKind },
  transformed: {
    kind: ThingKind,
    transform: (object: Thing): Thing => ({ ...object, spec: { node: 'by the transform' } }),
  },
  managed: { kind: ThingKind, keepManagedFields: true },
  unfrozen: { kind: ThingKind, freeze: false },
} as const;
/** By turns: the scan stops where all paths have a value, early with few. */
const pathSets = [
  compileFieldPaths(['spec.node', 'spec.zone', 'metadata.labels.app', 'metadata.generation']),
  compileFieldPaths(['spec.node']),
] as const;
const pathsOf = (seed: number): FieldPaths => pathSets[seed % 2 === 0 ? 0 : 1];

function decoders(form: keyof typeof forms, skips: { bytes: Skip[]; objects: Skip[] }, paths: FieldPaths) {
  const common = { freeze: true, keepManagedFields: false, transform: undefined, ...forms[form] };
  return {
    bytes: new ByteDecoder<Thing>({ ...common, fieldPaths: () => paths, onSkip: (skip) => skips.bytes.push(skip) }),
    objects: new ObjectDecoder<Thing>({ ...common, onSkip: (skip) => skips.objects.push(skip) }),
  };
}

/** What the header and the indexes say of a version. */
const shown = (stored: StoredObject<Thing>, paths: FieldPaths): unknown => {
  const { namespace, name, uid, resourceVersion, generation, deletionTimestamp, labels, ownerReferences } = stored;
  const header = { namespace, name, uid, resourceVersion, generation, deletionTimestamp, labels, ownerReferences };
  return { ...header, fields: stored.fields(paths) };
};

/** What was skipped, without what only a parse of bytes can say. */
const reasons = (skips: readonly Skip[]): unknown => skips.map(({ reason, message }) => `${reason}: ${message}`);

describe.each(Object.keys(forms) as (keyof typeof forms)[])('bytes and objects say the same (%s)', (form) => {
  it(`of ${seeds.length} hostile texts: the same object, header, index values and refusals, before and after a read`, () => {
    let stored = 0;
    let refused = 0;
    for (const seed of seeds) {
      const { text, isAmbiguous } = hostileObject(createChance(seed));
      const paths = pathsOf(seed);
      const skips = { bytes: [] as Skip[], objects: [] as Skip[] };
      const { bytes, objects } = decoders(form, skips, pathsOf(seed));
      const note = `seed ${seed}: ${text}`;
      const byBytes = { ...bytes.item(Buffer.from(text), () => undefined) };
      const byObjects = { ...objects.item(parseJson(text) as Thing, () => undefined) };
      if (isAmbiguous) {
        // Either it is understood as a parse does, or it is refused when it is read.
        const { stored: version, fields } = byBytes;
        if (version === undefined) continue;
        const indexed = fields ?? attempt(() => version.fields(paths), note);
        const before = attempt(() => shown(version, paths), note);
        if (readOrRefuse(version, byObjects.stored, { note, seed }) === 'refused') refused++;
        else {
          expect([shown(version, paths), version.fields(paths)], note).toEqual([before, indexed]);
          if (byObjects.stored !== undefined) expect(before, note).toEqual(shown(byObjects.stored, paths));
        }
        continue;
      }
      expect(reasons(skips.bytes), note).toEqual(reasons(skips.objects));
      expect(byBytes.stored === undefined, note).toBe(byObjects.stored === undefined);
      if (byBytes.stored === undefined || byObjects.stored === undefined) continue;
      stored++;
      const wanted = shown(byObjects.stored, paths);
      expect(shown(byBytes.stored, paths), note).toEqual(wanted);
      if (byBytes.fields !== undefined) expect(byBytes.fields, note).toEqual(byObjects.stored.fields(paths));
      expect(byBytes.stored.object, note).toEqual(byObjects.stored.object);
      expect(shown(byBytes.stored, paths), note).toEqual(wanted);
      expect(skips.bytes.length, note).toBe(skips.objects.length);
    }
    if (only !== undefined) return;
    expect(stored).toBeGreaterThan(seeds.length / 3);
    // One in a few hundred.
    if (form === 'whole' && seeds.length >= 1500) expect(refused).toBeGreaterThan(0);
  });

  it('of the same in frames of a watch', () => {
    for (const seed of seeds.slice(0, 2000)) {
      const chance = createChance(seed);
      const type = chance.pick(['ADDED', 'MODIFIED', 'DELETED']);
      const { text, isAmbiguous } = hostileObject(chance);
      if (isAmbiguous) continue;
      const frame = chance.pick([
        `{"type":"${type}","object":${text}}`,
        `{"object":${text},"type":"${type}"}`,
        `{ "t\\u0079pe" : "${type}" , "object" :\t${text} }`,
      ]);
      const skips = { bytes: [] as Skip[], objects: [] as Skip[] };
      const { bytes, objects } = decoders(form, skips, pathsOf(seed));
      const byBytes = { ...bytes.frame(Buffer.from(frame), () => undefined, true) };
      const byObjects = { ...objects.frame(parseJson(frame) as Thing, () => undefined) };
      const note = `seed ${seed}: ${frame}`;
      expect([byBytes.kind, byBytes.resourceVersion], note).toEqual([byObjects.kind, byObjects.resourceVersion]);
      expect(reasons(skips.bytes), note).toEqual(reasons(skips.objects));
      expect(byBytes.stored?.object, note).toEqual(byObjects.stored?.object);
    }
  });

  it('of texts that are cut, or have a byte changed: nothing worse than a report', () => {
    for (const seed of seeds.slice(0, 1500)) {
      const chance = createChance(seed);
      const { text } = hostileObject(chance);
      const whole = Buffer.from(text);
      const at = chance.int(whole.length);
      const broken = chance.maybe(0.5) ? whole.subarray(0, at) : Buffer.from(whole);
      if (broken.length === whole.length) broken[at] = chance.pick([0, 0x22, 0x7b, 0x7d, 0x5d, 0x2c, 0x5c, 0x31, 0xff]);
      const skips = { bytes: [] as Skip[], objects: [] as Skip[] };
      const { bytes } = decoders(form, skips, pathsOf(seed));
      const note = `seed ${seed}: ${broken.toString('latin1')}`;
      const item = { ...bytes.item(broken, () => undefined) };
      expect(skips.bytes.length, note).toBe(item.stored === undefined ? 1 : 0);
      if (item.stored !== undefined) readOrRefuse(item.stored, undefined, { note, seed });
      const frame = Buffer.concat([Buffer.from('{"type":"ADDED","object":'), broken, Buffer.from('}')]);
      try {
        const { stored } = bytes.frame(frame, () => undefined, true);
        if (stored !== undefined) readOrRefuse(stored, undefined, { note, seed });
      } catch (error) {
        expect(isFrameError(error), note).toBe(true);
      }
    }
  });
});

/** What a read returns; undefined where the object turns out not to be readable. */
function attempt<R>(read: () => R, note: string): R | undefined {
  try {
    return read();
  } catch (error) {
    expect(isObjectDecodeError(error), note).toBe(true);
    return undefined;
  }
}

function readOrRefuse(
  stored: StoredObject<Thing>,
  wanted: StoredObject<Thing> | undefined,
  { note, seed }: { readonly note: string; readonly seed: number },
): 'read' | 'refused' {
  let refused = 0;
  for (const read of [
    () => stored.object,
    () => stored.labels,
    () => stored.ownerReferences,
    () => stored.fields(pathsOf(seed)),
  ])
    try {
      read();
    } catch (error) {
      refused++;
      expect(isObjectDecodeError(error), note).toBe(true);
    }
  expect(
    [stored.namespace, stored.name, stored.uid, stored.resourceVersion].map((each) => typeof each),
    note,
  ).toEqual(Array.from({ length: 4 }, () => 'string'));
  if (refused > 0) return 'refused';
  const { metadata } = stored.object;
  expect([metadata.name, metadata.namespace ?? '', metadata.resourceVersion ?? ''], note).toEqual([
    stored.name,
    stored.namespace,
    stored.resourceVersion,
  ]);
  if (wanted !== undefined) expect(stored.object, note).toEqual(wanted.object);
  return 'read';
}

it('a version that cannot be transformed is told apart from one that cannot be accepted', () => {
  const outcomes: unknown[] = [];
  for (const source of ['bytes', 'objects'] as const) {
    const skips = { bytes: [] as Skip[], objects: [] as Skip[] };
    const { bytes, objects } = decoders('whole', skips, pathSets[0]);
    void bytes;
    void objects;
    const throwing = {
      kind: ThingKind,
      freeze: true,
      keepManagedFields: false,
      transform: (): Thing => {
        throw new Error('the transform');
      },
      onSkip: (skip: Skip) => skips[source].push(skip),
    };
    const value = { metadata: { namespace: 'a', name: 'x', uid: 'u', resourceVersion: '5' } };
    const item: DecodedItem<Thing> =
      source === 'bytes'
        ? new ByteDecoder<Thing>({ ...throwing, fieldPaths: () => undefined }).item(
            Buffer.from(JSON.stringify(value)),
            () => undefined,
          )
        : new ObjectDecoder<Thing>(throwing).item(value, () => undefined);
    outcomes.push([item.stored, item.failed, skips[source].map(({ reason, key }) => [reason, key])]);
  }
  const identity = { namespace: 'a', name: 'x', uid: 'u', resourceVersion: '5' };
  expect(outcomes).toEqual([
    [undefined, identity, [['transform', 'a/x']]],
    [undefined, identity, [['transform', 'a/x']]],
  ]);
});
