// Cases after k8s.io/apimachinery/pkg/fields/selector_test.go.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldSelectorFrom, parseFieldSelector } from './field-selector.js';

describe('parseFieldSelector', () => {
  it.each([
    ['', ''],
    ['x=a,y=b,z=c', 'x=a,y=b,z=c'],
    ['x!=a,y=b', 'x!=a,y=b'],
    ['x==a', 'x=a'],
    ['x=a||y', 'x=a||y'],
    ['x=', 'x='],
    [',x=a,,', 'x=a'],
    ['x=a\\,b\\=c\\\\d', 'x=a\\,b\\=c\\\\d'],
    ['status.phase!=Running', 'status.phase!=Running'],
  ])('reads %j as %j', (text, printed) => {
    expect(parseFieldSelector(text).toString()).toBe(printed);
  });

  it.each([
    ['x', '"x" is not path=value'],
    ['x=a,y', '"y" is not path=value'],
    ['=a', '"=a" is not path=value'],
    ['x==a==b', 'write = in a value'],
    ['x=a=b', 'write = in a value'],
    ['x=\\a', '\\a is not an escape'],
    ['x=a\\', 'is not an escape'],
  ])('refuses %j', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(message);
  });

  it('matches fields, a missing one being empty', () => {
    const selector = parseFieldSelector('spec.nodeName=,status.phase!=Failed');
    expect(selector.matches({ 'status.phase': 'Running' })).toBe(true);
    expect(selector.matches({})).toBe(true);
    expect(selector.matches({ 'spec.nodeName': 'n1' })).toBe(false);
    expect(selector.matches({ 'status.phase': 'Failed' })).toBe(false);
    expect(selector.terms).toEqual([
      { path: 'spec.nodeName', operator: '=', value: '' },
      { path: 'status.phase', operator: '!=', value: 'Failed' },
    ]);
  });

  it('carries any value through its text', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const selector = fieldSelectorFrom({ 'metadata.name': value });
        expect(parseFieldSelector(selector.toString()).terms).toEqual(selector.terms);
      }),
    );
  });
});

describe('fieldSelectorFrom', () => {
  it.each<[unknown, string]>([
    [{ 'spec.nodeName': undefined }, 'field selector: the value of "spec.nodeName" is undefined: expected a string'],
    [null, 'the field selector is null'],
    [new Map([['a', 'b']]), 'the field selector is an array or another collection'],
    [[null], 'field selector: term 0 is not valid'],
    [[{ path: 'a', operator: '==', value: 'b' }], 'field selector: term 0 is not valid'],
    [[{ path: 'a', operator: '=', value: 5 }], 'field selector: term 0 is not valid'],
  ])('names what %j lacks', (source, message) => {
    expect(() => fieldSelectorFrom(source as never)).toThrow(message);
  });

  it('takes terms, such as some of those of another selector', () => {
    const { terms } = fieldSelectorFrom({ 'a.b': 'x,y\\=', c: 'd', e: 'f' });
    const some = fieldSelectorFrom(terms.filter(({ path }) => path !== 'c'));
    expect(some.toString()).toBe('a.b=x\\,y\\\\\\=,e=f');
    expect(fieldSelectorFrom(some.toString()).terms).toEqual(some.terms);
    expect(fieldSelectorFrom([]).isEmpty).toBe(true);
    expect(fieldSelectorFrom([{ path: 'a', operator: '!=', value: 'b' }]).toString()).toBe('a!=b');
  });

  it('takes a record, text or a selector', () => {
    const selector = fieldSelectorFrom({ 'a.b': 'x,y', c: 'd' });
    expect(selector.toString()).toBe('a.b=x\\,y,c=d');
    expect(fieldSelectorFrom(selector)).toBe(selector);
    expect(fieldSelectorFrom('').isEmpty).toBe(true);
    expect(fieldSelectorFrom({}).matches({ a: 'b' })).toBe(true);
  });
});
