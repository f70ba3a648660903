import { expect, it } from 'vitest';
import { deleteFields, listQuery, sentNames, watchQuery, writeQuery } from './option-parts.js';

const { signal } = new AbortController();
const selection = { namespace: 'shop', labelSelector: { app: 'web' }, fieldSelector: 'metadata.name=a' };
const versions = { resourceVersion: '7', resourceVersionMatch: 'Exact', timeoutSeconds: 5 } as const;

it.each([
  [
    'list',
    sentNames.list,
    listQuery({ ...selection, ...versions, limit: 3, continue: 't', live: true, readYourWrites: 'off', signal }),
  ],
  [
    'watch',
    sentNames.watch,
    watchQuery({ ...selection, ...versions, allowWatchBookmarks: true, sendInitialEvents: false, signal }),
  ],
  [
    'write',
    sentNames.write,
    writeQuery({ dryRun: true, fieldOwner: 'me', fieldValidation: 'Strict', force: true, signal }),
  ],
  [
    'delete',
    sentNames.deleteBody,
    deleteFields({
      ...{ dryRun: true, gracePeriodSeconds: 0, preconditions: { uid: 'u' }, propagationPolicy: 'Orphan' },
      ...{ ignoreStoreReadErrorWithClusterBreakingPotential: true, signal },
    }),
  ],
])('a request has every option that it can send: %s', (_verb, names, fields) => {
  expect(Object.keys(fields ?? {}).sort()).toEqual([...names].sort());
});

it('a request without options has no fields', () => {
  expect(deleteFields({ dryRun: false, signal })).toBeUndefined();
  expect(listQuery({ limit: Infinity })).toEqual({});
});
