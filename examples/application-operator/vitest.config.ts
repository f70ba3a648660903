import { packageTests } from '@kctl/vitest-config';

export default packageTests();
