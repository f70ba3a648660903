import { recipe } from '@kctl/tsup-config';

export default recipe;
