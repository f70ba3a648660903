import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noopLogger, noopMetrics } from '@kctl/telemetry';
import type { Logger, Metrics } from '@kctl/telemetry';
import { createCertificateAuthority } from '@kctl/testing';
import { FakeClock } from '@kctl/wait/testing';
import { expect, it } from 'vitest';
import { createCertificateWatcher } from './certificate-watcher.js';

it('misses no change that comes while it reads, without the poll', async () => {
  const certDir = await mkdtemp(join(tmpdir(), 'kctl-certificates-'));
  const [certFile, keyFile] = [join(certDir, 'tls.crt'), join(certDir, 'tls.key')];
  const authority = await createCertificateAuthority('test-ca', Date.now());
  const write = async (): Promise<string> => {
    const subject = { commonName: 'x', dnsNames: ['localhost'], ipAddresses: [] };
    const { certPem, keyPem } = await authority.issueServing(subject);
    await writeFile(keyFile, keyPem);
    await writeFile(certFile, certPem);
    return certPem;
  };
  await write();
  const expiries: number[] = [];
  const gauge: Metrics['gauge'] = ({ name }) => ({
    with: (labels) => {
      expect([name, labels]).toEqual([
        'certwatcher_certificate_expiration_timestamp_seconds',
        { certificate: certFile },
      ]);
      return { ...noopMetrics.gauge({ name, help: '' }).with({}), set: (value) => void expiries.push(value) };
    },
    remove: () => undefined,
  });
  let seen = Promise.withResolvers<string>();
  using watcher = createCertificateWatcher({
    certFile,
    keyFile,
    clock: new FakeClock(), // its poll never comes
    logger: noopLogger,
    metrics: { ...noopMetrics, gauge },
    onChange: ({ cert }) => seen.resolve(cert.toString()),
  });
  await watcher.load();
  for (let rotation = 0; rotation < 20; rotation++) {
    seen = Promise.withResolvers<string>();
    const written = await write();
    expect(await seen.promise).toBe(written);
  }
  // Of the first pair, and of each that followed.
  expect(expiries).toHaveLength(21);
  expect(expiries.every((expiry) => expiry > Date.now() / 1000)).toBe(true);
  await rm(certDir, { recursive: true });
});

it('says of the old pair when it expires where the new one is refused, and hands that over again', async () => {
  const certDir = await mkdtemp(join(tmpdir(), 'kctl-certificates-'));
  const [certFile, keyFile] = [join(certDir, 'tls.crt'), join(certDir, 'tls.key')];
  const authority = await createCertificateAuthority('test-ca', Date.now());
  const write = async (): Promise<void> => {
    const subject = { commonName: 'x', dnsNames: ['localhost'], ipAddresses: [] };
    const { certPem, keyPem } = await authority.issueServing(subject);
    await writeFile(keyFile, keyPem);
    await writeFile(certFile, certPem);
  };
  await write();
  let expiries = 0;
  const gauge: Metrics['gauge'] = () => ({
    with: () => ({ ...noopMetrics.gauge({ name: 'x', help: '' }).with({}), set: () => void expiries++ }),
    remove: () => undefined,
  });
  const clock = new FakeClock();
  const calls = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  let call = 0;
  using watcher = createCertificateWatcher({
    certFile,
    keyFile,
    clock,
    logger: noopLogger,
    metrics: { ...noopMetrics, gauge },
    onChange: () => {
      expect(expiries).toBe(1);
      calls[call++]?.resolve(undefined);
      if (call === 1) throw new Error('the key is too small');
    },
  });
  await watcher.load();
  await write();
  await calls[0]?.promise;
  await clock.advance(10_000);
  await calls[1]?.promise;
  await rm(certDir, { recursive: true });
});

it('goes on where its logger fails', async () => {
  const certDir = await mkdtemp(join(tmpdir(), 'kctl-certificates-'));
  const [certFile, keyFile] = [join(certDir, 'tls.crt'), join(certDir, 'tls.key')];
  const authority = await createCertificateAuthority('test-ca', Date.now());
  const write = async (): Promise<void> => {
    const subject = { commonName: 'x', dnsNames: ['localhost'], ipAddresses: [] };
    const { certPem, keyPem } = await authority.issueServing(subject);
    await writeFile(keyFile, keyPem);
    await writeFile(certFile, certPem);
  };
  await write();
  const refused = Promise.withResolvers<undefined>();
  const logger: Logger = {
    ...noopLogger,
    error: () => {
      refused.resolve(undefined);
      throw new Error('the disk of the log is full');
    },
  };
  const second = Promise.withResolvers<undefined>();
  using watcher = createCertificateWatcher({
    certFile,
    keyFile,
    clock: new FakeClock(), // its poll never comes
    logger,
    metrics: noopMetrics,
    onChange: () => second.resolve(undefined),
  });
  await watcher.load();
  await writeFile(certFile, 'half of it');
  await refused.promise;
  await write();
  await second.promise;
  await rm(certDir, { recursive: true });
});
