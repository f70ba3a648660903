import { expect, it } from 'vitest';
import { activities, causeOfCommit } from './activity.js';
import type { Exchange } from './exchange.js';
import type { Scope } from '../scope.js';

it('takes a timer that outlives the request which armed it for work of the server', async () => {
  const scope = { name: 'server', kind: 'server' } as Scope;
  const cause = { isServed: false, scope: { name: 'replica-1', kind: 'replica' } } as Exchange;
  const later = Promise.withResolvers<undefined>();
  const inTimer = activities.run({ scope, cause }, async () => {
    expect(causeOfCommit()).toEqual({ cause, origin: 'replica' });
    await later.promise;
    return causeOfCommit();
  });
  cause.isServed = true;
  later.resolve(undefined);
  expect(await inTimer).toEqual({ cause: undefined, origin: 'server' });
  expect(causeOfCommit()).toEqual({ cause: undefined, origin: 'server' });
});
