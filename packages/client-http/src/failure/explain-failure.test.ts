import { expect, it } from 'vitest';
import { explainFailure } from './explain-failure.js';

const failed = (code: string, maybeSent: boolean) =>
  explainFailure(Object.assign(new Error(`read ${code}`), { code }), {
    server: 'https://10.0.0.1:6443',
    method: 'POST',
    path: '/api/v1/nodes?dryRun=All',
    maybeSent,
  });

it.each(['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'])(
  'calls a connection lost that ends with %s after a request',
  (code) => {
    const lost = failed(code, true);
    expect([lost.failure, lost.maybeSent]).toEqual(['reset', true]);
    expect(lost.message).toMatch(/^POST \/api\/v1\/nodes failed at https:\/\/10\.0\.0\.1:6443: /);
    const unmade = failed(code, false);
    expect([unmade.failure, unmade.maybeSent]).toEqual(['unreachable', false]);
    expect(unmade.message).toMatch(/^cannot connect to the API server https:\/\/10\.0\.0\.1:6443: /);
  },
);
