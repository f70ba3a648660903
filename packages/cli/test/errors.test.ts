import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TransportError } from '@kctl/client-http/internal';
import { expect, it } from 'vitest';
import { CliError, explain } from '../src/errors.js';

const coded = (code: string): Error => Object.assign(new Error(`connect ${code} 10.0.0.1:6443`), { code });

it.each([
  ['ECONNREFUSED', 'is the cluster running?'],
  ['ENOTFOUND', 'is a VPN needed?'],
  ['ETIMEDOUT', 'a VPN or a firewall'],
  ['UND_ERR_CONNECT_TIMEOUT', 'a VPN or a firewall'],
  ['CERT_HAS_EXPIRED', ': renew it, or make the cluster anew'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'the kubeconfig is of another cluster'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'the kubeconfig is of another cluster'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'the kubeconfig is of another cluster'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'the kubeconfig is of another cluster'],
  ['EHOSTUNREACH', 'a VPN or a firewall'],
  ['EADDRINUSE', 'another process has the port'],
])('has a remedy for %s, also as the cause of a cause', (code, remedy) => {
  expect(explain(coded(code))).toContain(remedy);
  const wrapped = new Error('discovery failed', { cause: coded(code) });
  expect(explain(new CliError('deployment/a cannot be applied: discovery failed', { cause: wrapped }))).toContain(
    remedy,
  );
  // As the client says it, with a question of its own, and without the code in a message.
  const fields = { failure: 'tls', method: 'GET', server: 'https://a', path: '/', maybeSent: false } as const;
  const inner = Object.assign(new Error('handshake'), { errors: [Object.assign(new Error('inner'), { code })] });
  const said = new TransportError(
    { ...fields, message: 'cannot connect to https://a:6443: lost: is it?' },
    { cause: inner },
  );
  expect(explain(said)).toMatch(/^cannot connect to https:\/\/a:6443: lost: [^:]/);
  expect(explain(said)).toContain(remedy);
  expect(explain(said)).not.toContain('is it?');
});

it('has a remedy for credentials that are not valid, and for a webhook that cannot be called', () => {
  expect(explain(new Error('list customresourcedefinitions: Unauthorized'))).toMatch(
    /: your credentials .* log in again$/,
  );
  const message =
    'Internal error occurred: failed calling webhook "vsite.example.com": Post "https://172.18.0.1:9443/x": dial tcp: no route to host';
  expect(explain(new CliError(`website/a cannot be applied: ${message}`, { cause: new Error(message) }))).toMatch(
    /no route to host: the API server cannot call it: see npx kctl doctor; .*--webhook-host$/,
  );
});

it('adds nothing to what is clear', () => {
  expect(explain(new CliError('there is no package.json'))).toBe('there is no package.json');
});

it('is never a command that a project does not have on its PATH: npx finds it', () => {
  const packages = join(import.meta.dirname, '..', '..');
  const bare = ['cli', 'create', 'operator', 'inspection'].flatMap((name) => {
    const src = join(packages, name, 'src');
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    return files.flatMap((file) =>
      readFileSync(join(src, file), 'utf8')
        .split('\n')
        .filter((line) => !/^\s*(\/?\*|\/\/)/.test(line))
        .filter((line) =>
          /\b(run|use|see|See|or|and|until|apply|deploy) (it by )?kctl (--help|(?!in |have )[a-z]+)/.test(line),
        )
        .map((line) => `${name}/${file}: ${line.trim()}`),
    );
  });
  expect(bare).toEqual([]);
});
