import { packageTests } from '@kctl/vitest-config';
import { defineConfig } from 'vitest/config';

/** Suites that start processes of other toolchains, or run for long, are CI's: see scripts/servers.mjs. */
const hasEndToEnd = process.env.KCTL_E2E === '1';

/** Each package as `pnpm test` runs it in its folder; what `--project @kctl/x` names. */
const separate = [
  'packages/*/vitest.config.ts',
  'examples/*/vitest.config.ts',
  'tooling/*/vitest.config.ts',
  'bench/vitest.config.ts',
  ...(hasEndToEnd ? ['e2e/*/vitest.config.ts'] : []),
];

const folders = '{packages/*,examples/*,tooling/*,bench}/{src,test}/**';
/** Tests that collect or count a heap: in a process that has run every other test, that takes long and counts the others. */
const memory = [
  `${folders}/*{lifetime,leak,memory}.test.ts`,
  'packages/simulation/test/taking-part.test.ts',
  'tooling/lifetime/test/*.test.ts',
];
/**
 * Files of seven seconds and more. `npm test` leaves them to CI (scripts/servers.mjs); named on the command line, they run.
 * Most start processes, play an example, or search at length.
 */
const long = [
  'examples/application-operator/test/failover.test.ts',
  'examples/application-operator/test/smoke.test.ts',
  'examples/by-hand/test/scene.test.ts',
  'examples/cronjob/test/scene.test.ts',
  'examples/from-client-node/test/steps.test.ts',
  'examples/leader-elected-task/test/scene.test.ts',
  'examples/leader-elected-task/test/smoke.test.ts',
  'packages/apiserver/test/cli.test.ts',
  'packages/apiserver/test/hostile.test.ts',
  'packages/apiserver/test/long-answers.test.ts',
  'packages/apiserver/test/long-writes.test.ts',
  'packages/apiserver/test/protobuf.test.ts',
  'packages/cache/test/scoped-histories.test.ts',
  'packages/cli/test/doctor.test.ts',
  'packages/cli/test/failures.test.ts',
  'packages/client-delegating/test/lifetime.test.ts',
  'packages/client-delegating/test/read-your-writes.property.test.ts',
  'packages/client-http/test/canaries.test.ts',
  'packages/client-http/test/faults.test.ts',
  'packages/client-http/test/other-kinds.test.ts',
  'packages/create/test/add.test.ts',
  'packages/create/test/example.test.ts',
  'packages/create/test/matrix.test.ts',
  'packages/informer/src/bytes/slab-store.property.test.ts',
  'packages/informer/test/model-check.test.ts',
  'packages/informer/test/parity/decoders.test.ts',
  'packages/informer/test/rules/any-moment.test.ts',
  'packages/informer/test/server-faults.test.ts',
  'packages/leader-election/test/worker.test.ts',
  'packages/manager/test/endpoints.test.ts',
  'packages/manager/test/lives.test.ts',
  'packages/operator/test/operator.test.ts',
  'packages/runtime/test/bundle.test.ts',
  'packages/runtime/test/canaries.test.ts',
  'packages/runtime/test/outage.test.ts',
  'packages/runtime/test/read-your-writes.property.test.ts',
  'packages/runtime/test/read-your-writes.test.ts',
  'packages/runtime/test/startup-matrix.test.ts',
  'packages/runtime/test/worker-election.test.ts',
  'packages/simulation/test/attacks.test.ts',
  'packages/simulation/test/faults.test.ts',
  'packages/simulation/test/rules.test.ts',
  'packages/simulation/test/taking-part.test.ts',
  'packages/testing/test/migrate-storage-faults.test.ts',
  'packages/testing/test/run-operator.test.ts',
  'packages/webhook/test/certificates.test.ts',
  'packages/workqueue/src/slot-table.test.ts',
  'packages/workqueue/test/conformance.test.ts',
  'packages/workqueue/test/flat-heap.leak.test.ts',
  'packages/workqueue/test/lifetime.test.ts',
  'packages/workqueue/test/model.test.ts',
  'tooling/checks/test/signals.test.ts',
  'tooling/doc-snippets/test/first-programs.test.ts',
  'tooling/doc-snippets/test/foreign-parts.test.ts',
];
/** A project as npm create makes it: node:test runs its tests, from packages/create. */
const created = 'examples/greeting/**';
/** A project has its own modules: each of 50 projects would transform the packages below it again, a third of the time. */
const together = [
  packageTests({ name: 'long', include: long, isolate: true }),
  packageTests({ name: 'memory', include: memory, exclude: long, isolate: true }),
  packageTests({
    name: 'unit',
    include: [`${folders}/*.test.ts`],
    exclude: [...memory, ...long, created],
  }),
];

const isSeparate = hasEndToEnd || process.argv.some((argument) => /^(--project=)?@kctl\//.test(argument));

export default defineConfig({ test: { projects: isSeparate ? separate : together } });
