/** Reads the generated table. A kind, a type and a field are each read when they are first asked for. */
import type { GoField, GoScalar, GoStruct, GoType } from '../schema/go-type.js';
import { bodies, kinds, release, types } from './generated/builtin-table.js';
import type { KindRef, Verb } from './resource.js';

/** A subresource as the table has it. */
export interface BuiltinSubresource extends KindRef {
  readonly name: string;
  readonly verbs: readonly Verb[];
}

/** A built-in kind as the table has it. */
export interface BuiltinKind extends KindRef {
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly Verb[];
  readonly subresources: readonly BuiltinSubresource[];
  readonly struct: GoStruct;
}

const verbs: Readonly<Record<string, Verb>> = {
  c: 'create',
  d: 'delete',
  D: 'deletecollection',
  g: 'get',
  l: 'list',
  p: 'patch',
  u: 'update',
  w: 'watch',
};

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

function list(text: string): string[] {
  return text === '' ? [] : text.split('+');
}

function verbsOf(letters: string): Verb[] {
  return Array.from(letters, (letter) => verbs[letter]).filter((verb) => verb !== undefined);
}

/** The table, opened: look-ups into its lines. */
class Table {
  readonly #lines: readonly string[] = types.split('\n');
  readonly #structs = new Map<number, GoStruct>();

  #split(index: number): [goName: string, body: string] {
    const line = this.#lines[index];
    if (line === undefined) throw new RangeError(`builtin table: there is no type ${index}`);
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
      if (protobuf !== '') field.protobuf = Number(protobuf);
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
        if (body.startsWith('=')) return { ...this.type(body.slice(1), pointer), goName };
        return { pointer, form: 'struct', struct: this.struct(Number(rest)), goName };
      }
      default: {
        const scalar = scalars[expression];
        if (scalar !== undefined) return { pointer, form: 'scalar', scalar: scalar[0], goName: scalar[1] };
      }
    }
    throw new RangeError(`builtin table: cannot read the type ${JSON.stringify(expression)}`);
  }
}

let opened: Table | undefined;

function table(): Table {
  opened ??= new Table();
  return opened;
}

function parseSubresource(text: string): BuiltinSubresource {
  const [name = '', group = '', version = '', kind = '', letters = ''] = text.split(':');
  return { name, group, version, kind, verbs: verbsOf(letters) };
}

/** All built-in kinds. */
export function builtinKinds(): BuiltinKind[] {
  return kinds.split('\n').map((line) => {
    const [group = '', version = '', kind = '', plural = '', singular = '', ...more] = line.split(',');
    const [shortNames = '', categories = '', scope = '', letters = '', subresources = '', type = ''] = more;
    return {
      group,
      version,
      kind,
      plural,
      singular,
      shortNames: list(shortNames),
      categories: list(categories),
      namespaced: scope === 'n',
      verbs: verbsOf(letters),
      subresources: list(subresources).map(parseSubresource),
      struct: table().struct(Number(type)),
    };
  });
}

let known: ReadonlySet<string> | undefined;

/** Whether an apiVersion and kind are those of a built-in kind. */
export function isBuiltinKind(apiVersion: string, kind: string): boolean {
  known ??= new Set(
    builtinKinds().map((each) => `${each.group === '' ? '' : `${each.group}/`}${each.version} ${each.kind}`),
  );
  return known.has(`${apiVersion} ${kind}`);
}

/** The type of a request body that is not a resource: Scale, Eviction, TokenRequest, DeleteOptions. */
export function bodyStruct(name: string): GoStruct {
  for (const line of bodies.split('\n')) {
    const [given, index] = line.split(',');
    if (given === name) return table().struct(Number(index));
  }
  throw new RangeError(`builtin table: there is no body type ${JSON.stringify(name)}`);
}

/** The type of `metadata`. */
export function objectMetaStruct(): GoStruct {
  return table().struct(0);
}

/** The Kubernetes release that the built-in kinds are those of, e.g. `1.36.3`. */
export const builtinRelease: string = release;
