// A misspelled field of a connection would send requests as another user, or trust other servers.
import { requireConnection, requireImpersonation } from '@kctl/client/internal/connection';
import { describe, expect, it } from 'vitest';

const server = 'https://10.0.0.1:6443';

describe('a connection', () => {
  it.each([
    [{ server, cafile: '/ca' }, 'unknown option "cafile": did you mean "caFile"?'],
    [{ server, token: 'secret' }, 'unknown option "token"'],
    [{ server, insecureSkipTLSVerify: true }, 'unknown option "insecureSkipTLSVerify"'],
    [{ server, user: { tokn: 'secret' } }, 'unknown option "user.tokn": did you mean "token"?'],
    [{ server, user: Object.create({ Token: 'secret' }) as object }, 'unknown option "user.Token"'],
    [{ server, proxyUser: { user: 'a', password: 'b' } }, 'unknown option "proxyUser.user"'],
    [{ server, user: { impersonate: { userName: 'a', group: ['b'] } } }, 'impersonate.group": did you mean "groups"?'],
  ])('is refused with a misspelled field: %#', (connection, message) => {
    expect(() => requireConnection(connection as never)).toThrow(message);
    expect(() => requireConnection(connection as never)).not.toThrow('secret');
  });
});

it('may have more fields, as an object that carries a connection', () => {
  const carrier = { server, user: { token: 'a' }, token: 'a', port: 6443 };
  expect(() => requireConnection(carrier)).not.toThrow();
});

describe('an impersonation', () => {
  const misspelled: object = { userName: 'a', Groups: ['system:masters'] };
  it.each([
    ['in another case', misspelled],
    ['inherited', Object.create(misspelled) as object],
  ])('is refused with a misspelled field: %s', (_how, impersonate) => {
    expect(() => requireImpersonation('impersonate', impersonate as never)).toThrow(
      'unknown option "impersonate.Groups": did you mean "groups"?',
    );
  });

  it.each([[[]], ['jane'], [5]])('is refused if it is no object of its fields: %o', (impersonate) => {
    expect(() => requireImpersonation('impersonate', impersonate as never)).toThrow('impersonate.userName is not set');
  });
});
