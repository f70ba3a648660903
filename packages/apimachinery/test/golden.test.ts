// The tables in golden/ are what the Go implementation answers; tooling/kube-facts/golden writes them.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  canonicalQuantity,
  isQuantityError,
  isSelectorError,
  parseFieldSelector,
  parseLabelSelector,
  parseQuantity,
} from '../src/index.js';
import { storedQuantity } from '../src/internal/index.js';
import { createStrategicPatch } from '../src/strategic-merge/index.js';

interface StrategicCase {
  readonly apiVersion: string;
  readonly kind: string;
  readonly original: object;
  readonly modified: object;
  readonly patch: object;
}

interface Answer {
  readonly text: string;
  readonly printed?: string;
  readonly refused?: boolean;
  readonly matches?: readonly number[];
}

/** What Go makes of a quantity. */
interface QuantityAnswer extends Answer {
  readonly stored?: string;
  readonly nanos?: string;
  readonly message?: string;
}

function read<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`golden/${name}.json`, import.meta.url), 'utf8')) as T;
}

/** What we answer, in the form of the table: one comparison of whole tables names every difference. */
function answer(text: string, print: (text: string) => string, isRefusal: (error: unknown) => boolean): Answer {
  try {
    const printed = print(text);
    return printed === '' ? { text } : { text, printed };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { text, refused: true };
  }
}

/** Where we differ on purpose: Go drops the suffix that it has no name for, and reads a `=` alone. */
const differences = new Map<string, Answer>([
  ['1000E', { text: '1000E', printed: '1000E' }],
  ['=a', { text: '=a', refused: true }],
]);
const agreed = (golden: readonly Answer[]): Answer[] => golden.map((entry) => differences.get(entry.text) ?? entry);

describe('agreement with Go', () => {
  it('on quantities', () => {
    const golden = read<Answer[]>('quantities');
    const printed = golden.map(({ text, printed: own, refused }) => ({
      text,
      ...(own !== undefined && { printed: own }),
      ...(refused !== undefined && { refused }),
    }));
    expect(golden.map(({ text }) => answer(text, canonicalQuantity, isQuantityError))).toEqual(agreed(printed));
    expect(golden.length).toBeGreaterThan(1_500);
  });

  it('on the value of quantities, the text that is stored, and why a text is refused', () => {
    const golden = read<QuantityAnswer[]>('quantities');
    const ours = golden.map(({ text }): QuantityAnswer => {
      try {
        const nanos = String(parseQuantity(text).nanos);
        return { text, printed: canonicalQuantity(text), stored: storedQuantity(text), nanos };
      } catch (error) {
        if (!isQuantityError(error)) throw error;
        return { text, refused: true, message: error.serverMessage };
      }
    });
    const kept = (text: string): string | undefined => differences.get(text)?.printed;
    expect(ours).toEqual(
      golden.map((each) => (kept(each.text) === undefined ? each : { ...each, printed: kept(each.text) })),
    );
  });

  it('on label selectors: what is refused, how it prints, what it matches', () => {
    const { labelSets, cases } = read<{ labelSets: Record<string, string>[]; cases: Answer[] }>('label-selectors');
    const ours = cases.map(({ text }) => {
      const result = answer(text, (input) => parseLabelSelector(input).toString(), isSelectorError);
      if (result.refused === true) return result;
      const selector = parseLabelSelector(text);
      const matches = labelSets.flatMap((labels, index) => (selector.matches(labels) ? [index] : []));
      return matches.length === 0 ? result : { ...result, matches };
    });
    expect(ours).toEqual(cases);
    expect(cases.length).toBeGreaterThan(2000);
  });

  it('on field selectors', () => {
    const golden = read<Answer[]>('field-selectors');
    expect(
      golden.map(({ text }) => answer(text, (input) => parseFieldSelector(input).toString(), isSelectorError)),
    ).toEqual(agreed(golden));
  });

  it('on strategic merge patches', () => {
    const golden = read<StrategicCase[]>('strategic-patches');
    for (const { apiVersion, kind, original, modified, patch } of golden)
      expect(createStrategicPatch({ apiVersion, kind }, original, modified)).toEqual(patch);
    expect(golden).toHaveLength(60);
  });

  it('on strategic merge patches, but for an order that Go loses and what it sends though it is the same', () => {
    const texts = (...finalizers: string[]) => ({ metadata: { finalizers } });
    const budget = { spec: { selector: { matchLabels: { app: 'web' } } } };
    const order = (...names: string[]) => ({ metadata: { '$setElementOrder/finalizers': names } });
    // strategicpatch.CreateTwoWayMergePatch of apimachinery v0.36.3; with these two rules, 19,000 random pairs come out equal.
    const cases = [
      {
        kind: 'Pod',
        original: texts('b', 'a', 'd'),
        modified: texts('a', 'b', 'd'),
        go: {},
        ours: order('a', 'b', 'd'),
      },
      { kind: 'Pod', original: texts('c', 'b'), modified: texts('c', 'b'), go: order('c', 'b'), ours: {} },
      { kind: 'PodDisruptionBudget', original: budget, modified: budget, go: budget, ours: {} },
    ];
    for (const { kind, original, modified, ours, go } of cases) {
      const apiVersion = kind === 'Pod' ? 'v1' : 'policy/v1';
      expect(createStrategicPatch({ apiVersion, kind }, original, modified)).toEqual(ours);
      expect(ours).not.toEqual(go);
    }
  });
});
