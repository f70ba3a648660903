/** Starts or finds the server that `--target` names. */
import { startRealApiServer } from '@kctl/kube-apiserver';
import { readKubeconfig } from './kubeconfig.js';
import { createAuditLog } from './audit-log.js';
import type { Target, TargetOptions } from './target.js';

const OTHER = { token: 'conformance-other-token', user: 'conformance-other' };

export type TargetName = Target['name'];
export const targetNames: readonly TargetName[] = ['embedded', 'real', 'existing'];

export function startTarget(name: TargetName, options: TargetOptions = {}): Promise<Target> {
  switch (name) {
    case 'real':
      return startReal(options);
    case 'embedded':
      return import('./embedded.js').then(({ startEmbedded }) => startEmbedded(OTHER, options));
    case 'existing':
      return useExisting();
  }
}

async function startReal({ controllers = true, audit = false, release }: TargetOptions): Promise<Target> {
  const auditLog = audit ? await createAuditLog() : undefined;
  const server = await startRealApiServer({
    controllerManager: controllers,
    ...(release !== undefined && { release }),
    ...(auditLog !== undefined && { apiServerFlags: auditLog.flags }),
    tokens: [{ token: OTHER.token, user: OTHER.user }],
  });
  return {
    name: 'real',
    url: server.url,
    caPem: server.caPem,
    credentials: { token: server.adminToken },
    lacks: new Map([['faults', 'only the embedded server fails on demand']]),
    issueClientCertificate: async (subject) => {
      const { certPem, keyPem } = await server.issueClientCertificate(subject);
      return { certPem, keyPem };
    },
    otherToken: OTHER,
    async compact() {
      const etcd = async (path: string, body: unknown): Promise<{ header: { revision: string } }> => {
        const answer = await fetch(`${server.etcdUrl}${path}`, { method: 'POST', body: JSON.stringify(body) });
        if (!answer.ok) throw new Error(`etcd ${path}: ${answer.status} ${await answer.text()}`);
        return (await answer.json()) as { header: { revision: string } };
      };
      const { header } = await etcd('/v3/kv/range', { key: Buffer.from('a').toString('base64') });
      await etcd('/v3/kv/compaction', { revision: header.revision, physical: true });
    },
    ...(auditLog !== undefined && { auditOf: (auditId: string) => auditLog.annotationsOf(auditId) }),
    async stop() {
      await server.stop();
      await auditLog?.[Symbol.asyncDispose]();
    },
  };
}

async function useExisting(): Promise<Target> {
  const { url, caPem, credentials } = await readKubeconfig(process.env['KUBECONFIG']);
  return {
    name: 'existing',
    url,
    caPem,
    credentials,
    lacks: new Map([
      ['client-certificates', 'the CA of an existing cluster is not at hand'],
      ['anonymous', 'an existing cluster may refuse or allow it'],
      ['expiry', 'the history of an existing cluster is not ours to compact'],
      ['faults', 'only the embedded server fails on demand'],
    ]),
    stop: () => Promise.resolve(),
  };
}
