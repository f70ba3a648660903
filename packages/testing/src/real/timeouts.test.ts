import { expect, it } from 'vitest';
import { resolveTimeouts } from './timeouts.js';

it('takes time-outs from options, then from the variables of envtest, then its own', () => {
  expect(resolveTimeouts({}, {})).toEqual({ startMs: 60_000, stopMs: 2_000 });
  const environment = {
    KUBEBUILDER_CONTROLPLANE_START_TIMEOUT: '2m',
    KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT: '1m30s',
  };
  expect(resolveTimeouts({}, environment)).toEqual({ startMs: 120_000, stopMs: 90_000 });
  expect(resolveTimeouts({ startTimeout: '5s', stopTimeout: 100 }, environment)).toEqual({
    startMs: 5000,
    stopMs: 100,
  });
  expect(() => resolveTimeouts({}, { KUBEBUILDER_CONTROLPLANE_START_TIMEOUT: 'soon' })).toThrow(
    'KUBEBUILDER_CONTROLPLANE_START_TIMEOUT',
  );
  expect(() => resolveTimeouts({ stopTimeout: 0 }, {})).toThrow('stopTimeout 0 is not valid');
});
