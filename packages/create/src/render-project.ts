import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileNameOf, type ProjectNames } from './names.js';

const template: string = fileURLToPath(new URL('../template', import.meta.url));
/** Templates of files that a project gets on request. */
const additions: string = fileURLToPath(new URL('../additions', import.meta.url));

/** The files of a project by path, with slashes, rendered from the template with its names. */
export function renderProject(names: ProjectNames, version: string): ReadonlyMap<string, string> {
  return render(template, names, version);
}

/** The files of one more kind, controller or webhook. The first ones come from the same template. */
export function renderAdditions(
  what: 'resource' | 'controller' | 'webhook',
  names: ProjectNames,
  version: string,
): ReadonlyMap<string, string> {
  const file = fileNameOf(names.kind);
  const all = new Map([...render(template, names, version), ...render(additions, names, version)]);
  const paths = {
    resource: [`src/api/${file}.ts`, `deploy/samples/${file}.yaml`],
    controller: [`src/controllers/${file}.ts`, `test/${file}.test.ts`],
    webhook: [`src/webhooks/${file}.ts`, `test/${file}-webhook.test.ts`],
  };
  return new Map([...all].filter(([path]) => paths[what].includes(path)));
}

function render(folder: string, { name, group, kind }: ProjectNames, version: string): ReadonlyMap<string, string> {
  // The built-in kind of the children has another name if the custom kind has its name.
  const [childImport, child] =
    kind === 'ConfigMap' ? ['ConfigMap as CoreConfigMap', 'CoreConfigMap'] : ['ConfigMap', 'ConfigMap'];
  const words: Readonly<Record<string, string>> = {
    name,
    group,
    version,
    Kind: kind,
    'kind-file': fileNameOf(kind),
    Child: child,
    ChildImport: childImport,
  };
  const replace = (text: string): string =>
    text.replace(/__([A-Za-z-]+?)__/g, (whole, word: string) => words[word] ?? whole);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const rendered = files.map((source): [string, string] => {
    const path = shippedName(replace(relative(folder, source).split(sep).join('/')));
    return [path, replace(readFileSync(source, 'utf8'))];
  });
  return new Map(rendered.sort(([left], [right]) => (left < right ? -1 : 1)));
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
