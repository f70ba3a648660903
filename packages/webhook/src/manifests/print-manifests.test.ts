import type { KubeObject } from '@kctl/apimachinery';
import { array, assert, constantFrom, dictionary, json, oneof, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { printManifests } from './print-manifests.js';

const manifest = (spec: unknown): KubeObject & { spec: unknown } => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'a' },
  spec,
});
const read = (text: string, version: '1.1' | '1.2'): unknown[] =>
  parseAllDocuments(text, { version, merge: false, intAsBigInt: false }).map((document) => document.toJS() as unknown);

describe('printManifests', () => {
  it('prints blocks, with sequences indented', () => {
    const rules = [{ apiGroups: [''], resources: ['pods', 'pods/status'], scope: '*' }];
    expect(printManifests([manifest({ rules, matrix: [[1, 2], []], empty: {} })])).toBe(`---
apiVersion: v1
kind: Thing
metadata:
  name: a
spec:
  rules:
    - apiGroups:
        - ""
      resources:
        - pods
        - pods/status
      scope: "*"
  matrix:
    - - 1
      - 2
    - []
  empty: {}
`);
  });

  it('leaves out what is undefined, and writes no anchors for what occurs twice', () => {
    const twice = { a: 'b' };
    const [printed] = read(printManifests([manifest({ one: twice, two: twice, gone: undefined })]), '1.2');
    expect(printed).toEqual(manifest({ one: twice, two: twice }));
    expect(printManifests([manifest([twice, twice])])).not.toMatch(/[&*]/u);
  });

  it('keeps integers that a number cannot hold', () => {
    expect(printManifests([manifest({ big: 9_007_199_254_740_993n })])).toContain('big: 9007199254740993\n');
  });

  it.each([
    'on',
    'Yes',
    'n',
    'null',
    '~',
    '12:30:45',
    '1e3',
    '0x1f',
    '.5',
    '2001-01-01',
    '- a',
    'a: b',
    'a #b',
    '=',
    '',
  ])('prints the text %j as a text for readers of YAML 1.1 and 1.2', (value) => {
    const text = printManifests([manifest({ [value]: value })]);
    for (const version of ['1.1', '1.2'] as const) expect(read(text, version)).toEqual([manifest({ [value]: value })]);
  });

  it('prints what it was given, whatever that is', () => {
    const words = constantFrom(
      'on',
      'no',
      'null',
      '~',
      '1',
      '1e3',
      '0o7',
      '---',
      '...',
      '<<',
      '!x',
      '&a',
      '*a',
      '%',
      '\u0085',
      '\u2028',
      '\ufeff',
      '\t',
    );
    const texts = oneof(words, string({ unit: 'binary' }));
    const values = oneof(
      json().map((text) => JSON.parse(text) as unknown),
      dictionary(texts, oneof(texts, array(texts))),
    );
    assert(
      property(array(values, { maxLength: 3 }), (specs) => {
        const manifests = specs.map(manifest);
        const text = printManifests(manifests);
        expect(JSON.stringify(read(text, '1.2'))).toBe(JSON.stringify(manifests));
      }),
      { numRuns: 60 },
    );
  });
});
