import { expect, it } from 'vitest';
import { createApiServer } from './index.js';

it.each<[unknown, string]>([
  [{ authorisation: 'RBAC' }, 'createApiServer: unknown option "authorisation": did you mean "authorization"?'],
  [{ authorization: 'rbac' }, 'authorization "rbac" is not valid: expected "AlwaysAllow" or "RBAC"'],
  [{ prot: 6443 }, 'unknown option "prot": did you mean "port"?'],
  [{ controllers: { garbageCollector: true } }, 'unknown option "controllers.garbageCollector": did you mean'],
  [{ controllers: 'none' }, 'controllers "none" is not valid: expected an object of options'],
  [{ dataDir: 5 }, 'dataDir is a value of type number: expected a text'],
  [null, 'createApiServer: expected options, not null'],
])('refuses the options %o', (options, message) => {
  const create = (): unknown => Reflect.apply(createApiServer, undefined, [options]);
  expect(create).toThrow(TypeError);
  expect(create).toThrow(message);
});
