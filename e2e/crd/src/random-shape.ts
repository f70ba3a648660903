import type { Random } from './random.js';

export interface Field {
  readonly name: string;
  readonly shape: Shape;
  readonly isOptional: boolean;
}

/** A type that each library can write. */
export type Shape =
  | { readonly is: 'string' | 'integer'; readonly min: number; readonly max: number }
  | { readonly is: 'boolean' }
  | { readonly is: 'enum'; readonly values: readonly (string | number)[] }
  | { readonly is: 'list'; readonly items: Shape }
  | { readonly is: 'map'; readonly values: Shape }
  | ObjectShape
  | { readonly is: 'nullable'; readonly shape: Shape }
  | { readonly is: 'union'; readonly parts: readonly Shape[] }
  | { readonly is: 'both'; readonly left: ObjectShape; readonly right: ObjectShape }
  | { readonly is: 'named'; readonly name: string; readonly shape: Shape };

interface ObjectShape {
  readonly is: 'object';
  readonly fields: readonly Field[];
}

/** Draws shapes; some of them have a name and are drawn again. */
export class Shapes {
  readonly #random: Random;
  readonly #named: Shape[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  object(depth: number, names: readonly string[] = ['a', 'b', 'c', 'd']): ObjectShape {
    const count = 1 + this.#random.below(names.length);
    const fields = names
      .slice(0, count)
      .map((name) => ({ name, shape: this.shape(depth + 1), isOptional: this.#random.chance(0.4) }));
    return { is: 'object', fields };
  }

  shape(depth: number): Shape {
    const random = this.#random;
    if (random.chance(0.3)) return { is: 'nullable', shape: this.shape(depth) };
    if (random.chance(0.2)) return this.#name(depth);
    if (random.chance(0.08)) return { is: 'union', parts: [this.shape(depth + 1), this.shape(depth + 1)] };
    if (depth >= 3 || random.chance(0.55)) return this.#scalar();
    const kind = random.below(4);
    if (kind === 0) return { is: 'list', items: this.shape(depth + 1) };
    if (kind === 1) return { is: 'map', values: this.shape(depth + 1) };
    if (kind === 2 && random.chance(0.5))
      return { is: 'both', left: this.object(depth + 1), right: this.object(depth + 1, ['x', 'y']) };
    return this.object(depth);
  }

  #name(depth: number): Shape {
    const known = this.#named[this.#random.below(this.#named.length)];
    if (known !== undefined && this.#random.chance(0.5)) return known;
    const shape = this.shape(depth + 1);
    const named: Shape = { is: 'named', name: `N${String(this.#named.length)}`, shape };
    // A name is drawn while its own shape is: others may have been added meanwhile.
    if (this.#named.some((each) => each.is === 'named' && each.name === named.name)) return shape;
    this.#named.push(named);
    return named;
  }

  #scalar(): Shape {
    const random = this.#random;
    const min = random.below(3);
    switch (random.below(5)) {
      case 0:
        return { is: 'boolean' };
      case 1:
        return { is: 'integer', min: min - 1, max: min + 1 + random.below(5) };
      case 2:
        return { is: 'enum', values: ['a', 'b', 'cc'].slice(0, 1 + random.below(3)) };
      case 3:
        return { is: 'enum', values: [0, 1, 7].slice(random.below(2)) };
      default:
        return { is: 'string', min, max: min + random.below(4) };
    }
  }
}

const anything = ['', 'a', 'abcdefgh', 0, 1, 3, 99, true, null, [], {}, ['a'], [null], { a: 1 }, { a: null }] as const;

/** A value of a shape as a rule, with something else in a place of it at times. */
export function valueOf(random: Random, shape: Shape): unknown {
  if (random.chance(0.06)) return random.pick(anything);
  switch (shape.is) {
    case 'string':
      return 'abcdefgh'.slice(0, shape.min + random.below(shape.max - shape.min + 1));
    case 'integer':
      return shape.min + random.below(shape.max - shape.min + 1);
    case 'boolean':
      return random.chance(0.5);
    case 'enum':
      return shape.values[random.below(shape.values.length)];
    case 'list':
      return Array.from({ length: random.below(3) }, () => valueOf(random, shape.items));
    case 'map':
      return Object.fromEntries(['a', 'b'].slice(random.below(3)).map((name) => [name, valueOf(random, shape.values)]));
    case 'object':
      return Object.fromEntries(
        shape.fields
          .filter(({ isOptional }) => !random.chance(isOptional ? 0.4 : 0.03))
          .map((field) => [field.name, valueOf(random, field.shape)]),
      );
    case 'nullable':
      return random.chance(0.35) ? null : valueOf(random, shape.shape);
    case 'union':
      return valueOf(random, shape.parts[random.below(shape.parts.length)] ?? { is: 'boolean' });
    case 'both':
      return { ...Object(valueOf(random, shape.left)), ...Object(valueOf(random, shape.right)) };
    case 'named':
      return valueOf(random, shape.shape);
  }
}
