/** Writes transcripts/kubectl.txt anew from a real server: `pnpm --filter @kctl/e2e-peers record`. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRealApiServer } from '@kctl/kube-apiserver';
import { kubectlTranscript } from './transcript.js';

const server = await startRealApiServer({ controllerManager: true });
const folder = await mkdtemp(join(tmpdir(), 'kctl-peers-'));
try {
  const text = await kubectlTranscript({ kubeconfigPath: server.kubeconfigPath, folder });
  await writeFile(new URL('../transcripts/kubectl.txt', import.meta.url), text);
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
