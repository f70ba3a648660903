import { packageTests } from '@kctl/vitest-config';

export default packageTests({ testTimeout: 900_000 });
