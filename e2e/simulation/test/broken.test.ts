import { isSimulationFailed, simulate } from '@kctl/simulation';
import { expect, it } from 'vitest';
import { broken } from '../src/broken/reconcilers.js';

it.each(Object.entries(broken))('finds: %s', async (_name, { options, rules, advice }) => {
  const outcome: unknown = await simulate({ ...options, shrink: false }).catch((error: unknown) => error);
  if (!isSimulationFailed(outcome)) throw new Error(`no rule is broken: ${String(outcome)}`);
  expect(rules, outcome.message).toContain(outcome.violation.rule);
  expect(outcome.violation.message).toMatch(advice);
});
