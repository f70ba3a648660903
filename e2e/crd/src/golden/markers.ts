import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Markers that no golden type has, and why. */
export const notSaid: Readonly<Record<string, string>> = {
  'kubebuilder:validation:UniqueItems': 'the API server refuses `uniqueItems: true`; ours names listSet() instead',
  'kubebuilder:validation:items:UniqueItems':
    'the API server refuses `uniqueItems: true`; ours names listSet() instead',
};

/** Names of arguments, where the help has the first of them behind the name of its marker. */
const argument = /:(?:JSONPath|rule|url|value)$/;

/** The names of all markers in what `controller-gen crd -w` prints. */
export function markersOf(help: string): ReadonlySet<string> {
  const names = [...help.matchAll(/^\+([\w:]+)/gm)].map(([, name = '']) => name.replace(argument, ''));
  return new Set(names);
}

/** The names of the markers in the Go types below a folder. */
export function markersIn(folder: string): ReadonlySet<string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.go'));
  const lines = files.flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n'));
  const names = lines.flatMap((line) => /^\s*\/\/ \+([\w:]+)/.exec(line)?.[1] ?? []);
  // `+kubebuilder:resource:path=x` has its first argument behind its name.
  return new Set(names.flatMap((name) => [name, name.slice(0, name.lastIndexOf(':'))]));
}
