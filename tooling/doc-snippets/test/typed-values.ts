// Values that fit the types of parameters, read from the sources: so that each array and each object that a function takes
// is known by its place, and can be damaged there.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** An exported function, or a method of an interface. */
export interface Callable {
  readonly package: string;
  /** The interface whose method it is. */
  readonly of: string | undefined;
  readonly name: string;
  readonly parameters: readonly Parameter[];
}

/** One parameter, or one member of an interface. */
export interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
}

const packages = join(import.meta.dirname, '../../../packages');

function sourcesOf(name: string): ts.SourceFile[] {
  const folder = join(packages, name, 'src');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|\.d\.ts$|(?:^|\/)(?:kinds|schemas|generated)\//.test(file))
    .map((file) => {
      const path = join(folder, file);
      return ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
    });
}

function parameterOf(declared: ts.ParameterDeclaration | ts.PropertySignature | ts.MethodSignature): Parameter {
  const isFunction = ts.isMethodSignature(declared);
  const isRest = ts.isParameter(declared) && declared.dotDotDotToken !== undefined;
  const isDefault = ts.isParameter(declared) && declared.initializer !== undefined;
  return {
    name: declared.name.getText(),
    type: isFunction ? '() => unknown' : (declared.type?.getText() ?? 'unknown').replace(/\/\*.*?\*\//gs, ''),
    isOptional: declared.questionToken !== undefined || isRest || isDefault,
  };
}

function callable(
  of: Pick<Callable, 'package' | 'of' | 'name'>,
  parameters: ts.NodeArray<ts.ParameterDeclaration>,
): Callable {
  return { ...of, parameters: parameters.filter((each) => each.name.getText() !== 'this').map(parameterOf) };
}

/** What the sources of some packages declare. */
export class Declarations {
  readonly functions: readonly Callable[];
  readonly #members = new Map<string, readonly Parameter[]>();
  readonly #bases = new Map<string, readonly string[]>();

  constructor(names: readonly string[]) {
    const functions: Callable[] = [];
    for (const name of names)
      for (const source of sourcesOf(name))
        for (const statement of source.statements) {
          if (ts.isFunctionDeclaration(statement) && statement.name !== undefined)
            functions.push(callable({ package: name, of: undefined, name: statement.name.text }, statement.parameters));
          if (!ts.isInterfaceDeclaration(statement)) continue;
          this.#declare(statement);
          for (const method of statement.members.filter(ts.isMethodSignature))
            functions.push(
              callable({ package: name, of: statement.name.text, name: method.name.getText() }, method.parameters),
            );
        }
    this.functions = functions;
  }

  #declare(declared: ts.InterfaceDeclaration): void {
    const members = declared.members.flatMap((member) =>
      ts.isPropertySignature(member) || ts.isMethodSignature(member) ? [parameterOf(member)] : [],
    );
    const bases = (declared.heritageClauses ?? []).flatMap(({ types }) =>
      types.map(({ expression }) => expression.getText()),
    );
    this.#members.set(declared.name.text, members);
    this.#bases.set(declared.name.text, bases);
  }

  /** Members of an interface and of what it extends; undefined if none of its name is declared. */
  membersOf(name: string): readonly Parameter[] | undefined {
    const own = this.#members.get(name);
    if (own === undefined) return undefined;
    return [...own, ...(this.#bases.get(name) ?? []).flatMap((base) => this.membersOf(base) ?? [])];
  }

  /**
   * A value for a type: what `known` has for its name or its type, or else an object with each required member, and the
   * optional one `wanted`. Functions return undefined.
   */
  valueFor({ name, type }: Parameter, known: Known, wanted?: string): unknown {
    return this.#value({ name, type }, { known, wanted, depth: 0 });
  }

  #value({ name, type }: Pick<Parameter, 'name' | 'type'>, outer: Context): unknown {
    const context = { ...outer, depth: outer.depth + 1 };
    if (context.depth > 8) return {};
    const text = type
      .trim()
      .replace(/^readonly /, '')
      .replace(/^\((.*)\)$/s, '$1')
      .trim();
    const found = context.known(name, text);
    if (found !== undefined) return found;
    if (text.includes('=>')) return () => undefined;
    const list =
      /^(?:readonly )?(.*)\[\]$/s.exec(text)?.[1] ??
      /^(?:Readonly)?(?:Array|Iterable|Set|ReadonlySet)<(.*)>$/s.exec(text)?.[1];
    if (list !== undefined) return [this.#value({ name, type: list }, context)];
    if (/^["'`]/.test(text)) return text.slice(1).split(/["'`]/)[0];
    if (text.includes(' | ') && !/^[A-Z]\w*</.test(text))
      return this.#value({ name, type: text.split(' | ')[0] ?? '' }, context);
    if (/^(?:Readonly|Partial|DeepReadonly|Provided|Awaitable)</.test(text))
      return this.#value(
        {
          name,
          type:
            text
              .replace(/^\w+</, '')
              .replace(/>$/s, '')
              .split(/,(?![^<]*>)/)[0] ?? '',
        },
        context,
      );
    if (text === 'boolean' || text === 'true') return true;
    if (text === 'number') return 1;
    if (text === 'string') return 'a';
    const members = this.membersOf(/^\w+/.exec(text)?.[0] ?? '');
    if (members === undefined || context.depth > 6) return {};
    const deeper = { ...context, wanted: undefined };
    const isWanted = (member: Parameter): boolean => !member.isOptional || member.name === context.wanted;
    return Object.fromEntries(members.filter(isWanted).map((member) => [member.name, this.#value(member, deeper)]));
  }
}

/** A value for a parameter by its name and type; undefined: one is made. */
export type Known = (name: string, type: string) => unknown;

interface Context {
  readonly known: Known;
  readonly wanted: string | undefined;
  readonly depth: number;
}

const damages: readonly unknown[] = [
  null,
  undefined,
  5,
  'x',
  true,
  {},
  [],
  [null],
  [undefined],
  [5],
  { metadata: null },
];

/** Copies of a value, of which each has something else in one place: in each array and each plain object that it is made of. */
export function* damaged(value: unknown, depth = 0): Generator {
  if (depth > 0) yield* damages;
  if (depth > 6) return;
  if (Array.isArray(value)) {
    for (const damage of [null, undefined, 5]) yield [...value, damage];
    for (const [at, item] of value.entries()) for (const other of damaged(item, depth + 1)) yield value.with(at, other);
    return;
  }
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return;
  for (const [key, member] of Object.entries(value))
    for (const other of damaged(member, depth + 1)) yield { ...value, [key]: other };
}
