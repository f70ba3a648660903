/** All that a user of kubectl does, and what the terminal shows. */
import { join } from 'node:path';
import { kubectlProgram } from '../programs.js';
import type { Peer } from '../server.js';
import { Transcript } from '../transcript.js';
import { basics, dependent, manifest } from './basics.js';
import { tools } from './tools.js';

const cascades = ['orphan', 'foreground', 'background'] as const;

/** Deletes a Deployment in each way, with an object that it owns. */
async function deleteOwners(transcript: Transcript): Promise<void> {
  for (const cascade of cascades) {
    const uid = (await transcript.show('kubectl get deploy web -n demo -o jsonpath={.metadata.uid}')).trim();
    await transcript.show('kubectl create -f -', dependent(uid));
    await transcript.settle(); // The collector of a real server must have seen the dependent.
    await transcript.show(`kubectl delete deploy web -n demo --cascade=${cascade}`);
    if (cascade === 'orphan') {
      await transcript.show('kubectl get cm dependent -n demo -o jsonpath={.metadata.ownerReferences}');
      await transcript.show('kubectl delete cm dependent -n demo');
    } else await transcript.show('kubectl wait --for=delete cm/dependent -n demo --timeout=30s');
    if (cascade !== 'background') await transcript.show('kubectl create -f -', manifest.split('---\n')[5]);
  }
}

export async function playKubectl({ kubeconfigPath, folder }: Peer): Promise<string> {
  const transcript = new Transcript({
    programs: { kubectl: kubectlProgram() },
    env: {
      KUBECONFIG: kubeconfigPath,
      KUBECACHEDIR: join(folder, 'cache'),
      KUBE_EDITOR: 'sed -i s/third/edited/',
      TZ: 'UTC',
    },
    cwd: folder,
  });
  await transcript.showAll(basics);
  await transcript.showAll(tools);
  await deleteOwners(transcript);
  await transcript.showAll([
    'kubectl delete ns demo',
    'kubectl get ns demo',
    'kubectl delete crd gadgets.demo.kctl.test',
    'kubectl get gadgets -A',
  ]);
  return transcript.toString();
}
