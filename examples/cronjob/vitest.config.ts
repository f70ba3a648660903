import { packageTests } from '@kctl/vitest-config';

export default packageTests({ testTimeout: 120_000 });
