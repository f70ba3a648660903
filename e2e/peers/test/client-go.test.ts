/** A Go program with client-go's dynamic client and dynamic informer, on the embedded server. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isInstalled, run } from '../src/command.js';
import { startPeerServer } from '../src/server.js';

const hasGo = isInstalled('go', ['version']);

describe.skipIf(!hasGo)('client-go on the embedded server', () => {
  it('dynamic client and dynamic informer work unchanged', async () => {
    await using peer = await startPeerServer();
    const { code, output } = await run('go', ['run', '.'], {
      cwd: fileURLToPath(new URL('../go', import.meta.url)),
      env: { KUBECONFIG: peer.kubeconfigPath },
      timeoutMs: 600_000,
    });
    expect(output).toMatch(/\nall good\n$/);
    expect(code).toBe(0);
  }, 620_000);
});
