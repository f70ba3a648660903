import { houseRules } from '@kctl/eslint-config';

export default houseRules(import.meta.dirname);
