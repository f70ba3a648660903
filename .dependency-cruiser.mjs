// Imports follow architecture.json; this file only turns the list into rules.
import { globSync, readFileSync } from 'node:fs';

/** @type {{ layers: { layer: number, packages: string[] }[], exceptions: any[], rooms: Record<string, string[][]> }} */
const map = JSON.parse(readFileSync(new URL('./architecture.json', import.meta.url), 'utf8'));
const { layers } = map;
const notTests = '(\\.test\\.ts|/test/.*)$';

/** What a package may load although it is not below it: optional peers, imported dynamically. */
const optionalOf = (/** @type {string} */ name) =>
  map.exceptions.filter((exception) => exception.package === name).flatMap(({ optional = [] }) => optional);

const downwardOnly = layers.flatMap(({ layer, packages }) => {
  const notBelow = layers.filter((other) => other.layer >= layer).flatMap((other) => other.packages);
  return packages.map((name) => ({
    name: `layer-${layer}-downward-only`,
    comment: 'A package imports only packages of lower layers; siblings never import one another.',
    severity: 'error',
    from: { path: `^packages/${name}/src/`, pathNot: notTests },
    to: {
      path: `^packages/(${notBelow.filter((other) => other !== name && !optionalOf(name).includes(other)).join('|')})/`,
    },
  }));
});

const optionalIsLoadedLate = map.exceptions
  .filter(({ optional }) => optional !== undefined)
  .map(({ package: name, optional, reason }) => ({
    name: 'optional-is-loaded-late',
    comment: reason,
    severity: 'error',
    from: { path: `^packages/${name}/src/`, pathNot: notTests },
    to: { path: `^packages/(${optional.join('|')})/`, dynamic: false },
  }));

const lowest = layers.filter(({ layer }) => map.exceptions[0].onlyLayers.includes(layer));
const apiserverStandsAlone = {
  name: 'apiserver-only-on-lowest-layers',
  comment: map.exceptions[0].reason,
  severity: 'error',
  from: { path: '^packages/apiserver/src/', pathNot: notTests },
  to: {
    path: '^packages/',
    pathNot: `^packages/(${['apiserver', ...lowest.flatMap(({ packages }) => packages), ...map.exceptions[0].also].join('|')})/`,
  },
};

const devOnly = map.exceptions
  .filter(({ devOnlyFor }) => devOnlyFor !== undefined)
  .map((exception) => ({
    name: `${exception.package}-is-dev-only`,
    comment: exception.reason,
    severity: 'error',
    from: { path: `^packages/(?!${exception.package}/)[^/]+/src/`, pathNot: notTests },
    to: { path: `^packages/${exception.package}/` },
  }));

/** Folders inside a package that is large enough to have layers of its own. */
const roomsDownwardOnly = Object.entries(map.rooms).flatMap(([name, rows]) => {
  const folders = globSync('*/', { cwd: new URL(`./packages/${name}/src/`, import.meta.url) });
  const unknown = folders.filter((folder) => !rows.flat().includes(folder));
  if (unknown.length > 0) throw new Error(`architecture.json: rooms.${name} lacks ${unknown.join(', ')}`);
  return rows.flatMap((row, index) => {
    const notBelow = rows.slice(index).flat();
    return row.map((room) => ({
      name: `${name}-rooms-downward-only`,
      comment: 'A folder imports only folders of rows before its own.',
      severity: 'error',
      from: { path: `^packages/${name}/src/${room}/`, pathNot: notTests },
      to: { path: `^packages/${name}/src/(${notBelow.filter((other) => other !== room).join('|')})/` },
    }));
  });
});

export default {
  forbidden: [
    ...downwardOnly,
    ...optionalIsLoadedLate,
    apiserverStandsAlone,
    ...devOnly,
    ...roomsDownwardOnly,
    {
      name: 'no-cycles-between-folders',
      severity: 'error',
      scope: 'folder',
      from: { path: '^packages/[^/]+/src' },
      to: { circular: true },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-deep-import-across-packages',
      comment: 'Other packages are reached through their entry points.',
      severity: 'error',
      from: { path: '^packages/([^/]+)/' },
      to: {
        path: '^packages/[^/]+/src/',
        pathNot: [
          '^packages/$1/',
          '^packages/[^/]+/src/(index|[^/]+/index)\\.ts$',
          '^packages/apimachinery/src/kinds/',
          // Entry points of threads, which must not load what the package's own entry does.
          '^packages/leader-election/src/worker/election-thread\\.ts$',
          // Has an effect, so that it is no part of the package's own entry.
          '^packages/telemetry/src/require-in-bundles\\.ts$',
        ],
      },
    },
    {
      name: 'internal-entries-are-for-packages',
      comment: 'An internal entry promises nothing: examples show what users can write.',
      severity: 'error',
      from: { path: '^examples/' },
      to: { path: '^packages/[^/]+/src/internal/' },
    },
    {
      name: 'no-self-barrel',
      comment: 'index.ts is a leaf: nobody inside imports it.',
      severity: 'error',
      from: { path: '^packages/([^/]+)/src/', pathNot: '(\\.test\\.ts|index\\.ts)$' },
      to: { path: '^packages/$1/src/index\\.ts$' },
    },
    {
      name: 'no-tests-in-source',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: '\\.test\\.ts$' },
      to: { path: '\\.test\\.ts$' },
    },
    { name: 'no-unresolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'no-undeclared-dependency',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: notTests },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'no-dev-dependency-in-source',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: ['\\.test\\.ts$', '/src/(testing|conformance)/'] },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm-peer'], pathNot: '^packages/' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    exclude: {
      path: '^(packages|tooling|examples)/[^/]+/dist/|/generated/|/\\.cache/|^packages/create/(template|additions|built-in)/',
    },
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@kctl/source', 'types', 'import', 'node', 'default'],
    },
  },
};
