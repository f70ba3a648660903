import { createInterface } from 'node:readline/promises';
import type { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { loadConnection } from '@kctl/client-http';

/**
 * Asks whether a scene may be played on the cluster of KUBECONFIG. Without a terminal the answer is no.
 *
 * @throws KubeConfigError when no cluster is configured
 */
export async function confirmCluster({
  name,
  crds = [],
}: {
  readonly name: string;
  readonly crds?: readonly CustomResourceDefinition[];
}): Promise<boolean> {
  const { server } = await loadConnection();
  const definitions = crds.map(({ metadata }) => metadata.name).join(', ');
  const what = `a namespace ${name}-…${definitions === '' ? '' : ` and the CustomResourceDefinitions ${definitions}`}`;
  if (!process.stdin.isTTY) {
    console.error(`${server}: this creates ${what}, and deletes them at the end. Run it in a terminal, or with --yes.`);
    process.exitCode = 2;
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    const answer = await terminal.question(`Use ${server}? This creates ${what}, and deletes them at the end. [y/N] `);
    if (/^y(es)?$/i.test(answer.trim())) return true;
    console.log('nothing was created');
    return false;
  } finally {
    terminal.close();
  }
}
