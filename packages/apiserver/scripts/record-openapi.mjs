/**
 * Records the OpenAPI documents of a real kube-apiserver, byte by byte, and what it says of a sample custom resource.
 *
 *   pnpm apiserver:real                                       prints the path of a kubeconfig
 *   cd packages/apiserver
 *   KUBECONFIG=<path> node --import ../../scripts/typescript.mjs --conditions=@kctl/source scripts/record-openapi.mjs
 *
 * Writes src/discovery/openapi/generated/documents.ts, which ../src/discovery/openapi/builtin-documents.ts reads, and
 * test/golden/openapi.json: hashes of the protobuf forms and of aggregated discovery.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { brotliCompressSync, constants } from 'node:zlib';
import { parse } from 'yaml';

const outputFile = new URL('../src/discovery/openapi/generated/documents.ts', import.meta.url);
const goldenFile = new URL('../test/golden/openapi.json', import.meta.url);

const { clusters, users } = parse(readFileSync(process.env.KUBECONFIG ?? '', 'utf8'));
const { server, 'certificate-authority-data': ca } = clusters[0].cluster;
const { token } = users.map(({ user }) => user).find((user) => user.token !== undefined);
function ask(path, { accept = 'application/json', method = 'GET', body } = {}) {
  const headers = { authorization: `Bearer ${token}`, accept, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const call = request(`${server}${path}`, { ca: Buffer.from(ca, 'base64'), headers, method }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        const bytes = Buffer.concat(chunks);
        if (response.statusCode < 300) resolve({ bytes, headers: response.headers });
        else reject(new Error(`${path}: ${response.statusCode} ${bytes}`));
      });
    });
    call.on('error', reject);
    call.end(body);
  });
}
const bytesOf = async (path, options) => (await ask(path, options)).bytes;
const askJson = async (path, options) => JSON.parse((await bytesOf(path, options)).toString());

const sha512 = (bytes) => createHash('sha512').update(bytes).digest('hex').toUpperCase();
const sections = [];
const add = (name, bytes) => sections.push({ name, bytes, hash: sha512(bytes) });
const golden = { openapi: {}, discovery: {} };

const type = (version) => `application/com.github.proto-openapi.spec.${version}@v1.0+protobuf`;
const { paths } = await askJson('/openapi/v3');
for (const [path, { serverRelativeURL }] of Object.entries(paths)) {
  const bytes = await bytesOf(`/openapi/v3/${path}`);
  if (!serverRelativeURL.endsWith(`?hash=${sha512(bytes)}`))
    throw new Error(`${path}: its hash is not that of its bytes`);
  add(path, bytes);
  golden.openapi[`v3/${path}`] = sha512(await bytesOf(`/openapi/v3/${path}`, { accept: type('v3') }));
}

// What custom resources add goes to the end of the paths and of the definitions.
const v2 = await bytesOf('/openapi/v2');
const parsed = JSON.parse(v2.toString());
const cut = ['definitions', 'parameters'].map((name) => {
  const text = `},"${name}":{"${Object.keys(parsed[name])[0]}":`;
  const at = v2.indexOf(text);
  if (at < 0 || v2.indexOf(text, at + 1) >= 0) throw new Error(`v2: ${text} does not stand there once`);
  return at;
});
add('v2 paths', v2.subarray(0, cut[0]));
add('v2 definitions', v2.subarray(cut[0], cut[1]));
add('v2 end', v2.subarray(cut[1]));
golden.openapi.v2 = sha512(v2);
golden.openapi['v2 protobuf'] = sha512(await bytesOf('/openapi/v2', { accept: type('v2') }));

for (const path of ['/api', '/apis']) {
  const accept = 'application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const { bytes, headers } = await ask(path, { accept });
  golden.discovery[path] = { etag: headers.etag, protobuf: sha512(bytes) };
}

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const openAPIV3Schema = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { n: { type: 'integer' } } },
    embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  },
};
const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
await ask(crds, {
  method: 'POST',
  body: JSON.stringify({
    metadata: { name: 'samples.record.kctl.test' },
    spec: {
      group: 'record.kctl.test',
      scope: 'Namespaced',
      names: { plural: 'samples', kind: 'Sample' },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, subresources: { status: {}, scale } },
      ],
    },
  }),
});
const sample = 'apis/record.kctl.test/v1';
for (let left = 60; ; left--) {
  if ((await askJson('/openapi/v3')).paths[sample] !== undefined) break;
  if (left === 0) throw new Error('no document of a custom resource after a minute');
  await new Promise((resolve) => setTimeout(resolve, 1000));
}
add('sample', await bytesOf(`/openapi/v3/${sample}`));
golden.openapi['sample protobuf'] = sha512(await bytesOf(`/openapi/v3/${sample}`, { accept: type('v3') }));
await ask(`${crds}/samples.record.kctl.test`, { method: 'DELETE' });
writeFileSync(goldenFile, `${JSON.stringify(golden, null, 2)}\n`);

const whole = Buffer.concat(sections.map(({ bytes }) => bytes));
const compressed = brotliCompressSync(whole, {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: whole.length,
  },
});
const lines = sections.map(({ name, bytes, hash }) => `${name},${bytes.length},${hash}`).join('\n');
writeFileSync(
  outputFile,
  `// Written by scripts/record-openapi.mjs from the answers of a real kube-apiserver. Do not edit.
// The documents are those of Kubernetes, Copyright The Kubernetes Authors, Apache-2.0.

/** One document to a line, in the order of the data: name, length in bytes, SHA-512. */
export const sections: string = \`${lines}\`;

/** All documents one after the other, compressed with brotli, in base64. */
export const data: string =
  '${compressed.toString('base64')}';
`,
);
console.log(`${sections.length} documents, ${whole.length} bytes, ${compressed.length} compressed`);
