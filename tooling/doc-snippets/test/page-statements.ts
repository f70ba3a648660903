// What the pages that compare and promise state about kctl, each with the test that proves it: words of the page, a file,
// and words of the title of a test in it. Words of a table are those of its first cell.

type Proof = readonly [words: string, file: string, title: string];

const runtime = (file: string): string => `packages/runtime/test/${file}.test.ts`;
const controller = (file: string): string => `packages/controller/test/${file}.test.ts`;
const cli = (file: string): string => `packages/cli/test/${file}.test.ts`;
const statusOut = runtime('object-in-status-out');
const startup = runtime('startup-matrix');
const cache = 'packages/cache/src/informer-cache.test.ts';
const elector = 'packages/leader-election/src/leader-elector.test.ts';
const deployed: readonly [string, string] = [cli('cli'), 'installs, deploys, looks, and takes it away again'];
const rights: readonly [string, string] = [runtime('access-needs'), 'has what an operator sends on a server with RBAC'];
const ownWrites: readonly [string, string] = [runtime('read-your-writes'), 'always read what they have written'];
const repaired: readonly [string, string] = [
  'packages/builder/test/integration.test.ts',
  'creates dependents, restores them, and cleans up by finalizer',
];

/** Those of the landing page, which the README repeats. */
const promises: readonly Proof[] = [
  ['Reads its own writes', ...ownWrites],
  ['Tests without a cluster', 'packages/apiserver/test/faults.test.ts', 'commitThenFail keeps the write'],
  ['Simulation', 'packages/simulation/test/simulate.test.ts', 'gives each seed one trace'],
  ['Rights generated', ...rights],
  ['Inspection', 'packages/inspection/test/recorder.test.ts', 'leads from the event over the run and its writes'],
  ['Webhooks without cert-manager', 'packages/webhook/test/certificates.test.ts', 'are made, kept in the Secret'],
  ['with one worker per key', controller('controller'), 'never runs a key twice at once'],
  ['back-off on failure', controller('controller'), 'retries a failure with back-off'],
];

