import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { isObject, jsonText } from '@kctl/crd/internal/engine';
import { messageOf } from '@kctl/telemetry/internal';
import type { ApiServer } from './api-server.js';
import type { AuthorizationMode } from './authorization/access-control.js';
import { capabilities } from './capabilities.js';
import { readYamlDocuments } from './json/yaml.js';
import { stopWithParent } from './process/stop-with-parent.js';

const usage = `Usage: kctl-apiserver [options]
       kctl-apiserver envtest-assets <directory> [--layout flat|setup-envtest]

A Kubernetes API server in one process. Prints one line of JSON when it is ready:
{"url","certificateAuthority","token","kubeconfig","pid"}.

  --host <address>            where to listen (default 127.0.0.1: only this machine)
  --port <number>             0 takes a free one (default 0)
  --data-dir <directory>      keep objects and certificates over restarts (alias --persist)
  --fsync                     wait for the disk at each write
  --write-kubeconfig <file>   write a kubeconfig that only its owner can read (alias --kubeconfig)
  --crd-dir <directory>       create the CustomResourceDefinitions in its .yaml, .yml and .json files
  --token <token>             a bearer token of the administrator, besides the generated one
  --server-name <name>        a further DNS name or address that the certificate is valid for (repeatable)
  --anonymous                 let requests without credentials in
  --service-account-issuer <url>            issuer of tokens; several are accepted, the first issues (repeatable)
  --service-account-signing-key-file <file> private key that signs tokens, PEM (default: a new one)
  --service-account-key-file <file>         further keys or certificates that verify tokens, PEM (repeatable)
  --api-audiences <names>                   audiences of the server, separated by commas (default: the issuers)
  --enable-admission-plugins <names>        ServiceAccount: new pods get their service account and its token
  --rbac                      authorize requests by Roles and bindings (alias --authorization-mode RBAC)
  --bookmark-interval <ms>    time between watch bookmarks (default 60000)
  --no-controllers            no garbage collection, no clean-up of namespaces
  --detached                  stay when the parent process goes
  --capabilities              print what this server does not do, as JSON, and exit
  --help

envtest-assets writes the executables kube-apiserver, etcd and kubectl that Go's envtest starts, and prints the directory
to set KUBEBUILDER_ASSETS to.
`;

const optionTypes = {
  host: { type: 'string' },
  port: { type: 'string' },
  'data-dir': { type: 'string' },
  persist: { type: 'string' },
  fsync: { type: 'boolean' },
  'write-kubeconfig': { type: 'string' },
  kubeconfig: { type: 'string' },
  'crd-dir': { type: 'string' },
  token: { type: 'string' },
  'server-name': { type: 'string', multiple: true },
  anonymous: { type: 'boolean' },
  rbac: { type: 'boolean' },
  'service-account-issuer': { type: 'string', multiple: true },
  'service-account-signing-key-file': { type: 'string' },
  'service-account-key-file': { type: 'string', multiple: true },
  'api-audiences': { type: 'string' },
  'enable-admission-plugins': { type: 'string' },
  'authorization-mode': { type: 'string' },
  'bookmark-interval': { type: 'string' },
  'no-controllers': { type: 'boolean' },
  detached: { type: 'boolean' },
  capabilities: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

function fail(message: string): never {
  process.stderr.write(`kctl-apiserver: ${message}\n`);
  process.exit(2);
}

function readArguments() {
  try {
    const { values } = parseArgs({ options: optionTypes, strict: true, allowPositionals: false });
    // Such as that of a variable that is not set: --data-dir "$DIR" would be the current directory.
    for (const [name, value] of Object.entries(values))
      if ([value].flat().includes('')) fail(`--${name} has an empty value: leave it out, or give one`);
    return values;
  } catch (error) {
    return fail(`${messageOf(error)} (see --help)`);
  }
}

function wholeNumber(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > max) fail(`--${name} ${text}: expected a whole number from 0 to ${max}`);
  return number;
}

function authorizationOf(values: {
  readonly rbac?: boolean | undefined;
  readonly 'authorization-mode'?: string | undefined;
}): AuthorizationMode {
  if (values.rbac === true && (values['authorization-mode'] ?? 'RBAC') !== 'RBAC')
    fail(`--rbac and --authorization-mode ${values['authorization-mode'] ?? ''}: give one of them`);
  const mode = values['authorization-mode'] ?? (values.rbac === true ? 'RBAC' : 'AlwaysAllow');
  if (mode !== 'AlwaysAllow' && mode !== 'RBAC') fail(`--authorization-mode ${mode}: expected AlwaysAllow or RBAC`);
  return mode;
}

/** ServiceAccount is the one plugin of kube-apiserver that is off by default here. */
function enablesServiceAccounts(plugins: string | undefined): boolean {
  const names = plugins?.split(',') ?? [];
  const unknown = names.find((name) => name !== 'ServiceAccount');
  if (unknown !== undefined) fail(`--enable-admission-plugins ${unknown}: expected ServiceAccount`);
  return names.length > 0;
}

