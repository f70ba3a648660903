// Cases after k8s.io/apimachinery/pkg/labels/selector_test.go and kubectl's documented grammar.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { everything, labelSelectorFrom, nothing, parseLabelSelector } from './label-selector.js';
import { isSelectorError } from './selector-error.js';

describe('parseLabelSelector', () => {
  it.each([
    ['', ''],
    ['   ', ''],
    ['x=a,y=b,z=c', 'x=a,y=b,z=c'],
    ['z=c,x=a', 'x=a,z=c'],
    ['x==a', 'x==a'],
    ['x!=a,y=b', 'x!=a,y=b'],
    ['x=', 'x='],
    ['x= ', 'x='],
    ['x=,z= ', 'x=,z='],
    ['x= ,z= ', 'x=,z='],
    ['  x = a  ,  y  in ( b , a )', 'x=a,y in (a,b)'],
    ['!x', '!x'],
    ['x', 'x'],
    ['x,!y,z', 'x,!y,z'],
    ['x>1', 'x>1'],
    ['x>1,z<5', 'x>1,z<5'],
    ['x in (a)', 'x in (a)'],
    ['x in (b,a,b)', 'x in (a,b)'],
    ['x in ()', 'x in ()'],
    ['x in (,a)', 'x in (,a)'],
    ['x in (a,)', 'x in (,a)'],
    ['x notin (a,,b)', 'x notin (,a,b)'],
    ['in in (in,notin)', 'in in (in,notin)'],
    ['notin', 'notin'],
    ['!in', '!in'],
    ['a.b.c/x-y_z.1=V-a_l.u3', 'a.b.c/x-y_z.1=V-a_l.u3'],
    ['kubernetes.io/metadata.name=default', 'kubernetes.io/metadata.name=default'],
  ])('reads %j as %j', (text, printed) => {
    expect(parseLabelSelector(text).toString()).toBe(printed);
  });

  it.each([
    ['x=a||y=b', 'label'],
    ['x==a==b', "found '=='"],
    ['!x=a', "found '='"],
    ['!x in (a)', "found 'in'"],
    ['x<a', 'integer'],
    ['x>1.5', 'integer'],
    ['x>-5', 'not a value'],
    ['x>9223372036854775808', 'integer'],
    ['x>', 'integer'],
    ['x,', 'the end, expected a label key'],
    [',x', "found ','"],
    ['x in', 'the end'],
    ['x in a', "found 'a', expected '('"],
    ['x in (a', 'the end'],
    ['x in (a b)', "found 'b'"],
    ['x foo', "found 'foo', expected in, notin"],
    ['=a', "found '='"],
    ['(x)', "found '('"],
    ['a/b/c=d', 'not a label key'],
    ['-a=b', 'not a label key'],
    ['UPPER.case/x=a', 'not a label key'],
    [`${'a'.repeat(64)}=b`, 'not a label key'],
    [`a=${'b'.repeat(64)}`, 'not a value'],
    ['a=-b', 'not a value'],
    ['a in (b,c$)', 'not a value'],
  ])('refuses %j and says what is wrong', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(message);
    expect(() => parseLabelSelector(text)).toThrow(expect.toSatisfy(isSelectorError));
  });

  it.each([
    ['', {}, true],
    ['x=y', { x: 'y' }, true],
    ['x=y,z=w', { x: 'y', z: 'w' }, true],
    ['x=y', { x: 'z' }, false],
    ['x!=y', { x: 'z' }, true],
    ['x!=y', {}, true],
    ['notin=in', { notin: 'in' }, true],
    ['x', { x: 'z' }, true],
    ['x', {}, false],
    ['!x', { y: 'z' }, true],
    ['!x', { x: 'z' }, false],
    ['x>1', { x: '2' }, true],
    ['x>1', { x: '1' }, false],
    ['x<1', { x: '0' }, true],
    ['x<1', { x: 'many' }, false],
    ['x>1', {}, false],
    ['x>9007199254740992', { x: '9007199254740993' }, true],
    ['x>9223372036854775806', { x: '9223372036854775807' }, true],
    ['x>1', { x: '9223372036854775808' }, false],
    ['x in (a,b)', { x: 'b' }, true],
    ['x in (a,b)', {}, false],
    ['x notin (a,b)', { x: 'c' }, true],
    ['x notin (a,b)', {}, true],
    ['x notin (a,b)', { x: 'a' }, false],
    ['x=', { x: '' }, true],
    ['x=', {}, false],
    ['x in (,a)', { x: '' }, true],
    ['toString', {}, false],
  ])('%j on %j: %s', (text, labels, isMatch) => {
    expect(parseLabelSelector(text).matches(labels)).toBe(isMatch);
  });

  it('prints what it reads back as the same selector', () => {
    const word = fc.stringMatching(/^[a-z0-9]([-a-z0-9_.]{0,8}[a-z0-9])?$/);
    const requirement = fc.oneof(
      word,
      word.map((key) => `!${key}`),
      fc.tuple(word, fc.constantFrom('=', '==', '!='), word).map((parts) => parts.join('')),
      fc.tuple(word, fc.constantFrom('>', '<'), fc.nat()).map((parts) => parts.join('')),
      fc
        .tuple(word, fc.constantFrom('in', 'notin'), fc.array(word, { minLength: 1 }))
        .map(([key, operator, values]) => `${key} ${operator} (${values.join(', ')})`),
    );
    fc.assert(
      fc.property(fc.array(requirement), fc.dictionary(word, word), (requirements, labels) => {
        const selector = parseLabelSelector(requirements.join(' , '));
        const again = parseLabelSelector(selector.toString());
        expect(again.toString()).toBe(selector.toString());
        expect(again.matches(labels)).toBe(selector.matches(labels));
      }),
    );
  });

  it('never throws anything but a SelectorError', () => {
    const text = fc
      .array(fc.constantFrom('a', 'in', 'notin', '=', '!', '(', ')', ',', '<', '>', ' ', '0', '/'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (input) => {
        try {
          parseLabelSelector(input);
        } catch (error) {
          expect(isSelectorError(error)).toBe(true);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('labelSelectorFrom', () => {
  it.each<[unknown, string]>([
    [{ app: undefined }, 'label selector: the value of "app" is undefined: expected a string'],
    [{ matchLabels: { app: 5 } }, 'label selector: the value of "app" is of type number: expected a string'],
    [{ matchLables: {} }, 'label selector: the value of "matchLables" is of type object: expected a string'],
    [null, 'the label selector is null: expected a string such as "a=b", or an object'],
    [5, 'the label selector is a value of type number'],
    [[], 'the label selector is an array or another collection'],
    [new Map([['app', 'web']]), 'the label selector is an array or another collection'],
    [{ matchLabels: [] }, 'the label selector is an array or another collection'],
    [{ matchExpressions: {} }, 'label selector: matchExpressions is not an array'],
    [{ matchExpressions: [null] }, 'label selector: matchExpressions[0] has no key'],
    [{ matchExpressions: [{ operator: 'Exists' }] }, 'label selector: matchExpressions[0] has no key'],
    [{ matchExpressions: [{ key: 'a', operator: 'constructor' }] }, '"constructor" is not a label selector operator'],
    [
      { matchExpressions: [{ key: 'a', operator: 'In', values: 'web' }] },
      'the values of matchExpressions[0] are not valid',
    ],
    [
      { matchExpressions: [{ key: 'a', operator: 'In', values: [1] }] },
      'the values of matchExpressions[0] are not valid',
    ],
  ])('names what %j lacks', (source, message) => {
    expect(() => labelSelectorFrom(source as never)).toThrow(expect.toSatisfy(isSelectorError));
    expect(() => labelSelectorFrom(source as never)).toThrow(message);
  });

  it('takes a record', () => {
    expect(labelSelectorFrom({ b: '2', a: '1' }).toString()).toBe('a=1,b=2');
  });

  it('takes the LabelSelector of an object', () => {
    const selector = labelSelectorFrom({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'tier', operator: 'In', values: ['b', 'a'] },
        { key: 'env', operator: 'NotIn', values: ['dev'] },
        { key: 'x', operator: 'Exists' },
        { key: 'y', operator: 'DoesNotExist' },
      ],
    });
    expect(selector.toString()).toBe('app=web,env notin (dev),tier in (a,b),x,!y');
    expect(selector.matches({ app: 'web', tier: 'a', x: '' })).toBe(true);
    expect(selector.matches({ app: 'web', tier: 'a' })).toBe(false);
  });

  it('tells a record that has a label called matchLabels from a LabelSelector', () => {
    expect(labelSelectorFrom({ matchLabels: 'x' }).toString()).toBe('matchLabels=x');
  });

  it('lets an empty LabelSelector match everything, and returns a selector as it is', () => {
    expect(labelSelectorFrom({})).toBe(everything);
    expect(labelSelectorFrom({ matchLabels: {} })).toBe(everything);
    expect(labelSelectorFrom(nothing)).toBe(nothing);
    expect(labelSelectorFrom('x=a').toString()).toBe('x=a');
  });

  it.each([
    [{ matchExpressions: [{ key: 'a', operator: 'Equals' as 'In', values: ['b'] }] }, 'Equals'],
    [{ matchExpressions: [{ key: 'a', operator: 'In' as const }] }, 'at least one value'],
    [{ matchExpressions: [{ key: 'a', operator: 'Exists' as const, values: ['b'] }] }, 'takes no values'],
    [{ matchLabels: { 'a b': 'c' } }, 'not a label key'],
  ])('refuses %j', (selector, message) => {
    expect(() => labelSelectorFrom(selector)).toThrow(message);
  });
});

describe('everything and nothing', () => {
  it('match accordingly, also on a server that reads their text', () => {
    expect(everything.matches({ a: 'b' })).toBe(true);
    expect([everything.isEmpty, nothing.isEmpty]).toEqual([true, false]);
    const sent = parseLabelSelector(nothing.toString());
    for (const selector of [nothing, sent]) {
      expect(selector.matches({})).toBe(false);
      expect(selector.matches(undefined)).toBe(false);
      expect(selector.matches({ 'kctl.dev/nothing': '' })).toBe(false);
    }
  });
});
