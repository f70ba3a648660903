import { describe, expect, it } from 'vitest';
import {
  CelCompileError,
  CelCostExceededError,
  CelEvaluationError,
  createCelEnvironment,
  structuralSchema,
} from './index.js';

const object = {
  metadata: { name: 'a', labels: { app: 'x' } },
  spec: { replicas: 3, ratio: 0.5, list: [1, 2, 3], nothing: null, big: 9007199254740993n },
};
const dynamic = createCelEnvironment({ variables: { object: 'dyn', oldObject: 'dyn', request: 'dyn' } });

function evaluate(expression: string): { value: unknown; cost: number } {
  return dynamic.compile(expression).evaluate({ object, oldObject: null });
}

function problem(run: () => unknown): Error {
  try {
    run();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('expected an error');
}

describe('a condition over dynamic objects', () => {
  it.each([
    ['object.spec.replicas <= 5', true, 4],
    ['object.spec.ratio < 1', true, 4],
    ['object.spec.big == 9007199254740993', true, 4],
    // As Go writes doubles: with an exponent from a million on.
    ['string(1234567.5) == "1.2345675e+06"', true, undefined],
    ['string(0.00001) == "1e-05" && string(100000.5) == "100000.5"', true, undefined],
    ['"%s".format([[1.5, 1234567.5]]) == "[1.500000, 1234567.500000]"', true, undefined],
    // As golang.org/x/text writes them in English, exact ties to the even digit.
    ['"%.0f %.0f %.2f %.1f".format([0.5, 1.5, 0.125, -0.25]) == "0 2 0.12 -0.2"', true, undefined],
    [
      '"%f %.2f %.0f".format([1234567.5, 1e23, -0.0]) == "1,234,567.500000 99,999,999,999,999,991,611,392.00 0"',
      true,
      undefined,
    ],
    [
      '"%e|%.15e|%e".format([-999999.5, 1.5, 5e-324]) == "-9.999995×10⁰⁵|  1.500000×10⁰⁰|4.940656×10⁻³²⁴"',
      true,
      undefined,
    ],
    ['"%f %f".format([double("Infinity"), "-Infinity"]) == "∞ -∞"', true, undefined],
    ['"%s".format([[b"a", "\\u0001", double("NaN")]]) == "[b\\"a\\", \\"\\\\x01\\", \\"NaN\\"]"', true, undefined],
    // What is not evaluated behind a failure costs nothing.
    ['object.spec.nope.replace(object.metadata.name, "b") == "" || true', true, 3],
    ['object.spec.nope.matches("^a") || true', true, 3],
    ['object.spec.list[true ? 0 : 1] == 1', true, 5],
    ['isQuantity("k") && isQuantity(".5n") && !isQuantity("1KG") && !isQuantity("")', true, undefined],
    ['object.spec.nothing == null', true, 4],
    ['oldObject == null', true, 2],
    ['has(object.spec.foo)', false, 2],
    ['has(object.spec.nothing)', true, 2],
    ['object.spec.list.all(x, x > 0)', true, 19],
    ['object.spec.list.exists(x, x == 2)', true, undefined],
    ['object.spec.list.exists_one(x, x == 2)', true, undefined],
    ['object.spec.list.map(x, x * 2) == [2, 4, 6]', true, undefined],
    ['object.spec.list.map(x, x > 1, x * 2) == [4, 6]', true, undefined],
    ['object.spec.list.filter(x, x > 1).size() == 2', true, undefined],
    ['object.spec.list.all(i, x, i < x)', true, undefined],
    ['object.metadata.labels.all(k, object.metadata.labels[k] == "x")', true, undefined],
    ['object.metadata.labels["app"] in ["x", "y"]', true, 4],
    ['"app" in object.metadata.labels', true, undefined],
    ['object.?spec.?foo.orValue(4) == 4', true, undefined],
    ['object.?spec.foo.hasValue()', false, undefined],
    ['object.spec[?"replicas"].value() == 3', true, undefined],
    ['optional.of(1).optMap(x, x + 1).value() == 2', true, undefined],
    ['[?optional.none(), ?optional.of(1)] == [1]', true, undefined],
    ['{?"a": optional.none(), "b": 2} == {"b": 2}', true, undefined],
    ['true || 1 / 0 == 0', true, 0],
    ['1 / 0 == 0 || true', true, undefined],
    ['false && object.nope', false, 0],
    ['type(object.spec.replicas) == int', true, undefined],
    ['type(object) == map', true, undefined],
    ['dyn(1) == 1.0 && 1u == dyn(1)', true, undefined],
    ['timestamp("2020-01-01T00:00:00Z") + duration("24h") == timestamp("2020-01-02T00:00:00Z")', true, undefined],
    ['timestamp("2020-07-01T12:00:00Z").getHours("Europe/Berlin") == 14', true, undefined],
    ['"%s has %d".format([dyn("a"), 3]) == "a has 3"', true, undefined],
    ['"héllo".size() == 5 && b"h\\xc3\\xa9".size() == 3', true, undefined],
    ['string(b"\\x61") == "a" && bytes("a") == b"a"', true, undefined],
    ['-9223372036854775808 < -9223372036854775807', true, 1],
    ['7 / -2 == -3 && 7 % -2 == 1 && -7 % 2 == -1', true, undefined],
    ['"a\\u00e9\\n" == "aé\\x0a" && r"\\n".size() == 2 && """a\n""" == "a\\n"', true, undefined],
  ])('%s', (expression, value, cost) => {
    const result = evaluate(expression);
    expect(result.value).toBe(value);
    if (cost !== undefined) expect(result.cost).toBe(cost);
  });

  it.each([
    ['-([][0]) == 1', "'_==_' applied to '(double, int)'"],
    ['([][0]) + ([][0]) == 1', "'_==_' applied to '(bytes, int)'"],
    ['"%d".format([1.5]) == ""', 'decimal clause can only be used on integers, was given double'],
    ['"%s".format([[duration("1s"), optional.none()]]) == ""', 'was given optional_type'],
    ['"%d".format([duration("1s")]) == ""', 'was given google.protobuf.Duration'],
    ['"%.f".format([1.5]) == ""', 'strconv.Atoi: parsing "": invalid syntax'],
    ['"%5d".format([1]) == ""', 'unrecognized formatting clause "5"'],
    ['b"\\u0041" == b"A"', 'unable to unescape string'],
  ])('does not compile %s', (expression, text) => {
    expect(() => dynamic.compile(expression)).toThrow(text);
  });

  it.each([
    ['object.spec.foo', 'no such key: foo'],
    ['object.spec.list[7]', 'index out of bounds: 7'],
    ['object.spec.list[-1]', 'index out of bounds: -1'],
    ['object.metadata.name.foo', 'no such key: foo'],
    ['object.metadata.name + 1', 'no such overload'],
    ['object.spec.replicas / 0', 'division by zero'],
    ['9223372036854775807 + object.spec.replicas', 'integer overflow'],
    ['optional.none().value()', 'optional.none() dereference'],
    ['request.operation', 'no such attribute(s): request'],
    ['object.spec.list.all(x, x.y)', 'no such key: y'],
    ['int(object.metadata.name)', "type conversion error from 'string' to 'int'"],
  ])('%s fails: %s', (expression, message) => {
    const error = problem(() => evaluate(expression));
    expect(error).toBeInstanceOf(CelEvaluationError);
    expect(error.message).toBe(message);
  });
});

describe('compilation', () => {
  it.each([
    ['x.y', "ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x.y\n | ^"],
    [
      '1 + "a"',
      `ERROR: <input>:1:3: found no matching overload for '_+_' applied to '(int, string)'\n | 1 + "a"\n | ..^`,
    ],
    ['nope(1)', "ERROR: <input>:1:5: undeclared reference to 'nope' (in container '')\n | nope(1)\n | ....^"],
    [
      '"a".size(1)',
      `ERROR: <input>:1:9: found no matching overload for 'size' applied to 'string.(int)'\n | "a".size(1)\n | ........^`,
    ],
    ['[1, "a"]', `ERROR: <input>:1:5: expected type 'int' but found 'string'\n | [1, "a"]\n | ....^`],
    [
      '["a", dyn("b")]',
      `ERROR: <input>:1:10: expected type 'string' but found 'dyn'\n | ["a", dyn("b")]\n | .........^`,
    ],
    ['{"a": dyn(1), "b": 1}', undefined],
    ['1.a', undefined],
    ['object.\nall(1, true)', 'ERROR: <input>:2:5: argument must be a simple name\n | all(1, true)\n | ....^'],
    ['duration("x")', `ERROR: <input>:1:10: invalid duration argument\n | duration("x")\n | .........^`],
    ['"a".matches("(")', `ERROR: <input>:1:13: invalid matches argument\n | "a".matches("(")\n | ............^`],
    ['a b', "ERROR: <input>:1:3: Syntax error: extraneous input 'b' expecting <EOF>\n | a b\n | ..^"],
    ['!-(1)', "ERROR: <input>:1:3: Syntax error: no viable alternative at input '-('\n | !-(1)\n | ..^"],
    ['!- x', "ERROR: <input>:1:4: Syntax error: no viable alternative at input '- x'\n | !- x\n | ...^"],
    ['!-', "ERROR: <input>:1:3: Syntax error: no viable alternative at input '-'\n | !-\n | ..^"],
    ['!-true', "ERROR: <input>:1:3: Syntax error: mismatched input 'true' expecting IDENTIFIER\n | !-true\n | ..^"],
    ['--!1', "ERROR: <input>:1:3: Syntax error: no viable alternative at input '-!'\n | --!1\n | ..^"],
    ['in', undefined],
    ['for.x', undefined],
  ])('refuses %s', (expression, text) => {
    const error = problem(() => dynamic.compile(expression));
    expect(error).toBeInstanceOf(CelCompileError);
    if (text !== undefined) expect(error.message).toBe(`compilation failed: ${text}`);
    expect(error.message).toMatch(/^compilation failed: ERROR: <input>:\d+:\d+: /);
  });

  it('refuses a result of another type than asked for', () => {
    expect(problem(() => dynamic.compile('1', { resultType: 'bool' })).message).toBe(
      'must evaluate to bool but got int',
    );
    expect(problem(() => dynamic.compile('object.on', { resultType: 'bool' })).message).toBe(
      'must evaluate to bool but got dyn',
    );
    expect(problem(() => dynamic.compile('1', { resultType: ['string', 'null'] })).message).toBe(
      'must evaluate to one of [string null_type] but got int',
    );
    expect(dynamic.compile('object.on == true', { resultType: 'bool' }).resultType).toBe('bool');
  });

  it('refuses a constant that does not convert', () => {
    expect(problem(() => dynamic.compile('int("x") == 1'))).toMatchObject({
      name: 'CelCompileError',
      message: "program instantiation failed: type conversion error from 'string' to 'int'",
    });
  });

  it('knows the libraries of a version', () => {
    const old = createCelEnvironment({ variables: { object: 'dyn' }, version: '1.27' });
    expect(problem(() => old.compile('optional.none()')).message).toContain("undeclared reference to 'optional'");
    expect(() => createCelEnvironment({ version: 'new' })).toThrow('version "new" is not a Kubernetes version');
  });
});

describe('schemas', () => {
  const schema = structuralSchema({
    type: 'object',
    properties: {
      a: { type: 'integer' },
      'b-c': { type: 'string', maxLength: 10 },
      namespace: { type: 'string' },
      list: { type: 'array', items: { type: 'string' } },
      set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'integer' } },
      keyed: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'integer' } } },
      },
      port: { 'x-kubernetes-int-or-string': true },
      time: { type: 'string', format: 'date-time' },
      wait: { type: 'string', format: 'duration' },
      bytes: { type: 'string', format: 'byte' },
      ratio: { type: 'number' },
      open: { 'x-kubernetes-preserve-unknown-fields': true },
      maybe: { type: 'string', nullable: true },
    },
  });
  const typed = createCelEnvironment({ variables: { self: { schema }, oldSelf: { schema } } });
  const self = {
    a: 2,
    'b-c': 'x',
    namespace: 'n',
    list: ['a', 'b'],
    set: [1, 2],
    keyed: [
      { k: 'a', v: 1 },
      { k: 'b', v: 2 },
    ],
    port: '80%',
    time: '2020-01-01T00:00:00Z',
    wait: '90s',
    bytes: 'aGk=',
    ratio: 2,
    open: { x: 1 },
    maybe: null,
  };
  const oldSelf = { ...self, set: [2, 1], keyed: self.keyed.toReversed(), list: ['b', 'a'] };

  it.each([
    ['self.a == 2', true],
    ['self.b__dash__c == "x"', true],
    ['self.__namespace__ == "n"', true],
    ['self.set == oldSelf.set', true],
    ['self.list == oldSelf.list', false],
    ['self.keyed == oldSelf.keyed', true],
    ['(self.set + oldSelf.set).size() == 2', true],
    ['(self.list + oldSelf.list).size() == 4', true],
    ['(self.keyed + oldSelf.keyed).size() == 2', true],
    ['type(self.port) == string && self.port.endsWith("%")', true],
    ['self.time.getFullYear() == 2020', true],
    ['self.wait.getMinutes() == 1', true],
    ['string(self.bytes) == "hi"', true],
    ['self.ratio + 0.5 == 2.5', true],
    ['has(self.maybe)', false],
    ['self == oldSelf', false],
    ['self == self', true],
  ])('%s', (expression, value) => {
    expect(typed.compile(expression, { resultType: 'bool' }).evaluate({ self, oldSelf }).value).toBe(value);
  });

  it.each([
    ['self.nope > 1', "<input>:1:5: undefined field 'nope'"],
    ['self.open', "<input>:1:5: undefined field 'open'"],
    ["self.a == 'x'", "<input>:1:8: found no matching overload for '_==_' applied to '(int, string)'"],
    ['self.a.b', "<input>:1:7: type 'int' does not support field selection"],
    ['self.metadata', "<input>:1:5: undefined field 'metadata'"],
  ])('refuses %s', (expression, text) => {
    expect(problem(() => typed.compile(expression)).message).toContain(text);
  });

  it('reads data that does not fit as an error', () => {
    const program = typed.compile('self.a == 1');
    expect(problem(() => program.evaluate({ self: { a: 'x' } })).message).toBe(
      'invalid data, expected int, got string',
    );
    expect(problem(() => program.evaluate({ self: { a: 1.5 } })).message).toBe(
      'invalid data, expected int, got float64',
    );
  });

  it('gives a resource its kind and name', () => {
    const resource = createCelEnvironment({ variables: { self: { schema, isResource: true } } });
    const program = resource.compile('self.kind == "W" && self.metadata.name == "n"', { resultType: 'bool' });
    expect(program.evaluate({ self: { kind: 'W', metadata: { name: 'n', labels: {} } } }).value).toBe(true);
    expect(() => resource.compile('self.metadata.labels')).toThrow("undefined field 'labels'");
  });

  it('estimates from the sizes that the schema allows', () => {
    const estimate = (expression: string) => typed.compile(expression).estimateCost();
    expect(estimate('self.a > 1')).toEqual({ min: 3, max: 3 });
    expect(estimate('self.b__dash__c == "x"')).toEqual({ min: 3, max: 3 });
    expect(estimate('self.list.all(x, self.list.all(y, x == y))').max).toBeGreaterThan(1e15);
  });
});

