import type { GoField, GoScalar, GoStruct, GoType } from './go-type.js';

const scalars: Readonly<Record<string, readonly [GoScalar, string]>> = {
  s: ['string', 'string'],
  b: ['bool', 'bool'],
  i: ['int32', 'int32'],
  l: ['int64', 'int64'],
  f: ['float64', 'float64'],
  y: ['bytes', '[]uint8'],
  a: ['any', 'interface {}'],
  t: ['time', 'v1.Time'],
  u: ['microTime', 'v1.MicroTime'],
  D: ['duration', 'v1.Duration'],
  q: ['quantity', 'resource.Quantity'],
  I: ['intOrString', 'intstr.IntOrString'],
  R: ['raw', 'runtime.RawExtension'],
};

const unions: Readonly<Record<string, 'bool' | 'structs' | 'strings'>> = { b: 'bool', l: 'structs', s: 'strings' };

/** A table of Go types, one per line, with look-ups into its lines. A type and a field are each parsed on first use. */
export class GoTable {
  readonly #lines: readonly string[];
  readonly #structs = new Map<number, GoStruct>();

  constructor(text: string) {
    this.#lines = text.split('\n');
  }

  #split(index: number): [goName: string, body: string] {
    const line = this.#lines[index];
    if (line === undefined) throw new RangeError(`table of Go types: there is no type ${index}`);
    const tab = line.indexOf('\t');
    return [line.slice(0, tab), line.slice(tab + 1)];
  }

  struct(index: number): GoStruct {
    const known = this.#structs.get(index);
    if (known !== undefined) return known;
    const [goName, body] = this.#split(index);
    const parse = (): ReadonlyMap<string, GoField> => this.#fields(body);
    let fields: ReadonlyMap<string, GoField> | undefined;
    const struct: GoStruct = {
      goName,
      get fields() {
        fields ??= parse();
        return fields;
      },
    };
    this.#structs.set(index, struct);
    return struct;
  }

  #fields(body: string): ReadonlyMap<string, GoField> {
    const fields = new Map<string, GoField>();
    if (body === '') return fields;
    for (const text of body.split('|')) {
      const [name = '', expression = '', flags = '', protobuf = '', ...extras] = text.split(',');
      const field: { -readonly [K in keyof GoField]: GoField[K] } = {
        name,
        type: this.type(expression),
        omitEmpty: flags.includes('e'),
        omitZero: flags.includes('z'),
        optional: flags.includes('o'),
      };
      if (protobuf !== '') field.protobuf = protobuf.split('.').map(Number);
      for (const extra of extras) {
        const value = extra.slice(1);
        if (extra.startsWith('p')) field.patchStrategy = value.split('+');
        else if (extra.startsWith('k')) field.patchMergeKey = value;
        else if (extra.startsWith('l')) field.listType = value;
        else if (extra.startsWith('K')) field.listMapKeys = value.split('+');
        else if (extra.startsWith('m')) field.mapType = value;
        else if (extra.startsWith('d')) field.default = JSON.parse(value);
      }
      fields.set(name, field);
    }
    return fields;
  }

  type(expression: string, pointer = false): GoType {
    const rest = expression.slice(1);
    switch (expression[0]) {
      case '*':
        return this.type(rest, true);
      case '[': {
        const of = this.type(rest);
        return { pointer, form: 'list', of, goName: `[]${of.pointer ? '*' : ''}${of.goName}` };
      }
      case '{': {
        const of = this.type(rest);
        return { pointer, form: 'map', of, goName: `map[string]${of.pointer ? '*' : ''}${of.goName}` };
      }
      case '~': {
        const or = unions[rest[0] ?? ''];
        const struct = this.struct(Number(rest.slice(2)));
        if (or === undefined) break;
        return { pointer, form: 'union', struct, or, goName: struct.goName };
      }
      case '#': {
        const [goName, body] = this.#split(Number(rest));
        if (body.startsWith('=&[')) {
          const of = this.type(body.slice(3));
          return { pointer, form: 'list', of, goName, isMessage: true };
        }
        if (body.startsWith('=')) return { ...this.type(body.slice(1), pointer), goName };
        return { pointer, form: 'struct', struct: this.struct(Number(rest)), goName };
      }
      default: {
        const scalar = scalars[expression];
        if (scalar !== undefined) return { pointer, form: 'scalar', scalar: scalar[0], goName: scalar[1] };
      }
    }
    throw new RangeError(`table of Go types: cannot read the type ${JSON.stringify(expression)}`);
  }
}
