import { packageTests } from '@kctl/vitest-config';

/** Collecting a heap, or counting what a process does, says nothing about one line and costs seconds per mutant. */
const slow = ['**/*.{lifetime,leak,memory}.test.ts', '**/*lifetime.test.ts', '**/keep-alive.test.ts'];

// A mutant that waits for what never comes is killed by the first test that ends late.
export default packageTests({ exclude: slow, testTimeout: 30_000 });