describe('bounds', () => {
  it('stops at the cost limit', () => {
    const program = dynamic.compile('object.list.all(x, object.list.all(y, object.list.all(z, x + y + z > 0)))');
    const activation = { object: { list: Array.from({ length: 200 }, () => 1) } };
    const error = problem(() => program.evaluate(activation));
    expect(error).toBeInstanceOf(CelCostExceededError);
    expect(error.message).toBe('operation cancelled: actual cost limit exceeded');
    expect(problem(() => program.evaluate(activation, { costLimit: 10 }))).toMatchObject({ cost: 11 });
  });

  it('does not let an expression nest or grow without end', () => {
    for (const text of [
      '('.repeat(5000),
      `${'['.repeat(5000)}1${']'.repeat(5000)}`,
      '!'.repeat(90_000),
      `object${'.a'.repeat(5000)}`,
      `1${'+1'.repeat(5000)}`,
      'a?'.repeat(5000),
      'x'.repeat(100_001),
    ]) {
      expect(problem(() => dynamic.compile(text))).toBeInstanceOf(CelCompileError);
    }
    expect(dynamic.compile(`true${' && true'.repeat(5000)}`).evaluate({}).value).toBe(true);
  });

  it.each([60, 90])('bounds lists that double %d times', (levels) => {
    const body = Array.from({ length: levels }).reduce<string>(
      (inner) => `optional.of(a + a).optMap(a, ${inner}).value()`,
      'a.all(x, x == 1)',
    );
    const program = dynamic.compile(`optional.of([1]).optMap(a, ${body}).value()`);
    expect(problem(() => program.evaluate({}))).toBeInstanceOf(CelEvaluationError);
  });

  it('survives data that nests deeper than the stack', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level++) deep = [deep];
    let other: unknown = 1;
    for (let level = 0; level < 100_000; level++) other = [other];
    const program = dynamic.compile('object == oldObject');
    expect(problem(() => program.evaluate({ object: deep, oldObject: other })).message).toBe(
      'value or expression nests too deeply',
    );
  });

  it('matches hostile patterns in linear time', () => {
    const program = dynamic.compile('object.matches("^(a+)+$")');
    expect(program.evaluate({ object: `${'a'.repeat(50_000)}!` }).value).toBe(false);
  });
});

