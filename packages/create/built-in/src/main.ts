import { defineOperator } from '@kctl/operator';
import { add__Kind__Controller } from './controllers/__kind-file__.ts';

/** What the operator is made of. Nothing starts on import: kctl and the tests read it too. */
export const operator = defineOperator({
  name: '__name__',
  setup(manager) {
    add__Kind__Controller(manager);
  },
});
await operator.main(import.meta.url);
