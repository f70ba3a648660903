import type { LogFields, Logger } from '@kctl/telemetry';
import type { ControllerOptions } from '../controller-options.js';
import type { ControllerEnvironment } from './environment.js';
import { FailureJudge } from './failure-judge.js';
import { guardedLimiter } from '../retry/guarded-limiter.js';
import { defaultQueueFactory, defaultRateLimiter } from '../queue/make-queue.js';
import { createPolicies } from '../policy/policies.js';
import { ReconcileLoop } from './reconcile-loop.js';
import { adaptQueue } from '../queue/reconcile-queue.js';
import type { ReconcileErrorHook, ReconcileFunction } from '../reconciler/reconciler.js';
import { RequestIntake } from './request-intake.js';
import { createRetryPolicy } from '../retry/retry-policy.js';
import { RunningRequests } from '../reconciler/running-requests.js';
import { Session } from './session.js';

/** Assembles the parts of a session (queue, policies, loop, intake). All their state ends with it. */
export function assembleSession<R>(
  options: ControllerOptions<R>,
  environment: ControllerEnvironment,
  requestKey: (request: R) => string,
): Session<R> {
  const { name, reconciler, retryPolicy = createRetryPolicy() } = options;
  const { settings, logger, metrics, measured, tracer, requestCounter, observer, clock, random } = environment;
  const { usePriorityQueue } = settings;
  const key = requestKey;
  const rateLimiter = guardedLimiter(options.rateLimiter ?? defaultRateLimiter(usePriorityQueue, { key, clock }), {
    fallback: defaultRateLimiter(true, { key, clock }),
    report: (error) => logger.error('the rate limiter failed, the default back-off counts', { error }),
  });
  const newQueue = options.newQueue ?? defaultQueueFactory(usePriorityQueue);
  const queue = adaptQueue(newQueue({ name, controller: name, key, rateLimiter, metrics, clock }));
  const running = new RunningRequests(clock);
  const policies = createPolicies(options, { clock, random, metrics: measured });
  const intake = new RequestIntake({ controller: name, observer, queue, running, requestKey, policies });
  const session: Session<R> = new Session({
    controller: name,
    queue,
    intake,
    running,
    logger,
    clock,
    random,
    syncTimeoutMs: settings.cacheSyncTimeoutMs,
    onClosed: () => observer?.ended?.(name),
    work: (item, signal) => loop.work(item, signal),
  });
  const judge = new FailureJudge<R>({
    onError: options.onError ?? hookOf(reconciler),
    retryPolicy,
    recoverPanic: settings.recoverPanic,
    running,
    metrics: measured,
    clock,
    fail: session.fail,
  });
  const loop = new ReconcileLoop<R>({
    controller: name,
    reconcile: functionOf(reconciler),
    queue,
    running,
    judge,
    policies: policies.around,
    rateLimiter,
    metrics: measured,
    tracer,
    requestCounter,
    observer,
    clock,
    requestKey,
    timeoutMs: settings.reconciliationTimeoutMs,
    maxAttempts: retryPolicy.maxAttempts ?? Infinity,
    makeLogger: (request, reconcileID) => logger.child({ ...fieldsOf(options, request, logger), reconcileID }),
    spanAttributes: (request) => ({ controller: name, request: requestKey(request) }),
    onTracerError: (error) => logger.error('the tracer failed, the run goes on without a span', { error }),
    fail: session.fail,
  });
  return session;
}

function functionOf<R>(reconciler: ControllerOptions<R>['reconciler']): ReconcileFunction<R> {
  return typeof reconciler === 'function' ? reconciler : (request, context) => reconciler.reconcile(request, context);
}

function hookOf<R>(reconciler: ControllerOptions<R>['reconciler']): ReconcileErrorHook<R> | undefined {
  return typeof reconciler === 'function' ? undefined : reconciler.onError?.bind(reconciler);
}

function fieldsOf<R>({ logFields }: ControllerOptions<R>, request: R, logger: Logger): LogFields {
  try {
    if (logFields !== undefined) return logFields(request);
  } catch (error) {
    logger.error('logFields failed, the default fields count', { error });
  }
  if (typeof request !== 'object' || request === null || !('name' in request)) return { request };
  const namespace = 'namespace' in request ? (request.namespace ?? '') : '';
  const { name } = request;
  return { object: { name, namespace }, namespace, name };
}
