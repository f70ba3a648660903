import { recipe } from '@kctl/tsup-config';
import { inlinePage } from './build/page.mjs';

export default { ...recipe, esbuildPlugins: [inlinePage] };
