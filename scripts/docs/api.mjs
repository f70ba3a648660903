// Writes the API reference into docs/api: an index for each package and each further entry point that is written by hand,
// and pages with their exports. The kinds of Kubernetes itself are generated from its API and left out.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRequire } from 'node:module';
import { divideApi } from './api-pages.mjs';
import { repository } from '../../docs/.vitepress/pages.mjs';

const require = createRequire(new URL('../../docs/package.json', import.meta.url));
const { Application } = await import(require.resolve('typedoc'));

/** Entry points that are no API: programs of threads. */
const programs = new Set([
  './worker-main',
  './envtest/etcd',
  './envtest/kube-apiserver',
  './election-thread',
  './election-worker',
]);

/** @type {Record<string, string>} source → page */
const entries = {};
for (const name of readdirSync('packages')) {
  const { exports } = JSON.parse(readFileSync(join('packages', name, 'package.json'), 'utf8'));
  for (const [path, target] of Object.entries(exports)) {
    if (typeof target !== 'object' || /^\.\/(?:kinds|schemas|internal)\b/.test(path) || programs.has(path)) continue;
    entries[join('packages', name, target['@kctl/source'])] = path === '.' ? name : `${name}/${path.slice(2)}`;
  }
}
const application = await Application.bootstrapWithPlugins({
  entryPoints: Object.keys(entries),
  tsconfig: 'docs/tsconfig.api.json',
  plugin: [require.resolve('typedoc-plugin-markdown')],
  out: 'docs/api',
  readme: 'none',
  skipErrorChecking: true,
  excludeInternal: true,
  excludePrivate: true,
  excludeExternals: true,
  sourceLinkTemplate: `${repository}/blob/main/packages/{path}#L{line}`,
  gitRevision: 'main',
  disableGit: true,
  basePath: '.',
  logLevel: 'Error',
  ...{
    router: 'module',
    entryFileName: 'index',
    hidePageHeader: true,
    hideBreadcrumbs: true,
    useCodeBlocks: true,
    // Its own anchors: what it takes for the second heading of a name, the site may take for the first.
    useHTMLAnchors: true,
    expandObjects: false,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    typeAliasPropertiesFormat: 'table',
    enumMembersFormat: 'table',
    tableColumnSettings: { hideSources: true, hideModifiers: true, hideInherited: true, hideOverrides: true },
    sanitizeComments: true,
  },
});
const project = await application.convert();
if (project === undefined) throw new Error('TypeDoc could not read the packages');
for (const module of project.children ?? []) {
  const file = module.sources?.[0]?.fullFileName ?? '';
  const page = Object.entries(entries).find(([source]) => file.endsWith(source))?.[1];
  if (page !== undefined) module.name = page;
}
await application.generateOutputs(project);
console.log(`${divideApi('docs/api').length} pages of the API reference`);
