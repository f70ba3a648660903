/** An operator that fails at its start, with something that its setup keeps alive. */
import { defineOperator } from '../src/index.js';

await defineOperator({
  name: 'op',
  manager: () => ({ connection: { server: 'https://127.0.0.1:1' } }),
  setup() {
    if (process.env['FILL'] !== undefined) process.stderr.write('x'.repeat(1_000_000));
    setInterval(() => undefined, 1_000);
    throw new Error('setup: no database');
  },
}).main(import.meta.url);
