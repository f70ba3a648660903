/**
 * Records the objects that a real kube-apiserver makes at its start, as src/boot/generated/system-objects.ts has them.
 *
 *   pnpm apiserver:real                                       prints the path of a kubeconfig
 *   KUBECONFIG=<path> node scripts/record-system-objects.mjs  writes the file; needs kubectl
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

const kinds = [
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'priorityclasses.scheduling.k8s.io',
  'apiservices.apiregistration.k8s.io',
];
const file = new URL('../src/boot/generated/system-objects.ts', import.meta.url);
const objects = kinds.flatMap((kind) => {
  const { items } = JSON.parse(execFileSync('kubectl', ['get', kind, '-o', 'json'], { encoding: 'utf8' }));
  return items
    .filter(({ metadata }) => metadata.labels?.['kube-aggregator.kubernetes.io/automanaged'] !== 'true')
    .map(({ metadata: { name, labels, annotations, generation }, ...rest }) => ({
      ...rest,
      metadata: {
        name,
        ...(labels && { labels }),
        ...(annotations && { annotations }),
        ...(generation && { generation }),
      },
    }));
});
const moments = JSON.stringify(objects).match(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g) ?? [];
let lines = objects.map((object) => JSON.stringify(object)).join('\n');
for (const moment of new Set(moments)) lines = lines.replaceAll(moment, '<now>');
writeFileSync(
  file,
  `// Written by scripts/record-system-objects.mjs from the answers of a real kube-apiserver. Do not edit.

/** One object to a line. \`<now>\` is the time of the start. */
export const systemObjects: string = String.raw\`${lines}\`;
`,
);
console.log(`${objects.length} objects, ${lines.length} bytes`);
