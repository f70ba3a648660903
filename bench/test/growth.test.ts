import { expect, it } from 'vitest';
import type { Curve } from '../src/growth/axes.js';
import { axes } from '../src/growth/axes.js';
import { exponentOf, growthRow, isDefect } from '../src/growth/exponents.js';
import { growthPicture } from '../src/growth/picture.js';
import { objectText } from '../src/growth/objects.js';
import { objectsPerKind, stormEvent, wholeRounds } from '../src/growth/size.js';

const curve: Curve = { figure: 'startCpuMs', title: 'start', unit: 's', scale: 1000, inherent: 1, from: 100 };
const points = (power: number) => [10, 100, 1000].map((at) => ({ at, value: at ** power }));

it('finds the power of a curve, and takes for a defect what grows more than the work', () => {
  expect(exponentOf(curve, points(1))).toBeCloseTo(1);
  expect(exponentOf(curve, points(2))).toBeCloseTo(2);
  expect(isDefect(curve, 1.05)).toBe(false);
  expect(isDefect(curve, 1.3)).toBe(true);
  expect(isDefect({ ...curve, inherent: 0 }, 0.5)).toBe(true);
});

it('has a row for each curve that tells, above 1 where less grows than the work', () => {
  expect(growthRow('objects', curve, 2)).toEqual([
    {
      figure: 'start, by objects',
      unit: '× per tenfold',
      ours: 100,
      peer: 10,
      peerName: 'the work',
      ratio: 0.1,
      reach: 0.7079,
      aim: 1,
    },
  ]);
  expect(growthRow('objects', curve, 0.5)[0]?.ratio).toBe(3.162);
  expect(growthRow('objects', curve, null)).toEqual([]);
});

it('takes values below what is looked at for noise', () => {
  expect(exponentOf({ ...curve, from: 2000 }, points(1))).toBeNull();
  expect(exponentOf(curve, points(1).slice(0, 1))).toBeNull();
});

it('sends each deletion a creation, so that a storm leaves what there was', () => {
  for (const size of new Set(axes.flatMap(({ sizes }) => sizes))) {
    const events = wholeRounds(size, 1000);
    const missing = new Set<string>();
    for (let nth = 0; nth < events; nth++) {
      const { type, kind, object } = stormEvent(size, nth);
      expect(object).toBeLessThan(objectsPerKind(size));
      const key = `${kind}/${object}`;
      if (type === 'DELETED') missing.add(key);
      else expect(missing.delete(key)).toBe(type === 'ADDED');
    }
    expect(missing.size).toBe(0);
  }
});

it('makes objects that are JSON, and all of them different', () => {
  const size = { objects: 1000, kinds: 2, namespaces: 10, handlers: 1 };
  const texts = [0, 1].flatMap((kind) =>
    [0, 1, 499].map((object) => objectText(size, { kind, object, version: 1_000_000_000, sent: 5n })),
  );
  const uids = texts.map((text) => (JSON.parse(text) as { metadata: { uid: string } }).metadata.uid);
  expect(new Set(uids).size).toBe(6);
});

it('draws each curve, and marks what is a defect', () => {
  const drawn = axes.flatMap((axis) =>
    axis.curves.map((each) => ({
      axis,
      curve: each,
      points: points(2),
      exponent: exponentOf({ ...each, from: 0 }, points(2)),
    })),
  );
  const svg = growthPicture(drawn);
  expect(svg.match(/<polyline/g)?.length).toBe(drawn.length);
  expect(svg).toContain('class="defect middle">n²·⁰<');
  expect(svg).not.toContain('NaN');
});
