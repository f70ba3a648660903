import { full, schema } from './corpus.js';
import type { Question } from './oracle.js';

/** A repeatable source of randomness (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Kind = 'bool' | 'int' | 'double' | 'string' | 'ints' | 'strings';
type Locals = readonly (readonly [name: string, kind: Kind])[];

const kinds: readonly Kind[] = ['bool', 'int', 'double', 'string', 'ints', 'strings'];
const texts = ['', 'a', 'b', 'ab', 'abc', 'one', 'k', 'v', '80%', 'wörld', '10.0.0.1', '1Gi', '1.2.3'];
const names = ['x', 'y', 'z'];

/** Makes rules of the corpus's schema, most of them well typed, and values that are valid by it. */
export class Generator {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomOf(seed);
  }

  question(): Question {
    const isText = this.#random() < 0.2;
    const rule = this.#expression(isText ? 'string' : 'bool', 4, []);
    return { schema, rule, self: this.#self(), oldSelf: this.#self(), isText };
  }

  #int(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    const item = items[this.#int(items.length)];
    if (item === undefined) throw new RangeError('nothing to pick from');
    return item;
  }

  #text(): string {
    return this.#pick(texts);
  }

  #self(): Record<string, unknown> {
    const list = <T>(make: () => T, most: number): T[] => Array.from({ length: this.#int(most + 1) }, make);
    const unique = (items: readonly string[]): string[] => [...new Set(items)];
    const whole: Record<string, unknown> = {
      ...full,
      i: this.#int(7) - 3,
      j: this.#int(4),
      d: this.#pick([0, 0.5, 1, 1.5, -2.25]),
      s: this.#text(),
      t: this.#text(),
      e: this.#pick(['one', 'three']),
      b: this.#random() < 0.5,
      p: this.#random() < 0.5 ? this.#int(5) : this.#text(),
      l: list(() => this.#int(5), 4),
      m: list(() => this.#text(), 4),
      set: unique(list(() => this.#text(), 3)),
      keyed: unique(list(() => this.#pick(['a', 'b', 'c']), 3)).map((k) => ({ k, v: this.#int(4) })),
      map: Object.fromEntries(list(() => [this.#text(), this.#text()], 3)),
      free: Object.fromEntries(list(() => [this.#text(), this.#int(4)], 3)),
    };
    for (const name of Object.keys(whole)) if (this.#random() < 0.1) Reflect.deleteProperty(whole, name);
    return whole;
  }

  /** Seldom an expression of another type than asked for, so that type errors are compared, too. */
  #expression(kind: Kind, depth: number, locals: Locals): string {
    const asked = this.#random() < 0.015 ? this.#pick(kinds) : kind;
    const local = locals.filter(([, each]) => each === asked);
    if (local.length > 0 && this.#random() < 0.4) return this.#pick(local)[0];
    if (depth <= 0 || this.#random() < 0.15) return this.#leaf(asked);
    const next = (each: Kind): string => this.#expression(each, depth - 1, locals);
    if (this.#random() < 0.06) return `(${next('bool')} ? ${next(asked)} : ${next(asked)})`;
    switch (asked) {
      case 'bool':
        return this.#bool(next, depth, locals);
      case 'int':
        return this.#integer(next, depth, locals);
      case 'double':
        return this.#pick([
          () => `double(${next('int')})`,
          () => `(${next('double')} ${this.#pick(['+', '-', '*', '/'])} ${next('double')})`,
        ])();
      case 'string':
        return this.#string(next);
      case 'ints':
        return this.#list(next, 'int', depth, locals);
      case 'strings':
        return this.#list(next, 'string', depth, locals);
    }
  }

  #leaf(kind: Kind): string {
    const self = this.#random() < 0.15 ? 'oldSelf' : 'self';
    switch (kind) {
      case 'bool':
        return this.#pick([
          'true',
          'false',
          `${self}.b`,
          `has(${self}.i)`,
          `has(${self}.o.n)`,
          `has(${self}.p)`,
          `has(${self}.map)`,
        ]);
      case 'int':
        return this.#pick([
          '0',
          '1',
          '2',
          '-3',
          `${self}.i`,
          `${self}.j`,
          `${self}.o.a`,
          `${self}.l[0]`,
          `${self}.free["a"]`,
          `${self}.keyed[0].v`,
        ]);
      case 'double':
        return this.#pick(['0.0', '1.5', '-2.0', '0.125', '1234567.5', '-0.0', '1e23', '5e-324', `${self}.d`]);
      case 'string':
        return this.#pick([
          JSON.stringify(this.#text()),
          `${self}.s`,
          `${self}.t`,
          `${self}.e`,
          `${self}.x__dash__y`,
          `${self}.__namespace__`,
          `${self}.map["k"]`,
          `${self}.m[0]`,
        ]);
      case 'ints':
        return this.#pick(['[]', '[1, 2]', `${self}.l`, `[${self}.i]`]);
      case 'strings':
        return this.#pick(['[]', '["a", "b"]', `${self}.m`, `${self}.set`, `[${self}.s, "z"]`]);
    }
  }

  #bool(next: (kind: Kind) => string, depth: number, locals: Locals): string {
    return this.#pick([
      () => `(${next('bool')} && ${next('bool')})`,
      () => `(${next('bool')} || ${next('bool')})`,
      () => `!${next('bool')}`,
      () => {
        const kind = this.#pick(kinds);
        return `${next(kind)} ${this.#pick(['==', '!='])} ${next(kind)}`;
      },
      () => `${next('int')} ${this.#pick(['<', '<=', '>', '>='])} ${next(this.#pick(['int', 'double']))}`,
      () => `${next('string')} ${this.#pick(['<', '>='])} ${next('string')}`,
      () => `${next('int')} in ${next('ints')}`,
      () => `${next('string')} in ${next('strings')}`,
      () => `${next('string')} in self.map`,
      () => `${next('string')}.${this.#pick(['startsWith', 'endsWith', 'contains'])}(${next('string')})`,
      () => `${next('string')}.matches(${this.#pick(['"^a"', '"(a|b)*$"', '"[0-9]+"'])})`,
      () => this.#fold(this.#pick(['all', 'exists', 'exists_one']), 'int', 'bool', { next, depth, locals }),
      () => this.#fold(this.#pick(['all', 'exists', 'exists_one']), 'string', 'bool', { next, depth, locals }),
      () => `${next('ints')}.isSorted()`,
      () => `sets.${this.#pick(['contains', 'intersects', 'equivalent'])}(${next('strings')}, ${next('strings')})`,
      () => `type(self.p) == ${this.#pick(['string', 'int'])}`,
      () => `self.p == ${next(this.#pick(['int', 'string']))}`,
      () => `self.?${this.#pick(['i', 's', 'o', 'map'])}.hasValue()`,
      () => `isQuantity(${next('string')})`,
      () => `isIP(${next('string')})`,
      () => `isSemver(${next('string')})`,
      () => `isURL(${next('string')})`,
      () =>
        `self.${this.#pick(['set', 'keyed', 'l', 'o', 'map'])} == oldSelf.${this.#pick(['set', 'keyed', 'l', 'o', 'map'])}`,
      () => `self.map.all(k, self.map[k] != ${next('string')})`,
      () => `self.keyed.exists(e, e.k == ${next('string')})`,
    ])();
  }

  #integer(next: (kind: Kind) => string, depth: number, locals: Locals): string {
    return this.#pick([
      () => `(${next('int')} ${this.#pick(['+', '-', '*', '/', '%'])} ${next('int')})`,
      () => `size(${next(this.#pick(['string', 'ints', 'strings']))})`,
      () => `${next('strings')}.size()`,
      () => `${next('string')}.indexOf(${next('string')})`,
      () => `${next('ints')}.${this.#pick(['sum', 'max', 'min'])}()`,
      () => `${next('ints')}.indexOf(${next('int')})`,
      () => `${next('ints')}[${next('int')}]`,
      () => `int(${next(this.#pick(['string', 'double']))})`,
      () => `-(${next('int')})`,
      () => `self.?o.?a.orValue(${next('int')})`,
      () => `self.l[?${next('int')}].orValue(${next('int')})`,
      () => this.#fold('map', 'int', 'int', { next, depth, locals }) + '.sum()',
    ])();
  }

  #string(next: (kind: Kind) => string): string {
    return this.#pick([
      () => `(${next('string')} + ${next('string')})`,
      () => `string(${next(this.#pick(['int', 'bool', 'string']))})`,
      () => `${next('string')}.${this.#pick(['lowerAscii', 'upperAscii', 'trim'])}()`,
      () => `${next('string')}.replace(${next('string')}, ${next('string')})`,
      () => `${next('string')}.substring(${next('int')})`,
      () => `${next('strings')}.join(${next('string')})`,
      () => `${next('strings')}[${next('int')}]`,
      () => `${next('string')}.find(${this.#pick(['"a."', '"[a-z]+"', '"x*"'])})`,
      () => `self.map[?${next('string')}].orValue(${next('string')})`,
      () => `"%s-%d".format([${next('string')}, ${next('int')}])`,
      () => this.#format(next),
    ])();
  }

  /** A format with any clause, as a rule with an argument of a fitting type. */
  #format(next: (kind: Kind) => string): string {
    const verb = this.#pick([...'sssdffebxXo']);
    const fitting: Readonly<Record<string, readonly Kind[]>> = {
      s: kinds,
      f: ['double'],
      e: ['double'],
      b: ['int', 'bool'],
    };
    const fit: readonly Kind[] = fitting[verb] ?? ['int'];
    const kind: Kind = this.#pick(this.#random() < 0.05 ? kinds : fit);
    const precision = this.#random() < 0.5 ? `.${this.#pick([0, 1, 2, 3, 12, 30])}` : '';
    const arg = this.#random() < 0.3 ? `dyn(${next(kind)})` : next(kind);
    const list = this.#random() < 0.2 && verb === 's' ? this.#pick([`[${arg}]`, `{"k": ${arg}}`]) : arg;
    return `"${this.#pick(['', 'a', '%%'])}%${precision}${verb}".format([${list}])`;
  }

  #list(next: (kind: Kind) => string, item: 'int' | 'string', depth: number, locals: Locals): string {
    const list: Kind = item === 'int' ? 'ints' : 'strings';
    const more =
      item === 'string'
        ? [() => `${next('string')}.split(${next('string')})`, () => `self.keyed.map(e, e.k)`]
        : [() => `lists.range(${next('int')})`];
    return this.#pick([
      () => `(${next(list)} + ${next(list)})`,
      () => `[${next(item)}, ${next(item)}]`,
      () => this.#fold('filter', item, 'bool', { next, depth, locals }),
      () => this.#fold('map', item, item, { next, depth, locals }),
      () => `${next(list)}.${this.#pick(['sort', 'distinct', 'reverse'])}()`,
      ...more,
    ])();
  }

  #fold(
    macro: string,
    item: 'int' | 'string',
    body: Kind,
    { next, depth, locals }: { next: (kind: Kind) => string; depth: number; locals: Locals },
  ): string {
    const name = names[locals.length % names.length] ?? 'x';
    const range = next(item === 'int' ? 'ints' : 'strings');
    return `${range}.${macro}(${name}, ${this.#expression(body, depth - 2, [...locals, [name, item]])})`;
  }
}
