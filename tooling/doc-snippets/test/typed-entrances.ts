// The entrances that take an object with optional members, as TypeScript's checker sees the packages' entry points: also
// those that are constants, overloads, re-exports, or methods of exported interfaces and classes.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const packages = join(import.meta.dirname, '../../../packages');

/** A parameter of an exported function, or of a method of an exported interface or class. */
export interface TypedEntrance {
  /** The package that declares it; others may export it again. */
  readonly package: string;
  /** The interface or class of a method. */
  readonly of: string | undefined;
  readonly name: string;
  readonly position: number;
  /** The names of the parameter's types that are objects with optional members. */
  readonly types: readonly string[];
}

/** The source file of each entry point of a package that users import. */
function entriesOf(name: string): string[] {
  const manifest = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')) as {
    readonly exports?: Readonly<Record<string, Readonly<Record<string, string>> | string>>;
  };
  return Object.entries(manifest.exports ?? {}).flatMap(([path, target]) => {
    const source = typeof target === 'string' ? undefined : target['@kctl/source'];
    return path.startsWith('./internal') ||
      source === undefined ||
      !source.endsWith('.ts') ||
      source.includes('*') ||
      source.includes('/kinds/')
      ? []
      : [join(packages, name, source)];
  });
}

export const packageNames: readonly string[] = readdirSync(packages)
  .filter((name) => existsSync(join(packages, name, 'package.json')))
  .toSorted();

export function typedEntrances(): readonly TypedEntrance[] {
  const entries = packageNames.map((name) => ({ name, files: entriesOf(name) }));
  const program = ts.createProgram(
    entries.flatMap(({ files }) => files),
    {
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      customConditions: ['@kctl/source'],
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: ['node'],
    },
  );
  const checker = program.getTypeChecker();
  const found = new Map<string, TypedEntrance>();
  const seen = new Set<ts.Symbol>();
  for (const { name, files } of entries) {
    for (const file of files) {
      const source = program.getSourceFile(file);
      const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
      if (module === undefined) throw new Error(`${file} is not a module`);
      for (const exported of checker.getExportsOfModule(module)) {
        const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
        const owner = ownerOf(symbol) ?? name;
        if (seen.has(symbol)) continue;
        seen.add(symbol);
        for (const { of, method, signature } of signaturesOf(checker, symbol, exported.name)) {
          signature.parameters.forEach((parameter, position) => {
            const types = optionTypes(checker, checker.getTypeOfSymbol(parameter));
            if (types.length === 0) return;
            const named = method === undefined ? of : `${of}.${method}`;
            found.set(`${owner}.${named}.${position}`, {
              ...{ package: owner, of: method === undefined ? undefined : of, name: method ?? of, position, types },
            });
          });
        }
      }
    }
  }
  return [...found.values()];
}

/** The package that declares a symbol. */
function ownerOf(symbol: ts.Symbol): string | undefined {
  const file = symbol.declarations?.[0]?.getSourceFile().fileName ?? '';
  return /\/packages\/([^/]+)\/src\//.exec(file)?.[1];
}

interface Called {
  readonly of: string;
  readonly method: string | undefined;
  readonly signature: ts.Signature;
}

function signaturesOf(checker: ts.TypeChecker, symbol: ts.Symbol, name: string): readonly Called[] {
  const result: Called[] = [];
  if (symbol.flags & ts.SymbolFlags.Value) {
    const type = checker.getTypeOfSymbol(symbol);
    for (const signature of [...type.getCallSignatures(), ...type.getConstructSignatures()])
      result.push({ of: name, method: undefined, signature });
  }
  if (symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.Class)) {
    for (const member of checker.getDeclaredTypeOfSymbol(symbol).getProperties()) {
      if (!isOwn(member) || !(member.flags & ts.SymbolFlags.Method) || member.name.startsWith('__')) continue;
      for (const signature of checker.getTypeOfSymbol(member).getCallSignatures())
        result.push({ of: name, method: member.name, signature });
    }
  }
  return result;
}

function isOwn(symbol: ts.Symbol): boolean {
  return (symbol.declarations ?? []).some((declaration) => {
    const { fileName } = declaration.getSourceFile();
    return fileName.includes('/packages/') && !fileName.includes('/node_modules/');
  });
}

/**
 * The types of a parameter that are objects of which some member may be left out: a misspelled member then means its
 * default. Named by their declarations; `{}` for a literal type.
 */
function optionTypes(checker: ts.TypeChecker, type: ts.Type): readonly string[] {
  const parts = type.isUnion() ? type.types : [type];
  return parts.flatMap((part) => {
    if (!(part.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection))) return [];
    if (checker.isArrayType(part) || checker.isTupleType(part)) return [];
    if (part.getCallSignatures().length > 0 || part.getConstructSignatures().length > 0) return [];
    const members = part.getProperties();
    if (members.length === 0 || !members.every(isOwn)) return [];
    if (!members.some((member) => (member.flags & ts.SymbolFlags.Optional) !== 0)) return [];
    const name = part.aliasSymbol?.name ?? part.symbol?.name ?? '{}';
    return [name.startsWith('__') ? `{ ${members.map((member) => member.name).join(', ')} }` : name];
  });
}
