import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { hideSecrets, type Connection } from '../src/connection/index.js';

const shown = (connection: Connection): string => `${inspect(connection, { depth: 9 })} ${JSON.stringify(connection)}`;

describe('hideSecrets', () => {
  it('shows no argument and no variable of an exec plugin, and leaves them usable', () => {
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: 'login',
      args: ['--secret', 'canary-1'],
      env: [{ name: 'TOKEN', value: 'canary-2' }],
    } as const;
    const connection = hideSecrets({ server: 'https://example.com', user: { exec } });
    expect(shown(connection)).not.toContain('canary');
    expect(shown(connection)).toContain('TOKEN');
    expect(connection.user?.exec).toEqual(exec);
    expect(JSON.parse(JSON.stringify(connection))).toMatchObject({
      user: { exec: { args: ['[redacted]', '[redacted]'] } },
    });
  });

  it('shows no secret of a proxy and of an OpenID Connect provider', () => {
    const oidc = { issuerUrl: 'https://id.example.com', clientId: 'c', refreshToken: 'canary-1', idToken: 'canary-2' };
    const proxyUrl = 'http://me:canary-3@proxy.example.com';
    const connection = hideSecrets({ server: 'https://example.com', proxyUrl, user: { oidc } });
    expect(shown(connection)).not.toContain('canary');
    expect(shown(connection)).toContain('id.example.com');
    expect(connection.user?.oidc).toEqual(oidc);
    expect(connection).toMatchObject({ proxyUser: { name: 'me', password: 'canary-3' } });
    expect(connection.proxyUrl).toContain('proxy.example.com');
  });

  it.each([undefined, null])('takes an exec plugin whose args and env are %s', (none) => {
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'login', args: none, env: none };
    const connection = hideSecrets({ server: 'https://example.com', user: { exec } } as never);
    expect(connection.user?.exec).toMatchObject({ command: 'login' });
    expect(shown(connection)).toContain('login');
  });

  it('takes the user of the URL if there is no other authentication, and hides the password', () => {
    const server = 'https://admin:canary@example.com';
    const alone = hideSecrets({ server });
    expect(alone.user).toMatchObject({ username: 'admin', password: 'canary' });
    expect(shown(alone)).not.toContain('canary');
    const other = hideSecrets({ server, user: { token: 'other' } });
    expect(other.user?.username).toBeUndefined();
    expect(other.user?.token).toBe('other');
    expect(shown(other)).not.toMatch(/canary|other/);
    expect(hideSecrets({ server: 'https://example.com', user: { token: 'x' } }).user?.username).toBeUndefined();
  });
});
