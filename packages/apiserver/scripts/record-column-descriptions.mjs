/**
 * Records what a real kube-apiserver says of the columns of its tables, as src/table/generated/column-descriptions.ts
 * has it. The first and the last column of most tables, which are the same everywhere, are left out.
 *
 *   pnpm apiserver:real                                           prints the path of a kubeconfig
 *   KUBECONFIG=<path> node scripts/record-column-descriptions.mjs  writes the file
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { parse } from 'yaml';

const file = new URL('../src/table/generated/column-descriptions.ts', import.meta.url);
const { clusters, users, contexts, 'current-context': current } = parse(readFileSync(process.env.KUBECONFIG, 'utf8'));
const { context } = contexts.find(({ name }) => name === current);
const { cluster } = clusters.find(({ name }) => name === context.cluster);
const { user } = users.find(({ name }) => name === context.user);
const bytes = (data, path) => (data === undefined ? path && readFileSync(path) : Buffer.from(data, 'base64'));

/** @param {string} path @param {string} [accept] */
async function get(path, accept = 'application/json') {
  return await new Promise((resolve, reject) => {
    const sent = request(`${cluster.server}${path}`, {
      ca: bytes(cluster['certificate-authority-data'], cluster['certificate-authority']),
      cert: bytes(user['client-certificate-data'], user['client-certificate']),
      key: bytes(user['client-key-data'], user['client-key']),
      headers: { accept, ...(user.token && { authorization: `Bearer ${user.token}` }) },
    });
    sent
      .on('error', reject)
      .on('response', async (response) => resolve(JSON.parse((await response.toArray()).join(''))));
    sent.end();
  });
}

const { groups } = await get('/apis');
const versions = ['/api/v1', ...groups.flatMap((group) => group.versions.map((each) => `/apis/${each.groupVersion}`))];
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const { columnDefinitions: usual } = await get('/api/v1/configmaps', table);
const common = new Set([usual.at(0).description, usual.at(-1).description]);
const found = new Map();
for (const path of versions) {
  const { resources } = await get(path);
  const group = path === '/api/v1' ? '' : path.split('/')[2];
  const listed = resources.filter(({ name, verbs }) => !name.includes('/') && verbs.includes('list'));
  for (const { name, kind } of listed) {
    const { columnDefinitions = [] } = await get(`${path}/${name}`, table);
    const own = columnDefinitions.filter(({ description }) => description !== '' && !common.has(description));
    if (own.length > 0)
      found.set(`${group}/${kind}`, Object.fromEntries(own.map((column) => [column.name, column.description])));
  }
}
const lines = [...found.entries()]
  .toSorted(([a], [b]) => (a < b ? -1 : 1))
  .map(([kind, own]) => `  ${JSON.stringify(kind)}: ${JSON.stringify(own)},`);
writeFileSync(
  file,
  `// Written by scripts/record-column-descriptions.mjs from the answers of a real kube-apiserver. Do not edit.

/** By \`group/Kind\` and name of a column. */
export const columnDescriptions: Readonly<Record<string, Readonly<Record<string, string>>>> = {
${lines.join('\n')}
};
`,
);
console.log(`${found.size} kinds`);
