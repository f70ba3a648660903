import { expect, it } from 'vitest';
import { createApiServer } from './index.js';

it.each<[unknown, string]>([
  [{ authorisation: 'RBAC' }, 'createApiServer: unknown option "authorisation": did you mean "authorization"?'],
  [{ authorization: 'rbac' }, 'authorization "rbac" is not valid: expected "AlwaysAllow" or "RBAC"'],
  [{ prot: 6443 }, 'unknown option "prot": did you mean "port"?'],
  [{ controllers: { garbageCollector: true } }, 'unknown option "controllers.garbageCollector": did you mean'],
  [{ controllers: 'none' }, 'controllers "none" is not valid: expected an object of options'],
  [{ dataDir: 5 }, 'dataDir is a value of type number: expected a string'],
  [{ port: 70_000 }, 'port 70000 is not valid: expected an integer ≥ 0 and ≤ 65535'],
  [{ historyMs: Number.NaN }, 'historyMs NaN is not valid: expected a number of ms ≥ 0 or Infinity'],
  [{ maxBodyBytes: '3' }, 'maxBodyBytes "3" is not valid'],
  [{ serverNames: 'localhost' }, 'serverNames is'],
  [{ tokens: [{ token: 'a', usr: 'jane' }] }, 'unknown option "tokens[0].usr": did you mean'],
  [{ tokens: [{ token: 'a' }] }, 'tokens[0].user is not set: expected a string'],
  [{ tokens: [{ token: '', user: 'jane' }] }, 'tokens[0].token is not set: expected a string'],
  [{ tokens: [null] }, 'tokens[0] null is not valid'],
  [{ serviceAccounts: { podAdmision: true } }, 'unknown option "serviceAccounts.podAdmision": did you mean'],
  [{ serviceAccounts: 5 }, 'serviceAccounts 5 is not valid: expected an object of options'],
  [null, 'createApiServer: expected options, not null'],
])('refuses the options %o', (options, message) => {
  const create = (): unknown => Reflect.apply(createApiServer, undefined, [options]);
  expect(create).toThrow(TypeError);
  expect(create).toThrow(message);
});