export const statements: Readonly<Record<string, readonly Proof[]>> = {
  'docs/index.md': [
    ...promises,
    ['Each package is useful alone', 'tooling/doc-snippets/test/first-programs.test.ts', 'the program runs as printed'],
    ['Concepts, metric names and log keys', controller('semantics'), 'have the log keys of upstream'],
  ],
  'README.md': [...promises, ['a read never returns something older than an own write', ...ownWrites]],
  'docs/why.md': [
    ['uses less memory per process', 'tooling/doc-snippets/test/page-figures.test.ts', 'has no figure that nothing'],
    ['both libraries can share a kubeconfig', 'packages/informer/test/client-node.test.ts', 'with a KubeConfig'],
    ['For exec, logs and port-forward', 'packages/pods/test/pods.test.ts', 'returns what the process wrote'],
  ],
  'docs/guides/deployment.md': [
    ['`npx kctl undeploy` takes it away', ...deployed],
    ['Argo CD, Flux and Helm', 'e2e/peers/test/scaffold.test.ts', 'renders as the kustomization is'],
    ['An operator is one Node process', cli('deployment-guide'), 'shows the objects that kctl generate writes'],
    ['A standby has its caches filled', 'packages/manager/test/readiness.test.ts', 'sources on a standby'],
    ['nothing after a graceful stop', elector, 'leads, and gives it back when stopped'],
    ['Standbys are ready', runtime('outage'), 'probes and webhooks well'],
    ['with a wrong permission never becomes ready', startup, 'is described in the README of @kctl/manager'],
    ['It includes the election', 'packages/leader-election/test/elector-features.test.ts', 'is unhealthy only while'],
    ['applies CRDs before the operator', cli('deploy-order'), 'keeps the storage version and calls no webhook'],
    ['whose CRD is missing is not ready', startup, 'is described in the README of @kctl/manager'],
    ['starts by itself when the CRD is created', 'packages/builder/test/crd.test.ts', 'from the time it is there'],
    ['ends with exit code 1', startup, 'is described in the README of @kctl/manager'],
    ['waits without a limit', controller('semantics'), 'holds nothing back while its kind is missing'],
    ['is ready meanwhile', 'packages/manager/test/readiness.test.ts', 'informer that only optional sources need'],
  ],
  'docs/coming-from/pepr.md': [
    ['npx pepr init', 'packages/create/test/create.test.ts', 'writes a project without a question'],
    ['npx pepr dev', 'e2e/cli/test/dev.test.ts', 'runs an operator with webhooks on a server of its own'],
    ['npx pepr build', cli('cli'), 'writes manifests that follow from the operator'],
    ['npx pepr deploy', ...deployed],
    ['npx pepr monitor', cli('inspect'), 'asks each replica through the API server'],
    ['`Capability`, `PeprModule`', 'packages/operator/test/operator.test.ts', 'makes a manager for tests'],
    ['.IsCreatedOrUpdated().Reconcile', statusOut, 'runs with the manager, typed by the kind of for'],
    ['.InNamespace(…)`, `.WithLabel', controller('predicates'), 'matches the labels of the new object'],
    ['.Watch((object, phase)', 'packages/informer/src/shared-informer.test.ts', 'lists, watches and fans out'],
    ['.Finalize(fn)', statusOut, 'with a finalizer the clean-up is'],
    ['.Mutate(request', 'packages/webhook/test/admission-rules.test.ts', 'see what their filters choose'],
    ['.Get(name)', 'packages/client-http/test/verbs.test.ts', 'asks for the object by its path'],
    ['.Apply(object)', statusOut, 'applies children owned by it'],
    ['K8s(Pod).Exec', 'packages/pods/test/pods.test.ts', 'returns what the process wrote'],
    ['OnSchedule', 'packages/manager/src/schedule/scheduler.test.ts', 'runs at its interval'],
    ['`Store`', statusOut, 'writes the status'],
    ['A deleted object does not arrive', statusOut, 'is not called for what does not exist'],
    ['A failed run is repeated with back-off', controller('controller'), 'retries a failure with back-off'],
    ['leader election is part of the manager', runtime('fence'), 'refuses writes from the moment the lease is lost'],
    ['costs no request', runtime('request-budget'), 'is a metric of each controller'],
    ['with the rights that are generated', ...rights],
    ['as rules with filters', 'packages/webhook/test/admission-rules.test.ts', 'becomes operations and selectors'],
  ],
  'docs/coming-from/defaults.md': [
    ['cached reads after own writes', ...ownWrites],
    ['a read of a kind that is not watched', cache, 'starts no informer for a read of a kind that nobody declared'],
    ['objects from the cache', 'packages/apimachinery/src/deep-readonly.test.ts', 'makes writing throw at every depth'],
    [
      '`managedFields` in the cache',
      'packages/client-delegating/test/read-your-writes.test.ts',
      'managedFields are there',
    ],
    ['client-side rate limit', 'packages/client-http/test/faults.test.ts', 'rateLimit: { qps: 2, burst: 3 }'],
    ['| resync |', 'packages/informer/test/rules/reflector.test.ts', 'never asks the server for a resync'],
    ['changes that wait for a busy handler', 'packages/informer/test/rules/handlers.test.ts', "heard['latest']"],
    ['`FilteringResourceEventHandler`', 'packages/informer/test/rules/handlers.test.ts', 'filterEvents<Thing>'],
    ['| lost lease |', 'packages/manager/test/lost-lease.test.ts', 'with exit ends the manager'],
    [
      'release of the lease on stop',
      'packages/leader-election/test/options-table.test.ts',
      "option: 'releaseOnCancel'",
    ],
    ['informers of leader-elected', 'packages/manager/test/readiness.test.ts', 'of required sources on a standby'],
    ['metrics and health endpoints', 'packages/manager/test/options-table.test.ts', 'and binds no port'],
    ['metrics registry', runtime('two-managers'), 'runs two managers in one process'],
    ['conflicts in a reconcile', controller('options-table'), 'log level of the first 5 conflicts in a row'],
    ['`Retry-After` of a failed reconcile', controller('options-table'), 'Retry-After of a 429 or 503'],
    ['a terminal error', controller('controller'), 'does not retry a terminal error'],
    ['results that are not valid', controller('controller'), 'takes the invalid result %j for a failure'],
    ['an update event whose handler fails', controller('failed-events'), 'is delivered again after 100 ms'],
    ['controller names', 'packages/manager/test/manager.test.ts', 'refuses a second controller of the same name'],
    ['graceful shutdown', 'packages/manager/test/manager.test.ts', 'names the stragglers'],
    ['test environment', 'packages/testing/src/environment.test.ts', 'starts a server, makes namespaces'],
    ['Workers per controller (1), back-off', controller('options-table'), "option: 'maxConcurrentReconciles'"],
  ],
  'docs/coming-from/kopf.md': [
    ['@kopf.on.create', statusOut, 'runs with the manager, typed by the kind of for'],
    ['@kopf.on.delete', statusOut, 'with a finalizer the clean-up is'],
    ['@kopf.on.field', statusOut, 'writes nothing where nothing changed'],
    ['@kopf.on.event', 'packages/informer/src/shared-informer.test.ts', 'lists, watches and fans out'],
    ['@kopf.timer', controller('controller'), 'a requeueAfter wins over it'],
    ['@kopf.daemon', 'packages/manager/test/manager.test.ts', 'goes on when a runnable is finished'],
    ['@kopf.index', runtime('create-manager'), 'has the whole cache: indexes'],
    ['@kopf.on.validate', 'packages/webhook/test/admission-rules.test.ts', 'see what their filters choose'],
    ['kopf.TemporaryError', controller('controller'), 'a requeueAfter wins over it'],
    ['kopf.PermanentError', controller('controller'), 'has the messages of upstream for terminal errors'],
    ["patch.status['x']", statusOut, 'writes the status'],
    ['`memo`', 'packages/controller/src/object/reconcile-object.test.ts', 'has state in memory'],
    ['kopf.adopt', statusOut, 'applies children owned by it'],
    ['kopf.event', 'packages/events/test/events.test.ts', 'is created in events.k8s.io/v1'],
    ['peering with priorities', runtime('fence'), 'refuses writes from the moment the lease is lost'],
    ['`--namespace`', 'packages/operator/test/operator.test.ts', 'takes the namespaces of WATCH_NAMESPACE'],
    ['kopf run --dev', 'e2e/cli/test/dev.test.ts', 'runs an operator with webhooks on a server of its own'],
    ['KopfRunner', 'packages/testing/test/run-operator.test.ts', 'runs the program in a namespace'],
    ['kctl stores nothing in the object', statusOut, 'writes nothing where nothing changed'],
    ['children that were changed or deleted by hand are repaired', ...repaired],
  ],
};

/** Paragraphs and items that state nothing that kctl does: advice, opinions, other projects, and where to read on. */
export const others: Readonly<Record<string, readonly string[]>> = {
  'docs/index.md': ['[The first guide](/first-operator) goes on', 'The kind is a schema'],
  'README.md': [],
  'docs/why.md': [],
  'docs/guides/deployment.md': [
    'The matching options of the manager',
    '`npm create @kctl` writes this Dockerfile',
    'Throttling delays lease renewals',
    '**Memory**: a base', // its figures are in page-figures.test.ts
  ],
  'docs/coming-from/pepr.md': [
    'is a framework for TypeScript',
    'Policies as a product',
    'A key-value store beside the objects',
  ],
  'docs/coming-from/defaults.md': ['Everything that is not listed here'],
  'docs/coming-from/kopf.md': ['makes the first handler easy'],
};
