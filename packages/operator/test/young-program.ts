/** An operator that prints the V8 flags that it sets. Whatever size the young generation has by then: sources take long to load. */
import { defineOperator } from '../src/index.js';

process.getBuiltinModule('node:v8').setFlagsFromString = (flags) => console.log(flags);
await defineOperator({
  name: 'op',
  manager: () => ({ connection: { server: 'https://127.0.0.1:1' } }),
  ...(process.env['LET_GROW'] === '1' ? { youngGeneration: 'grows' as const } : {}),
  setup() {
    console.log('setup');
    process.exit(0);
  },
}).main(import.meta.url);
