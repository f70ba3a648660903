import { defineOperator } from '@kctl/operator';
import { Greeting } from './api/greeting.ts';
import { addGreetingController } from './controllers/greeting.ts';

/** What the operator is made of. Nothing starts on import: kctl and the tests read it too. */
export const operator = defineOperator({
  name: 'greeting',
  resources: [Greeting],
  setup(manager) {
    addGreetingController(manager);
  },
});
await operator.main(import.meta.url);
