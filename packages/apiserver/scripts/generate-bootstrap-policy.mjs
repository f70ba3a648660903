// Writes src/boot/generated/bootstrap-policy.ts: the roles and bindings that a kube-apiserver creates at
// its start, read from a real one without controllers.
//
//   KUBECONFIG=<of pnpm apiserver:real> node scripts/generate-bootstrap-policy.mjs
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import process from 'node:process';

const kubeconfig = readFileSync(process.env.KUBECONFIG ?? '', 'utf8');
const [, server] = /server: (.*)/.exec(kubeconfig) ?? [];
const [, token] = /token: "?([^"\n]*)/.exec(kubeconfig) ?? [];
const [, authority] = /certificate-authority-data: (.*)/.exec(kubeconfig) ?? [];
const ca = Buffer.from(authority ?? '', 'base64');

/** @param {string} path @returns {Promise<any>} */
function get(path) {
  return new Promise((resolve, reject) => {
    const call = request(`${server}${path}`, { ca, headers: { authorization: `Bearer ${token}` } }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve(JSON.parse(text)));
    });
    call.on('error', reject).end();
  });
}

const list = (/** @type {string} */ resource) => get(`/apis/rbac.authorization.k8s.io/v1/${resource}`);
const joined = (/** @type {string[] | undefined} */ values) => (values ?? []).join(',');
const lines = [];
const prefix = 'rbac.authorization.k8s.io/aggregate-to-';
for (const resource of ['clusterroles', 'roles']) {
  for (const { metadata, rules, aggregationRule } of (await list(resource)).items) {
    const { 'kubernetes.io/bootstrapping': _, ...labels } = metadata.labels;
    const into = Object.keys(labels).map((label) => label.slice(prefix.length));
    const from = (aggregationRule?.clusterRoleSelectors ?? []).map((/** @type {any} */ { matchLabels }) =>
      Object.keys(matchLabels)[0]?.slice(prefix.length),
    );
    lines.push(['role', metadata.namespace ?? '', metadata.name, joined(into), joined(from)].join(' '));
    for (const rule of rules ?? [])
      lines.push(
        `  ${[rule.verbs, rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs].map(joined).join(';')}`,
      );
  }
}
for (const resource of ['clusterrolebindings', 'rolebindings']) {
  for (const { metadata, roleRef, subjects } of (await list(resource)).items) {
    lines.push(['binding', metadata.namespace ?? '', metadata.name, roleRef.kind, roleRef.name].join(' '));
    for (const { kind, name, namespace = '' } of subjects ?? []) lines.push(`  ${[kind, namespace, name].join(';')}`);
  }
}
const { gitVersion } = await get('/version');
writeFileSync(
  new URL('../src/boot/generated/bootstrap-policy.ts', import.meta.url),
  `// Written by scripts/generate-bootstrap-policy.mjs from the objects of kube-apiserver ${gitVersion}. Do not edit.
// Facts of Kubernetes, Copyright The Kubernetes Authors, Apache-2.0.

/**
 * One line for each role (\`role namespace name aggregated-to aggregated-from\`) and binding (\`binding namespace name
 * kind role\`); below it, indented, a line for each rule (\`verbs;groups;resources;names;urls\`) or subject
 * (\`kind;namespace;name\`).
 */
export const bootstrapPolicy: string = \`${lines.join('\n')}\`;
`,
);
console.log(`${lines.length} lines`);
