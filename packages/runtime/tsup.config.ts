import { recipe } from '@kctl/tsup-config';
import { inlineElectionWorker } from './build/inline-election-worker.mjs';

export default { ...recipe, esbuildPlugins: [inlineElectionWorker] };
