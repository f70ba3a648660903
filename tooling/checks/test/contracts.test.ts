// An option that is added to a contract must not be dropped on its way: each layer that maps the contract decides about it
// (`decides` of @kctl/options), or does not compile. Here a field is added to every contract, and every layer has to fail.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const compiler = join(root, 'tooling/tsconfig/node_modules/typescript-native/bin/tsc');

interface Contract {
  readonly file: string;
  /** With its type parameters. */
  readonly declaration?: string;
  /** The files that map it, and so have to decide about a new option. */
  readonly layers: readonly string[];
}

const client = 'client/src/options.ts';
const checks = 'client/src/call-options.ts';
const wrappers = 'client/src/wrap.ts';
const http = 'client-http/src/option-parts.ts';
const delegating = 'client-delegating/src/overlay/list-decisions.ts';
const cacheReads = 'cache/src/reads/read-decisions.ts';
const cacheInformers = 'cache/src/informers/informer-decisions.ts';
const informerReads = 'informer/src/client-lister-watcher.ts';
const fakeSource = 'testing/src/fake-controller-source.ts';

/** Contracts and the layers that map them. Layers that hand on the object of options as it is are not among them. */
const contracts: Readonly<Record<string, Contract>> = {
  GetOptions: { file: client, layers: [checks, wrappers, http, delegating, cacheReads, informerReads, fakeSource] },
  ListOptions: { file: client, layers: [checks, wrappers, http, delegating, cacheReads, informerReads, fakeSource] },
  WatchOptions: { file: client, layers: [checks, wrappers, http, informerReads, fakeSource] },
  WriteOptions: { file: client, layers: [checks, 'client/src/write-option-names.ts', wrappers, http, delegating] },
  PatchOptions: { file: client, layers: [checks, 'client/src/write-option-names.ts', wrappers, http, delegating] },
  DeleteOptions: { file: client, layers: [checks, wrappers, http, delegating] },
  DeleteAllOfOptions: { file: client, layers: [checks, wrappers, http, delegating] },
  FrameOptions: { file: 'client/src/client.ts', layers: [checks, informerReads] },
  SharedInformerOptions: {
    file: 'informer/src/informer.ts',
    declaration: 'SharedInformerOptions<T, S>',
    layers: ['informer/src/informer-options.ts', cacheInformers],
  },
  ReflectorConfigOptions: {
    file: 'informer/src/reflector/reflector-config.ts',
    layers: [
      'informer/src/informer-options.ts',
      'informer/src/reflector/create-reflector.ts',
      'informer/src/reflector/reflector-config.ts',
      cacheInformers,
    ],
  },
  CacheOptions: {
    file: 'cache/src/cache-options.ts',
    layers: ['cache/src/options/required.ts', cacheInformers, 'runtime/src/section-names.ts'],
  },
  ScopeOptions: { file: 'cache/src/cache-options.ts', layers: ['cache/src/options/required.ts', cacheInformers] },
};

const fieldOf = (contract: string): string => `addedTo${contract}`;

/** Each error of the compiler with the lines that explain it. */
async function compilerErrors(): Promise<readonly string[]> {
  const folder = join(root, '.cache/contracts');
  mkdirSync(folder, { recursive: true });
  const added = Object.entries(contracts).map(
    ([name, { file, declaration = name }]) =>
      `declare module '../../packages/${file.replace(/ts$/, 'js')}' {\n  interface ${declaration} { readonly ${fieldOf(name)}?: string }\n}\n`,
  );
  writeFileSync(join(folder, 'added.d.ts'), `${added.join('')}export {};\n`);
  const config = {
    extends: '../../tooling/tsconfig/base.json',
    compilerOptions: {
      ...{ noEmit: true, isolatedDeclarations: false, declaration: false, declarationMap: false },
      typeRoots: ['../../tooling/checks/node_modules/@types'],
    },
    include: ['added.d.ts', '../../packages/*/src'],
    exclude: ['../../packages/*/src/**/*.test.ts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const output = await new Promise<string>((resolve) => {
    execFile(
      process.execPath,
      [compiler, '-p', join(folder, 'tsconfig.json'), '--pretty', 'false', '--noErrorTruncation'],
      { cwd: root, maxBuffer: 2 ** 26 },
      (_error, stdout) => resolve(stdout),
    );
  });
  return output.split(/\n(?=\S)/);
}

describe('an option that is added to a contract', () => {
  let errors: readonly string[] = [];
  beforeAll(async () => {
    errors = await compilerErrors();
  }, 300_000);

  it.each(Object.entries(contracts))(
    'does not compile in the layers that have to decide about it: %s',
    (name, { layers }) => {
      const field = new RegExp(`\\b${fieldOf(name)}\\b`);
      const found = errors
        .filter((error) => / missing /.test(error) && field.test(error))
        .map((error) => error.split('(')[0]);
      // The users of an incomplete table do not compile either.
      expect(layers.map((layer) => `packages/${layer}`).filter((layer) => !found.includes(layer))).toEqual([]);
    },
  );
});

// The embedded server cannot know the contracts of the client that is tested against it, so its tables are compared by name.
it.each([
  ['get', 'get', 'getParameters'],
  ['list', 'list', 'listParameters'],
  ['watch', 'watch', 'watchParameters'],
  ['write', 'write', 'writeParameters'],
  ['deleteAllOf', 'deleteQuery', 'listParameters'],
  ['delete', 'deleteBody', 'deleteParameters'],
])('the embedded server decides about every parameter that the client sends: %s', async (_verb, sent, decided) => {
  const names = Object.values(await internals('client-http/src/option-parts.ts', 'sentNames', sent)).map(String);
  const table = await internals('apiserver/src/handlers/parameters.ts', decided);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !Object.hasOwn(table, name))).toEqual([]);
});

/** A value of a file that is not an entry of its package. */
async function internals(file: string, ...path: readonly string[]): Promise<object> {
  let value: unknown = await import(pathToFileURL(join(root, 'packages', file)).href);
  for (const name of path) value = Reflect.get(Object(value) as object, name);
  if (typeof value !== 'object' || value === null) throw new TypeError(`${file} has no ${path.join('.')}`);
  return value;
}
