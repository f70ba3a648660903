import { createServer, type Server } from 'node:https';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { createCertificateAuthority } from '@kctl/http-server/internal/certificates';

/** A request that a webhook was sent. */
export interface HookRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The AdmissionReview; tests look into it freely. */
  readonly review: any;
}

/** What a webhook answers: `response` of a review, or something that is none. */
export type HookAnswer =
  | { readonly response: Record<string, unknown> }
  | { readonly status?: number; readonly body: string; readonly headers?: Record<string, string> }
  | 'hang'
  | 'cut';

/** A webhook of a test. */
export interface HookServer {
  readonly port: number;
  readonly url: string;
  /** PEM. */
  readonly authority: string;
  /** The certificate that it serves with, PEM. */
  readonly certificate: string;
  readonly requests: HookRequest[];
  /** How many TLS connections were opened. */
  readonly connections: number;
  /** What it answers from now on. */
  answer: (request: HookRequest) => HookAnswer | Promise<HookAnswer>;
  /** `clientConfig` of a configuration. */
  client(path?: string): { readonly url: string; readonly caBundle: string };
  close(): Promise<void>;
}

/** An answer that allows. */
export const allow = (fields: Record<string, unknown> = {}): HookAnswer => ({ response: { allowed: true, ...fields } });

/** An answer that denies. */
export const deny = (status?: Record<string, unknown>, fields: Record<string, unknown> = {}): HookAnswer => ({
  response: { allowed: false, ...(status !== undefined && { status }), ...fields },
});

/** An answer that patches. */
export const patch = (operations: unknown, fields: Record<string, unknown> = {}): HookAnswer =>
  allow({
    patchType: 'JSONPatch',
    patch: Buffer.from(typeof operations === 'string' ? operations : JSON.stringify(operations)).toString('base64'),
    ...fields,
  });

function reply(
  answer: HookAnswer,
  { review }: HookRequest,
): { status: number; body: string; headers: Record<string, string> } {
  if (typeof answer === 'string') throw new TypeError(answer);
  if ('body' in answer) return { status: answer.status ?? 200, body: answer.body, headers: answer.headers ?? {} };
  const { kind, apiVersion } = review;
  const body = JSON.stringify({ kind, apiVersion, response: { uid: review.request.uid, ...answer.response } });
  return { status: 200, body, headers: { 'content-type': 'application/json' } };
}

/** Starts a webhook with a certificate for `names`, and stops it after the test. */
export async function startHook(names: readonly string[] = ['127.0.0.1', 'localhost']): Promise<HookServer> {
  const authority = createCertificateAuthority({ name: 'test-ca', now: Date.now() });
  const { cert, key } = authority.issueServer('test', names);
  const requests: HookRequest[] = [];
  let connections = 0;
  const hook = { answer: (): HookAnswer => allow() } as Pick<HookServer, 'answer'>;
  const server: Server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const review: unknown = JSON.parse(Buffer.concat(chunks).toString());
      const seen = { url: request.url ?? '', headers: request.headers, review };
      requests.push(seen);
      void (async () => {
        const answer = await hook.answer(seen);
        if (answer === 'hang') return;
        if (answer === 'cut') {
          response.destroy();
          return;
        }
        const { status, body, headers } = reply(answer, seen);
        response.writeHead(status, headers).end(body);
      })();
    });
  });
  server.on('secureConnection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}/hook`;
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return Object.defineProperties(hook as HookServer, {
    port: { value: port },
    url: { value: url },
    authority: { value: authority.cert },
    certificate: { value: cert },
    requests: { value: requests },
    connections: { get: () => connections },
    client: {
      value: (path = '/hook') => ({
        url: `https://127.0.0.1:${port}${path}`,
        caBundle: Buffer.from(authority.cert).toString('base64'),
      }),
    },
    close: { value: close },
  });
}
