/** The server of @kctl/apiserver, in this process. */
import { createApiServer } from '@kctl/apiserver';
import type { Capability } from './spec.js';
import type { Target, TargetOptions } from './target.js';

const lacks = new Map<Capability, string>();

export async function startEmbedded(
  other: { token: string; user: string },
  { controllers = true, audit = false }: TargetOptions = {},
): Promise<Target> {
  const server = createApiServer({
    controllers,
    authorization: 'RBAC',
    journalEntries: audit ? 2_000 : 50_000,
    tokens: [{ token: other.token, user: other.user }],
  });
  await server.start();
  return {
    name: 'embedded',
    url: server.url,
    caPem: server.certificateAuthority,
    credentials: { token: server.token },
    lacks,
    issueClientCertificate: async ({ commonName, organizations }) => {
      const { cert, key } = server.issueClientCertificate(commonName, organizations);
      return { certPem: cert, keyPem: key };
    },
    otherToken: other,
    ...(audit && {
      auditOf: async (auditId: string) =>
        server.journal.responses().findLast((response) => response.auditId === auditId)?.auditAnnotations ?? {},
    }),
    async compact() {
      server.compact();
    },
    stop: () => server.stop(),
  };
}
