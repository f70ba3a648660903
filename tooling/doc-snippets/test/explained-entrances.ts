// Entrances that do not refuse unknown names themselves, each with the reason.

/** Of functions that take more than the fitting arguments above, which the tests of their packages call; and others. */
export const explained: ReadonlyMap<string, string> = new Map([
  ['apimachinery.defineKind', 'kinds are made by the hundred, and their bundle has a limit'],
  ['wait.withDeadline', 'called with the options of a whole call, which its callers have checked'],
  ['telemetry.describeError', 'called for each error of a log line'],
  ['telemetry.loggable', 'called for each value of a log line'],
  ['telemetry.guardSinks', 'takes the options of others'],
  ['informer.reflectorConfigProblems', 'takes the options of others'],
  ['rbac.needProblems', 'takes the options of others'],
  ['manager.isForeignRequest', 'called for each request'],
  ['WorkQueue.run', 'tested in packages/runtime, with work'],
  ['WorkQueue.[Symbol.asyncIterator]', 'not a method with a name'],
  ['apimachinery.setCondition', 'the name of a generic, not options'],
  ['webhook.certificateRules', 'takes the options of createSelfManagedCertificates, which refuses them'],
  ['webhook.validationRule', 'its options are a rest parameter, which admissionWebhook refuses'],
  ['webhook.mutationRule', 'its options are a rest parameter, which admissionWebhook refuses'],
  ['Metrics.counter', 'each collector library has its own'],
  ['Metrics.gauge', 'each collector library has its own'],
  ['Metrics.histogram', 'each collector library has its own'],
  ['Cache.matcherFor', 'list refuses them first'],
  ['CacheView.matcherFor', 'list refuses them first'],
  ['DeclaredChildren.plan', 'takes the context of a reconcile, which has more'],
  ['Planner.plan', 'takes the context of a reconcile, which has more'],
  ['WatchHandle.waitForSync', 'the fitting argument is a controller, whose handles have it'],
  ['Clock.setTimer', 'called for each timer'],
  ['client.listWithin', 'hands them to list, which refuses them'],
]);
