import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BuiltInKind } from './built-in-kinds.js';
import { builtInProblem, findBuiltIn, nearestBuiltIn } from './find-built-in.js';
import { fileNameOf } from './names.js';
import { definitionPackages } from './render-project.js';

/** An addition, as far as its kind depends on it. */
export interface GivenAddition {
  readonly folder: string;
  readonly what: 'resource' | 'controller' | 'webhook';
  /** As the user wrote it. */
  readonly kind: string;
}

/**
 * The kind of an addition. A custom resource of the project comes before a built-in kind with its name.
 *
 * @throws TypeError naming what cannot be added to a built-in kind, or the nearest kind if there is none of that name
 */
export function additionSubject(given: GivenAddition): { readonly kind: string; readonly builtIn?: BuiltInKind } {
  const { what, kind } = given;
  const builtIn = !kind.includes('.') && (what === 'resource' || hasResource(given)) ? undefined : findBuiltIn(kind);
  if (builtIn !== undefined && what !== 'controller') {
    const remedy =
      what === 'resource'
        ? `run npx kctl add controller ${kind}`
        : `call webhookManagedBy(manager).for(${builtIn.kind}) of @kctl/runtime in the setup of defineOperator`;
    throw new TypeError(`${kind} is a built-in kind, to which no ${what} can be added: ${remedy}`);
  }
  const [custom = ''] = kind.split('.');
  if (builtIn === undefined && kind.includes('.') && what !== 'resource') {
    const own = hasResource({ ...given, kind: custom })
      ? `: run npx kctl add ${what} ${custom} for that of src/api`
      : '';
    throw new TypeError(`kind ${builtInProblem(kind) ?? kind}${own}`);
  }
  return builtIn === undefined ? { kind } : { kind: builtIn.kind, builtIn };
}

/** @throws Error if the project has no custom resource of this kind */
export function requireResource(given: GivenAddition): void {
  if (hasResource(given)) return;
  const { what, kind } = given;
  const nearest = what === 'controller' ? nearestBuiltIn(kind) : undefined;
  const hint = nearest === undefined ? '' : `, or npx kctl add controller ${nearest} for the built-in kind`;
  throw new Error(`src/api/${fileNameOf(kind)}.ts does not exist: run npx kctl add resource ${kind} first${hint}`);
}

/** The packages that define kinds, of those that the manifest of the project lacks. */
export function missingPackages(folder: string): readonly string[] {
  const file = join(folder, 'package.json');
  const manifest = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  return manifest === undefined ? [] : definitionPackages.filter((name) => !manifest.includes(`"${name}"`));
}

function hasResource({ folder, kind }: GivenAddition): boolean {
  return /^\w+$/.test(kind) && existsSync(join(folder, 'src', 'api', `${fileNameOf(kind)}.ts`));
}
