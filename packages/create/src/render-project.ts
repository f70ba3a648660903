import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuiltInKind } from './built-in-kinds.js';
import { findBuiltIn } from './find-built-in.js';
import { fileNameOf, type ProjectNames } from './names.js';
import { literalOf, yamlOf } from './sample-text.js';

const folderOf = (name: string): string => fileURLToPath(new URL(`../${name}`, import.meta.url));
const template: string = folderOf('template');
/** Templates of files that a project gets on request. */
const additions: string = folderOf('additions');
/** Files of a project for a built-in kind, in place of those of {@link template} with the same path. */
const builtInTemplate: string = folderOf('built-in');
/** Packages that define kinds, which a project for a built-in kind does not need. */
export const definitionPackages: readonly string[] = ['@kctl/crd', 'zod'];

/** The files of a project by path, with slashes, rendered from the template with its names. */
export function renderProject(names: ProjectNames, version: string): ReadonlyMap<string, string> {
  const subject = subjectOf(names);
  const words = wordsOf(names, subject, version);
  const files = render(template, words, subject);
  if (subject.builtIn === undefined) return files;
  const own = [...files].filter(([path]) => !path.startsWith('src/api/'));
  const all = new Map([...own, ...render(builtInTemplate, words, subject)]);
  const manifest = all.get('package.json');
  if (manifest !== undefined) all.set('package.json', withoutDefinitions(manifest));
  return sorted(all);
}

/** The files of one more kind, controller or webhook. The first ones come from the same template. */
export function renderAdditions(
  what: 'resource' | 'controller' | 'webhook',
  names: ProjectNames,
  version: string,
): ReadonlyMap<string, string> {
  const subject = subjectOf(names);
  const words = wordsOf(names, subject, version);
  const file = fileNameOf(subject.kind);
  const isCustom = subject.builtIn === undefined;
  const sources = isCustom ? [template, additions] : [builtInTemplate];
  const all = new Map(sources.flatMap((folder) => [...render(folder, words, subject)]));
  const sample = `deploy/samples/${file}.yaml`;
  const paths = {
    resource: [`src/api/${file}.ts`, sample],
    controller: [`src/controllers/${file}.ts`, `test/${file}.test.ts`, ...(isCustom ? [] : [sample])],
    webhook: [`src/webhooks/${file}.ts`, `test/${file}-webhook.test.ts`],
  };
  return new Map([...all].filter(([path]) => paths[what].includes(path)));
}

/** The kind that files are about. */
interface Subject {
  readonly kind: string;
  readonly builtIn?: BuiltInKind;
}

function subjectOf({ kind, for: name }: ProjectNames): Subject {
  const builtIn = name === undefined ? undefined : findBuiltIn(name);
  return builtIn === undefined ? { kind: kind ?? '' } : { kind: builtIn.kind, builtIn };
}

type Words = Readonly<Record<string, string>>;

function wordsOf({ name, group }: ProjectNames, { kind, builtIn }: Subject, version: string): Words {
  const words = { name, group, version, Kind: kind, 'kind-file': fileNameOf(kind) };
  if (builtIn !== undefined) {
    const apiVersion = builtIn.group === '' ? builtIn.version : `${builtIn.group}/${builtIn.version}`;
    return {
      ...words,
      Module: builtIn.group === '' ? `core/${builtIn.version}` : apiVersion,
      ApiVersion: apiVersion,
      Key: `{ ${builtIn.isNamespaced ? 'namespace, ' : ''}name: '${builtIn.name}' }`,
      ObjectName: builtIn.name,
      Sample: literalOf(builtIn.sample),
      SampleYaml: yamlOf(builtIn.sample).trimEnd(),
      About: ` for the kind ${kind} of ${apiVersion}`,
      Layout: '`src/controllers` has the reconciler',
      Install: 'deploy, take it away | `npx kctl deploy`',
      Changes: 'a watch',
    };
  }
  // The built-in kind of the children has another name if the custom kind has its name.
  const [childImport, child] =
    kind === 'ConfigMap' ? ['ConfigMap as CoreConfigMap', 'CoreConfigMap'] : ['ConfigMap', 'ConfigMap'];
  return {
    ...words,
    Child: child,
    ChildImport: childImport,
    About: '',
    Layout: '`src/api` has the kind, `src/controllers` the reconciler',
    Install: 'install CRDs, deploy, take it away | `npx kctl install`, `npx kctl deploy`',
    Changes: 'a schema, a watch',
  };
}

function render(folder: string, words: Words, { builtIn }: Subject): ReadonlyMap<string, string> {
  const flags = { namespaced: builtIn?.isNamespaced === true, status: builtIn?.hasStatus === true };
  const replace = (text: string): string =>
    onlyLinesOf(text, flags).replace(/__([A-Za-z-]+?)__/g, (whole, word: string) => words[word] ?? whole);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const rendered = files.map((source): [string, string] => {
    const path = shippedName(replace(relative(folder, source).split(sep).join('/')));
    return [path, `${replace(readFileSync(source, 'utf8')).trimEnd()}\n`];
  });
  return sorted(new Map(rendered));
}

/** Leaves out lines that end with `//?flag` or `#?flag` if the flag is not set. */
function onlyLinesOf(text: string, flags: Readonly<Record<string, boolean>>): string {
  return text.replace(/^(.*) (?:\/\/|#)\?(\w+)\n/gm, (_whole, line: string, flag: string) =>
    flags[flag] === true ? `${line}\n` : '',
  );
}

function sorted(files: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...files].sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** A package.json without the packages that define kinds. */
function withoutDefinitions(manifest: string): string {
  const parsed: unknown = JSON.parse(manifest, (key, value: unknown) =>
    definitionPackages.includes(key) ? undefined : value,
  );
  return `${JSON.stringify(parsed, null, 2)}\n`;
}

/** npm leaves out or renames files that begin with a dot, so they are packed with an underscore. */
function shippedName(path: string): string {
  return path.replace(/(^|\/)_(gitignore|dockerignore|github)(?=\/|$)/g, '$1.$2');
}

/** As a project depends on the @kctl packages of this release. */
export function ownVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : undefined;
  return typeof version === 'string' ? `^${version}` : 'latest';
}
