import { describe, expect, it } from 'vitest';
import { checkRules, createRuleValidator, structuralSchema } from '../index.js';

type Json = Record<string, unknown>;

function validate(schema: Json, object: unknown, old?: unknown) {
  const validator = createRuleValidator(structuralSchema(schema));
  if (validator === undefined) throw new Error('the schema has no rules');
  const { errors, warnings } = validator.validate(object, old === undefined ? {} : { old });
  return {
    errors: errors.map(({ field, message }) => `${field}: ${message}`),
    warnings: warnings.map(({ field, message }) => `${field}: ${message}`),
  };
}

const rule = (text: string, more: Json = {}): Json => ({ 'x-kubernetes-validations': [{ rule: text, ...more }] });
const object = (properties: Json, more: Json = {}): Json => ({ type: 'object', properties, ...more });
const spec = (properties: Json, more: Json = {}): Json => object({ spec: object(properties, more) });

describe('the rules of an object', () => {
  const sized = spec(
    { size: { type: 'integer' }, max: { type: 'integer' } },
    rule('self.size <= self.max', { message: 'too big' }),
  );

  it('refuses what breaks a rule, with its message', () => {
    expect(validate(sized, { spec: { size: 1, max: 2 } }).errors).toEqual([]);
    expect(validate(sized, { spec: { size: 3, max: 2 } }).errors).toEqual(['spec: Invalid value: too big']);
    expect(validate(spec({ a: { type: 'string', ...rule('self != "x"') } }), { spec: { a: 'x' } }).errors).toEqual([
      'spec.a: Invalid value: "x": failed rule: self != "x"',
    ]);
  });

  it('says what goes wrong while a rule runs', () => {
    expect(validate(sized, { spec: { size: 3 } }).errors).toEqual([
      'spec: Invalid value: "object": no such key: max evaluating rule: too big',
    ]);
    const port = spec({ port: { 'x-kubernetes-int-or-string': true } }, rule('self.port > 5'));
    expect(validate(port, { spec: { port: 'x' } }).errors).toEqual([
      `spec: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: self.port > 5`,
    ]);
  });

  it('reports by the reason and at the field that a rule names', () => {
    const at = (more: Json) =>
      validate(spec({ a: object({ b: { type: 'string' } }) }, rule('false', { message: 'm', ...more })), { spec: {} })
        .errors;
    expect(at({ fieldPath: '.a.b' })).toEqual(['spec.a.b: Invalid value: m']);
    expect(at({ reason: 'FieldValueForbidden' })).toEqual(['spec: Forbidden: m']);
    expect(at({ reason: 'FieldValueRequired', fieldPath: '.a' })).toEqual(['spec.a: Required value: m']);
    expect(at({ reason: 'FieldValueDuplicate' })).toEqual(['spec: Duplicate value']);
  });

  it('takes the text of a messageExpression, unless it gives none', () => {
    const at = (messageExpression: string) =>
      validate(spec({ a: { type: 'integer' } }, rule('false', { message: 'm', messageExpression })), { spec: { a: 3 } })
        .errors;
    expect(at('"a is " + string(self.a)')).toEqual(['spec: Invalid value: a is 3']);
    expect(at('""')).toEqual(['spec: Invalid value: m']);
    expect(at('"a\\nb"')).toEqual(['spec: Invalid value: m']);
    expect(at('string(self.a / 0)')).toEqual(['spec: Invalid value: m']);
  });

  it('walks lists and maps', () => {
    const schema = spec({
      list: { type: 'array', items: { type: 'string', ...rule('self.size() < 3') } },
      map: { type: 'object', additionalProperties: { type: 'integer', ...rule('self > 0') } },
    });
    expect(validate(schema, { spec: { list: ['ab', 'abc'], map: { a: 1, b: 0 } } }).errors).toEqual([
      'spec.list[1]: Invalid value: "abc": failed rule: self.size() < 3',
      'spec.map[b]: Invalid value: 0: failed rule: self > 0',
    ]);
  });

  it('compares with the old value where there is one', () => {
    const fixed = spec({ a: { type: 'string', ...rule('self == oldSelf', { message: 'immutable' }) } });
    expect(validate(fixed, { spec: { a: 'x' } }).errors).toEqual([]);
    expect(validate(fixed, { spec: { a: 'x' } }, { spec: {} }).errors).toEqual([]);
    expect(validate(fixed, { spec: { a: 'x' } }, { spec: { a: 'y' } }).errors).toEqual([
      'spec.a: Invalid value: "x": immutable',
    ]);
    const optional = spec({
      a: { type: 'string', ...rule('!oldSelf.hasValue() || self == oldSelf.value()', { optionalOldSelf: true }) },
    });
    expect(validate(optional, { spec: { a: 'x' } }).errors).toEqual([]);
    expect(validate(optional, { spec: { a: 'x' } }, { spec: { a: 'y' } }).errors).toHaveLength(1);
  });

  it('reads an optional old object as plain JSON, as cel-go does', () => {
    const text = (same: string) => rule(`oldSelf.hasValue() ? ${same} : true`, { optionalOldSelf: true, message: 'm' });
    const properties = { a: { type: 'string', nullable: true }, at: { type: 'string', format: 'date-time' } };
    const schema = (same: string, more: Json = {}) => spec(properties, { ...text(same), ...more });
    const unchanged = (source: Json, value: Json) => validate(source, { spec: value }, { spec: value }).errors;
    const equal = schema('self == oldSelf.value()');
    expect(unchanged(equal, { a: 'x' })).toEqual([]);
    expect(unchanged(equal, { a: null })).toEqual(['spec: Invalid value: m']);
    expect(unchanged(schema('oldSelf.value() == self'), { a: null })).toEqual(['spec: Invalid value: m']);
    // A point in time on one side, its text on the other.
    expect(unchanged(equal, { at: '2026-01-02T03:04:05Z' })).toEqual(['spec: Invalid value: m']);
    const open = schema('self == oldSelf.value()', { 'x-kubernetes-preserve-unknown-fields': true });
    expect(unchanged(open, { a: 'x', more: 1 })).toEqual([
      `spec: Invalid value: "object": 'no such overload': call arguments did not match a supported operator, function or macro signature for rule: m`,
    ]);
    const scalar = spec({ at: { type: 'string', format: 'date-time', ...text('self == oldSelf.value()') } });
    expect(unchanged(scalar, { at: '2026-01-02T03:04:05Z' })).toEqual([]);
  });

  it('compares objects with a schema as the API server does', () => {
    const at = (m: Json, [now, before]: [unknown, unknown], text = 'self.m == oldSelf.m') =>
      validate(spec({ m }, rule(text)), { spec: { m: now } }, { spec: { m: before } }).errors;
    const entry = { type: 'object', nullable: true, properties: { a: { type: 'string' } } };
    const map = { type: 'object', additionalProperties: entry };
    const [full, empty] = [{ a: { a: 'x' } }, { a: null }];
    expect(at(map, [full, empty])[0]).toContain("'no such overload'");
    expect(at(map, [empty, full])[0]).toContain('failed rule');
    expect(at(map, [full, empty], 'self.m != oldSelf.m')).toEqual([]);
    const blob = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    expect(at(blob, [{ a: 1 }, { a: 2 }])).toHaveLength(1);
    expect(at(blob, [{ a: [1] }, { a: [1] }])).toEqual([]);
    const days = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string', format: 'date' } };
    // Upstream looks up what CEL reads, a point in time, among the texts.
    expect(at(days, [['2026-01-02'], ['2026-01-02']])).toHaveLength(1);
  });

  it('tells the items of lists of type map apart by their keys', () => {
    const list = (type: string) =>
      spec({
        list: {
          type: 'array',
          'x-kubernetes-list-type': type,
          'x-kubernetes-list-map-keys': ['k'],
          items: object(
            { k: { type: 'string' }, v: { type: 'integer' } },
            rule('self.v >= oldSelf.v', { message: 'shrinks' }),
          ),
        },
      });
    const items = (...pairs: [string, number][]) => ({ spec: { list: pairs.map(([k, v]) => ({ k, v })) } });
    expect(validate(list('map'), items(['b', 1], ['a', 1]), items(['a', 2], ['b', 1])).errors).toEqual([
      'spec.list[1]: Invalid value: shrinks',
    ]);
    expect(validate(list('atomic'), items(['a', 1]), items(['a', 2])).errors).toEqual([]);
  });

  it('warns of what an update did not change', () => {
    const schema = spec({ a: { type: 'string', ...rule('self != "x"') }, b: { type: 'integer' } });
    const { errors, warnings } = validate(schema, { spec: { a: 'x', b: 2 } }, { spec: { a: 'x', b: 1 } });
    expect(errors).toEqual([]);
    expect(warnings).toEqual(['spec.a: Invalid value: "x": failed rule: self != "x"']);
    // Transition rules never ratchet, and nothing in a list that is atomic and changed.
    const transition = spec({ a: { type: 'string', ...rule('self != oldSelf') } });
    expect(validate(transition, { spec: { a: 'x' } }, { spec: { a: 'x' } }).errors).toHaveLength(1);
    const atomic = spec({ l: { type: 'array', items: { type: 'string', ...rule('self != "x"') } } });
    expect(validate(atomic, { spec: { l: ['x', 'y'] } }, { spec: { l: ['x'] } }).errors).toHaveLength(1);
    expect(validate(atomic, { spec: { l: ['x'] } }, { spec: { l: ['x'] } }).warnings).toHaveLength(1);
  });

  it('holds a change of order for none, and an unknown field or a missing key for one', () => {
    const more = { 'x-kubernetes-preserve-unknown-fields': true };
    const list = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
    const schema = spec({
      open: { ...object({ a: { type: 'string' } }, rule('false')), ...more },
      parts: { type: 'array', items: object({ k: { type: 'string' } }), ...list, ...rule('false') },
      n: { type: 'integer' },
    });
    const errors = (value: Json, old: Json) =>
      validate(schema, { spec: { ...value, n: 2 } }, { spec: { ...old, n: 1 } }).errors.length;
    expect(errors({ open: { a: 'x' } }, { open: { a: 'x' } })).toBe(0);
    expect(errors({ open: { a: 'x', z: 1 } }, { open: { a: 'x', z: 1 } })).toBe(1);
    expect(errors({ parts: [{ k: 'a' }, { k: 'b' }] }, { parts: [{ k: 'b' }, { k: 'a' }] })).toBe(0);
    expect(errors({ parts: [{}] }, { parts: [{}] })).toBe(1);
  });

  it('stops when the budget of the object is spent', () => {
    const schema = spec(
      { l: { type: 'array', items: { type: 'integer' } } },
      rule('self.l.all(x, self.l.all(y, x + y < 0 || true))'),
    );
    const value = { spec: { l: Array.from({ length: 1000 }, (_, index) => index) } };
    expect(validate(schema, value).errors).toEqual([
      `spec: Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.l.all(x, self.l.all(y, x + y < 0 || true))`,
    ]);
    const many = spec({ l: { type: 'array', items: { type: 'integer', ...rule('[1].all(x, x > 0)') } } });
    const { errors } = createRuleValidator(structuralSchema(many))!.validate(value, { costBudget: 50 });
    expect(errors.at(-1)?.message).toBe(
      'Invalid value: "integer": validation failed due to running out of cost budget, no further validation rules will be run',
    );
  });
});

