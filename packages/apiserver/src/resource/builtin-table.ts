/** Reads the generated table. A kind, a type and a field are each read on first use. */
import { GoTable, type GoStruct } from '@kctl/crd/internal/engine';
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

function list(text: string): string[] {
  return text === '' ? [] : text.split('+');
}

function verbsOf(letters: string): Verb[] {
  return Array.from(letters, (letter) => verbs[letter]).filter((verb) => verb !== undefined);
}

let opened: GoTable | undefined;

function table(): GoTable {
  opened ??= new GoTable(types);
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

/** The type of a request body or answer that is not a resource: Scale, Eviction, TokenRequest, DeleteOptions, Status. */
export function bodyStruct(name: string): GoStruct {
  for (const line of bodies.split('\n')) {
    const [given, index] = line.split(',');
    if (given === name) return table().struct(Number(index));
  }
  throw new RangeError(`builtin table: there is no body type ${JSON.stringify(name)}`);
}

/** The Kubernetes release that the built-in kinds are those of, e.g. `1.36.3`. */
export const builtinRelease: string = release;
