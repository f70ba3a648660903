// The idle manager as `main` of @kctl/operator runs it: small-idle.ts, with what idle.ts takes
import { keepYoungGenerationSmall } from '@kctl/runtime';

keepYoungGenerationSmall();
await import('./idle.js');
