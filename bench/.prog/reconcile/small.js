// An operator that keeps V8's young generation small, as `main` of @kctl/operator does: small.ts, with what kctl.ts takes
import { keepYoungGenerationSmall } from '@kctl/runtime';

keepYoungGenerationSmall();
await import('./kctl.js');
