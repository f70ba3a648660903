/**
 * kubectl on the embedded server. transcripts/kubectl.txt was recorded on a real kube-apiserver
 * (`pnpm run peers -- --suite kubectl --target real --record`): the terminal must show the same.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled, run } from '../src/command.js';
import { startPeerServer, type PeerServer } from '../src/server.js';
import { playKubectl } from '../src/kubectl/play.js';
import { kubectlProgram } from '../src/programs.js';
import { readResult, type Group } from '../src/result.js';
import { differencesOf, readRecording } from '../src/suites/transcripts.js';
import { commandsOf } from '../src/transcript.js';

// kubectl is built from its module.
const hasGo = isInstalled('go', ['version']);

describe.skipIf(!hasGo)('kubectl on the embedded server', () => {
  let peer: PeerServer;
  const kubectl = async (...args: string[]) =>
    run(kubectlProgram(), [`--cache-dir=${peer.folder}/other-cache`, ...args], {
      env: { KUBECONFIG: peer.kubeconfigPath },
    });

  beforeAll(async () => {
    peer = await startPeerServer();
  });
  afterAll(async () => {
    await peer[Symbol.asyncDispose]();
  });

  it('shows what it shows on a real server, but for what the committed result lists', async () => {
    const [wanted, shown] = [await readRecording('kubectl'), await playKubectl(peer)];
    const known = await readResult('kubectl', 'embedded');
    const names = (failed: Group['failed']): string[] => failed.map(({ name }) => name);
    expect(names(differencesOf(commandsOf(wanted), commandsOf(shown)))).toEqual(
      names(known?.groups.flatMap(({ failed }) => failed) ?? []),
    );
  }, 900_000);

  it('get --watch prints changes as they come', async () => {
    const watching = run(
      kubectlProgram(),
      [`--cache-dir=${peer.folder}/other-cache`, 'get', 'cm', '-n', 'default', '--watch', '--no-headers'],
      {
        env: { KUBECONFIG: peer.kubeconfigPath },
        isEnough: (output) => output.split('\n').length > 4,
      },
    );
    while (peer.server.watchers === 0) await new Promise((resolve) => setImmediate(resolve));
    const configMaps = '/api/v1/namespaces/default/configmaps';
    const post = await peer.server.fetch(configMaps, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ metadata: { name: 'w' }, data: { a: '1' } }),
    });
    expect(post.status).toBe(201);
    for (const data of [{ b: '2' }, { c: '3' }])
      await peer.server.fetch(`${configMaps}/w`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify({ data }),
      });
    await peer.server.fetch(`${configMaps}/w`, { method: 'DELETE' });
    const { output } = await watching;
    expect(
      output
        .split('\n')
        .slice(0, 4)
        .map((line) => line.split(/\s+/).slice(0, 2)),
    ).toEqual([
      ['w', '1'],
      ['w', '2'],
      ['w', '3'],
      ['w', '3'],
    ]);
  });

  it('explains fields', async () => {
    const explain = await kubectl('explain', 'configmap.immutable');
    expect(explain.output).toMatch(/FIELD: immutable <boolean>/);
  });

  it('creates what it sends as protobuf', async () => {
    const create = await kubectl('create', 'configmap', 'x', '--from-literal=a=b');
    expect(create).toMatchObject({ code: 0, output: 'configmap/x created\n' });
    const data = await kubectl('get', 'configmap', 'x', '-o', 'jsonpath={.data}');
    expect(data.output).toBe('{"a":"b"}');
  });
});
