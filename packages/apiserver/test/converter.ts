import { createServer } from 'node:https';
import { messageOf } from '@kctl/telemetry/internal';
import { onTestFinished } from 'vitest';
import { createCertificateAuthority } from '@kctl/http-server/internal/certificates';
import { widgetCrd } from './harness.js';

/** A ConversionReview's request, as tests look into it. */
export type ReviewRequest = any;

/** A conversion webhook of a test. */
export interface Converter {
  /** One entry for each call: how many objects it had, and the version that they were to be in. */
  readonly calls: { readonly count: number; readonly to: string }[];
  /** What is done before an answer; it may wait, and it may throw. */
  before: (request: ReviewRequest) => unknown;
  /** The CRD of harness.ts with a second version, converted by this webhook: v1 `size` is v2 `length`. */
  readonly crd: any;
}

/** v1 has `size`, v2 has `length`. */
export function convertWidget(object: any, apiVersion: string): any {
  const { size, length, ...common } = object.spec ?? {};
  const spec = apiVersion === 'ex.io/v2' ? { ...common, length: size ?? length } : { ...common, size: length ?? size };
  return { ...object, apiVersion, spec };
}

/** Starts a conversion webhook, and stops it after the test. */
export async function converter(): Promise<Converter> {
  const authority = createCertificateAuthority({ name: 'test-ca', now: Date.now() });
  const { cert, key } = authority.issueServer('test', ['127.0.0.1']);
  const calls: Converter['calls'] = [];
  const server = createServer({ cert, key }, (request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { apiVersion, kind, request: asked } = JSON.parse(text);
      calls.push({ count: asked.objects.length, to: asked.desiredAPIVersion });
      const answer = async () => {
        await webhook.before(asked);
        const convertedObjects = asked.objects.map((object: unknown) => convertWidget(object, asked.desiredAPIVersion));
        return { uid: asked.uid, convertedObjects, result: { status: 'Success' } };
      };
      void answer()
        .catch((error: unknown) => ({ uid: asked.uid, result: { status: 'Failed', message: messageOf(error) } }))
        .then((reply) => response.end(JSON.stringify({ apiVersion, kind, response: reply })));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const [first] = widgetCrd.spec.versions;
  const schema: any = structuredClone(first!.schema);
  const { size: _, ...properties } = schema.openAPIV3Schema.properties.spec.properties;
  schema.openAPIV3Schema.properties.spec = {
    type: 'object',
    required: ['length'],
    properties: { ...properties, length: { type: 'integer' } },
  };
  const clientConfig = {
    url: `https://127.0.0.1:${port}/convert`,
    caBundle: Buffer.from(authority.cert).toString('base64'),
  };
  const webhook: Converter = {
    calls,
    before: () => undefined,
    crd: {
      ...widgetCrd,
      spec: {
        ...widgetCrd.spec,
        conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
        versions: [
          first,
          {
            ...first,
            name: 'v2',
            storage: false,
            additionalPrinterColumns: [],
            schema,
            selectableFields: [{ jsonPath: '.spec.length' }],
          },
        ],
      },
    },
  };
  return webhook;
}
