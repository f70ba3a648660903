import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pod } from '@kctl/apimachinery/kinds/core/v1';
import { expect, it } from 'vitest';
import { createHttpClient } from '../src/index.js';

const joined = '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE----------BEGIN CERTIFICATE-----\nAA==\n';

it.each(['ca', 'caFile'])(
  'refuses a bundle of authorities of which TLS would read a part, and names it (%s)',
  async (field) => {
    const folder = await mkdtemp(join(tmpdir(), 'kctl-bundle-'));
    try {
      const caFile = join(folder, 'ca.crt');
      await writeFile(caFile, joined);
      const trust = field === 'ca' ? { ca: joined } : { caFile };
      await using client = createHttpClient({ connection: { server: 'https://127.0.0.1:1', ...trust } });
      await expect(client.get(Pod, { namespace: 'a', name: 'b' })).rejects.toThrow(
        field === 'ca'
          ? 'the certificate authority holds a certificate, number 1, that cannot be read'
          : `the certificate authority ${caFile} holds a certificate, number 1, that cannot be read`,
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);
