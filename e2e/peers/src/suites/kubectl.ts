/** Some 80 kubectl commands: the terminal must show what it showed with a real server. */
import { readFile } from 'node:fs/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRealApiServer } from '@kctl/kube-apiserver';
import { run } from '../command.js';
import type { SuiteResult, TargetName } from '../result.js';
import { startPeerServer } from '../server.js';
import { kubectlTranscript } from '../transcript.js';

const recorded = new URL('../../transcripts/kubectl.txt', import.meta.url);

/** The commands of a transcript, each with what it showed; repeated commands keep their order. */
export function commandsOf(transcript: string): readonly { readonly command: string; readonly shown: string }[] {
  return transcript
    .split(/^(?=\$ kubectl )/m)
    .filter((part) => part.startsWith('$ '))
    .map((part) => {
      const lineEnd = part.indexOf('\n');
      return { command: part.slice(2, lineEnd), shown: part.slice(lineEnd + 1).trimEnd() };
    });
}

async function transcriptOf(target: TargetName): Promise<string> {
  if (target === 'embedded') {
    await using peer = await startPeerServer();
    return await kubectlTranscript(peer);
  }
  const server = await startRealApiServer({ controllerManager: true });
  const folder = await mkdtemp(join(tmpdir(), 'kctl-peers-'));
  try {
    return await kubectlTranscript({ kubeconfigPath: server.kubeconfigPath, folder });
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

export async function kubectl(target: TargetName): Promise<SuiteResult> {
  const { output } = await run('kubectl', ['version', '--client']);
  const version = /v\d+\.\d+\.\d+/.exec(output)?.[0] ?? '';
  const wanted = commandsOf(await readFile(recorded, 'utf8'));
  const started = performance.now();
  const shown = commandsOf(await transcriptOf(target));
  const seconds = Math.round((performance.now() - started) / 100) / 10;
  const different = wanted.filter(({ shown: expected }, index) => shown[index]?.shown !== expected);
  for (const { command, shown: expected } of different) {
    const got = shown[wanted.findIndex((each) => each.command === command)]?.shown ?? 'nothing';
    console.log(`FAIL ${command}\n--- real\n${expected}\n--- ${target}\n${got}`);
  }
  return {
    suite: 'kubectl',
    target,
    version,
    groups: [
      {
        name: 'commands',
        passed: wanted.length - different.length,
        failed: different.map(({ command }) => ({ name: command, cause: 'shows something else' })),
        skipped: 0,
        seconds,
      },
    ],
  };
}