describe('the rules of a schema', () => {
  const check = (schema: Json) =>
    checkRules(structuralSchema(schema), 's').map(({ field, message }) => `${field}: ${message}`);

  it('compile', () => {
    expect(check(spec({ a: { type: 'integer' } }, rule('self.a > 1')))).toEqual([]);
    expect(check(spec({ a: { type: 'integer' } }, rule('self.b > 1')))).toEqual([
      `s.properties[spec].x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.b \\u003e 1","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b > 1\n | ....^`,
    ]);
    expect(check(spec({ a: { type: 'integer' } }, rule('self.a')))[0]).toContain(
      'cel expression must evaluate to a bool',
    );
    expect(check(spec({}, rule('true', { messageExpression: '1' })))[0]).toContain(
      'messageExpression must evaluate to a string',
    );
  });

  it('have texts, reasons and paths that make sense', () => {
    const at = (text: string, more: Json) => check(spec({ a: { type: 'integer' } }, rule(text, more)));
    expect(at(' ', {})).toEqual([
      's.properties[spec].x-kubernetes-validations[0].rule: Required value: rule is not specified',
    ]);
    expect(at('true', { message: ' ' })[0]).toContain('.message: Invalid value: " ": must be non-empty if specified');
    expect(at('true', { message: 'a\nb' })[0]).toContain('must not contain line breaks');
    expect(at('true &&\ntrue', {})[0]).toContain('message must be specified if rule contains line breaks');
    expect(at('true', { reason: 'Nope' })[0]).toContain(
      'Unsupported value: "Nope": supported values: "FieldValueDuplicate"',
    );
    expect(at('true', { fieldPath: '.zz' })[0]).toContain('.fieldPath: Invalid value: ".zz": must be a valid path');
    expect(at('true', { fieldPath: '.a' })).toEqual([]);
    expect(at('true', { optionalOldSelf: true })[0]).toContain('may not be set if oldSelf is not used in rule');
  });

  it('use oldSelf only where it can be known', () => {
    const list = (type?: string) =>
      spec({
        l: {
          type: 'array',
          maxItems: 5,
          ...(type !== undefined && { 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': ['k'] }),
          items: object({ k: { type: 'string' } }, rule('self.k == oldSelf.k')),
        },
      });
    expect(check(list('map'))).toEqual([]);
    expect(check(list())[0]).toContain(
      'oldSelf cannot be used on the uncorrelatable portion of the schema within s.properties[spec].properties[l]',
    );
  });

  it('cost less than the limits', () => {
    const list = (more: Json) =>
      spec({ l: { type: 'array', ...more, items: { type: 'string' }, ...rule('self.all(x, self.all(y, x == y))') } });
    expect(check(list({ maxItems: 10 }))).toEqual([
      expect.stringMatching(
        /^s\.properties\[spec\]\.properties\[l\]\.x-kubernetes-validations\[0\]\.rule: Forbidden: estimated rule cost exceeds budget by factor of [\d.]+x \(try/,
      ),
    ]);
    expect(check(list({}))).toEqual([
      expect.stringContaining('estimated rule cost exceeds budget by factor of more than 100x'),
      expect.stringContaining(
        'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      ),
      expect.stringContaining(
        's: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x',
      ),
    ]);
  });
});
