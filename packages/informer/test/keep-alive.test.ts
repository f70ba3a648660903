import { join } from 'node:path';
import { startExample } from '@kctl/vitest-config/example';
import { describe, expect, it } from 'vitest';

describe('the process of an informer', () => {
  it('goes on while the informer waits for a server that is down, and ends with it', async () => {
    const program = startExample(join(import.meta.dirname, 'alone-program.ts'));
    expect([await program.exited, program.output]).toEqual([0, 'ended after 3 attempts\n']);
  });
});
