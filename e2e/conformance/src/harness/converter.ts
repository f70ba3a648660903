/** A conversion webhook on this machine, whose answers a case chooses. */
import { createServer } from 'node:https';
import { createCertificateAuthority } from '@kctl/testing';
import type { Json } from './doc.js';

/** A review as it came, and what it asks for. */
export interface ConversionCall {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly review: Json;
}

/** What a webhook answers: a review's response, or anything else as `raw`. */
export type ConversionAnswer =
  | { readonly objects: readonly Json[] }
  | { readonly response: Json; readonly review?: Json }
  | { readonly status: number; readonly raw: string; readonly contentType?: string };

export type Behaviour = (call: ConversionCall) => ConversionAnswer | Promise<ConversionAnswer>;

export interface ConverterServer {
  /** `clientConfig` of a definition. */
  readonly clientConfig: { readonly url: string; readonly caBundle: string };
  readonly calls: ConversionCall[];
  behave(behaviour: Behaviour): void;
  stop(): Promise<void>;
}

/** Starts a webhook that converts by `convert`, object by object, until it is told to behave otherwise. */
export async function startConverter(
  convert: (object: Json, apiVersion: string) => Json,
  authorityName = 'conformance-converter',
): Promise<ConverterServer> {
  const authority = await createCertificateAuthority(authorityName, Date.now());
  const serving = await authority.issueServing({
    commonName: 'localhost',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
  });
  const calls: ConversionCall[] = [];
  const usual: Behaviour = ({ review }) => ({
    objects: (review.request.objects as Json[]).map((object) =>
      convert(structuredClone(object), review.request.desiredAPIVersion as string),
    ),
  });
  let behaviour = usual;
  const server = createServer({ key: serving.keyPem, cert: serving.certPem }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString());
      const call = { path: request.url ?? '', headers: request.headers, review };
      calls.push(call);
      void Promise.resolve(behaviour(call)).then((answer) => {
        const { status, contentType, text } = written(answer, review);
        response.writeHead(status, { 'content-type': contentType }).end(text);
      });
    });
  });
  // As in `hook.ts`: no connection ends under a call.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    clientConfig: {
      url: `https://127.0.0.1:${port}/convert`,
      caBundle: Buffer.from(authority.ca.certPem).toString('base64'),
    },
    calls,
    behave(next) {
      behaviour = next;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function written(answer: ConversionAnswer, review: Json): { status: number; contentType: string; text: string } {
  if ('raw' in answer) {
    return { status: answer.status, contentType: answer.contentType ?? 'application/json', text: answer.raw };
  }
  const { uid } = review.request as { uid: string };
  const response =
    'objects' in answer
      ? { uid, convertedObjects: answer.objects, result: { status: 'Success' } }
      : { uid, ...answer.response };
  const base = { apiVersion: review.apiVersion as string, kind: 'ConversionReview' };
  const extra = 'response' in answer ? answer.review : undefined;
  return { status: 200, contentType: 'application/json', text: JSON.stringify({ ...base, ...extra, response }) };
}