it('has() of a field that does not fit its schema is an error, as on the API server', () => {
  const schema = structuralSchema({ type: 'object', properties: { size: { type: 'integer' } } });
  const program = createCelEnvironment({ variables: { self: { schema } } }).compile('has(self.size)');
  expect(program.evaluate({ self: { size: 3 } }).value).toBe(true);
  expect(program.evaluate({ self: {} }).value).toBe(false);
  expect(() => program.evaluate({ self: { size: 1.5 } })).toThrow('invalid data, expected int, got float64');
});

it.each([
  ['duration', '2 hours', '"7200s"'],
  ['duration', '6ba7b810-9dad-11d1-80b4-00c04fd430c8', '"950400s"'],
  ['duration', '-1.5h', '"-5400s"'],
  ['date-time', '2026-01-02T03:04:05', '"2026-01-02T03:04:05Z"'],
  ['date-time', '', '"1970-01-01T00:00:00Z"'],
])('reads a %s as the API server does: %s', (format, text, shown) => {
  const schema = structuralSchema({ type: 'object', properties: { at: { type: 'string', format } } });
  const program = createCelEnvironment({ variables: { self: { schema } } }).compile(`string(self.at) == ${shown}`);
  expect(program.evaluate({ self: { at: text } }).value).toBe(true);
});

it.each([
  ['duration', '2 parsecs'],
  ['duration', '99999999999999999999 hours'],
  ['date-time', '2026-01-02t03:04:05Z'],
])('reads no %s from %s, as the API server', (format, text) => {
  const schema = structuralSchema({ type: 'object', properties: { at: { type: 'string', format } } });
  const program = createCelEnvironment({ variables: { self: { schema } } }).compile('has(self.at)');
  expect(() => program.evaluate({ self: { at: text } })).toThrow(`Invalid ${format}`);
});
