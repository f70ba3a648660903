import { join } from 'node:path';
import { startExample } from '@kctl/vitest-config/example';
import { describe, expect, it } from 'vitest';

describe('the process of a manager', () => {
  it('goes on while all that the manager runs waits, and ends with it', async () => {
    const program = startExample(join(import.meta.dirname, 'alone-program.ts'));
    expect([await program.exited, program.output]).toEqual([0, 'ended\n']);
  });

  it('ends after a webhook server that cannot start: no wait for its readiness is left', async () => {
    const program = startExample(join(import.meta.dirname, 'failed-program.ts'));
    expect([await program.exited, program.output]).toEqual([
      0,
      'webhook server failed: webhook server: no certificate\n',
    ]);
  });
});