/** Creates the definitions that the files hold, whatever else they hold; an existing one is not changed. */
async function createFrom(server: ApiServer, directory: string): Promise<void> {
  for (const name of readdirSync(directory).sort()) {
    if (!/\.(ya?ml|json)$/.test(name)) continue;
    const file = join(directory, name);
    for (const definition of await definitionsIn(file)) {
      const response = await server.fetch('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: jsonText(definition),
      });
      if (!response.ok && response.status !== 409) throw new Error(`${file}: ${await response.text()}`);
    }
  }
}

async function definitionsIn(file: string): Promise<readonly unknown[]> {
  try {
    const documents = await readYamlDocuments(readFileSync(file, 'utf8'));
    return documents
      .flatMap((each): readonly unknown[] => (isObject(each) && Array.isArray(each['items']) ? each['items'] : [each]))
      .filter((each) => isObject(each) && each['kind'] === 'CustomResourceDefinition');
  } catch (error) {
    // The other lines quote the source.
    throw new Error(`${file}: ${messageOf(error).split('\n', 1)[0] ?? ''}`, { cause: error });
  }
}

async function main(): Promise<void> {
  const values = readArguments();
  if (values.help === true) {
    process.stdout.write(usage);
    return;
  }
  if (values.capabilities === true) {
    process.stdout.write(`${JSON.stringify(capabilities, undefined, 2)}\n`);
    return;
  }
  const port = wholeNumber('port', values.port, 65_535);
  const bookmarkIntervalMs = wholeNumber('bookmark-interval', values['bookmark-interval'], 86_400_000);
  const dataDir = values['data-dir'] ?? values.persist;
  const kubeconfig = values['write-kubeconfig'] ?? values.kubeconfig;
  const signingKeyFile = values['service-account-signing-key-file'];
  const { createApiServer } = await import('./api-server.js');
  const server = createApiServer({
    ...(values.host !== undefined && { host: values.host }),
    ...(port !== undefined && { port }),
    ...(dataDir !== undefined && { dataDir }),
    ...(bookmarkIntervalMs !== undefined && { bookmarkIntervalMs }),
    ...(values['server-name'] !== undefined && { serverNames: values['server-name'] }),
    ...(values.token !== undefined && {
      tokens: [{ token: values.token, user: 'kubernetes-admin', groups: ['system:masters'] }],
    }),
    fsync: values.fsync ?? false,
    ...(values.anonymous !== undefined && { anonymous: values.anonymous }),
    authorization: authorizationOf(values),
    serviceAccounts: {
      ...(values['service-account-issuer'] !== undefined && { issuer: values['service-account-issuer'] }),
      ...(values['api-audiences'] !== undefined && { audiences: values['api-audiences'].split(',') }),
      ...(signingKeyFile !== undefined && { signingKey: readFileSync(signingKeyFile, 'utf8') }),
      podAdmission: enablesServiceAccounts(values['enable-admission-plugins']),
      publicKeys: (values['service-account-key-file'] ?? []).map((file) => readFileSync(file, 'utf8')),
    },
    controllers: values['no-controllers'] !== true,
    journalEntries: 0,
  });
  await server.start();
  if (values['crd-dir'] !== undefined) await createFrom(server, values['crd-dir']);
  if (kubeconfig !== undefined) server.writeKubeconfig(kubeconfig);
  const { url, certificateAuthority, token } = server;
  const ready = { url, certificateAuthority, token, ...(kubeconfig !== undefined && { kubeconfig }), pid: process.pid };
  process.stdout.write(`${JSON.stringify(ready)}\n`);

  const stop = (): void => {
    void server.stop().then(() => process.exit(0));
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  if (values.detached !== true) stopWithParent(stop);
}

/** `envtest-assets <directory>`. */
async function envtestAssets(args: string[]): Promise<void> {
  const { positionals, values } = parseAssetArguments(args);
  const [directory] = positionals;
  const { layout = 'flat' } = values;
  if (directory === undefined || positionals.length > 1)
    fail('envtest-assets: expected one directory: kctl-apiserver envtest-assets <directory>');
  if (layout !== 'flat' && layout !== 'setup-envtest')
    fail(`envtest-assets: --layout ${layout}: expected flat or setup-envtest`);
  const { writeEnvtestAssets } = await import('./envtest/assets.js');
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const moduleOf = (name: string): string => fileURLToPath(new URL(`./envtest/${name}.${extension}`, import.meta.url));
  const modules = { etcd: moduleOf('etcd'), 'kube-apiserver': moduleOf('kube-apiserver') };
  process.stdout.write(`${writeEnvtestAssets(directory, { layout, modules })}\n`);
}

function parseAssetArguments(args: string[]) {
  try {
    return parseArgs({ args, options: { layout: { type: 'string' } }, allowPositionals: true });
  } catch (error) {
    return fail(`envtest-assets: ${messageOf(error)}`);
  }
}

try {
  const [command, ...rest] = process.argv.slice(2);
  await (command === 'envtest-assets' ? envtestAssets(rest) : main());
} catch (error) {
  fail(messageOf(error));
}
