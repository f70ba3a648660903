/** @type {readonly import('./defect-list.d.mts').Defect[]} */
export const defects = [
  {
    defect: 'a fenced client asks its fence neither before a write nor when this leaves',
    rules: ['two-leaders', 'write-after-release'],
    edits: [
      {
        file: 'packages/leader-election/src/fenced-client.ts',
        from: '    fence.check();\n    using link',
        to: '    using link',
      },
      {
        file: 'packages/leader-election/src/fenced-client.ts',
        from: 'signal: watchful(link, fence)',
        to: 'signal: link.signal',
      },
    ],
  },
  {
    defect: 'a write waits behind a stall and is sent without asking the fence again',
    rules: ['two-leaders', 'write-after-release'],
    edits: [
      {
        file: 'packages/leader-election/src/fenced-client.ts',
        from: 'signal: watchful(link, fence)',
        to: 'signal: link.signal',
      },
    ],
  },
  {
    defect: 'a term is open until its signal is aborted, whatever the clock says',
    rules: ['two-claim-to-lead', 'two-leaders'],
    edits: [
      {
        file: 'packages/leader-election/src/term.ts',
        from: '!this.#controller.signal.aborted && this.#limits.now() < this.openUntil',
        to: '!this.#controller.signal.aborted',
      },
    ],
  },
  {
    defect: 'the fence stays open beyond the lease',
    rules: ['two-claim-to-lead', 'two-leaders'],
    edits: [
      {
        file: 'packages/leader-election/src/term.ts',
        from: 'return this.#renewedAt + this.#limits.renewDeadlineMs;',
        to: 'return this.#renewedAt + 3 * this.#limits.leaseDurationMs;',
      },
    ],
  },
  {
    defect: 'a candidate takes a lease that is still valid',
    rules: ['lease-taken-early'],
    edits: [
      {
        file: 'packages/leader-election/src/contest.ts',
        from: '    if (this.validForMs > 0) return false;\n    await this.#write',
        to: '    await this.#write',
      },
    ],
  },
  {
    defect: 'a lease that another holds is renewed over',
    rules: ['lease-taken-early'],
    edits: [
      {
        file: 'packages/leader-election/src/contest.ts',
        from: 'if (!this.#isMine(record)) return new Error(describeHolder(record, lock.identity));',
        to: '',
      },
    ],
  },
  {
    defect: 'each look at an unchanged lease makes it valid for longer',
    rules: ['no-leader'],
    edits: [
      {
        file: 'packages/leader-election/src/contest.ts',
        from: 'found !== undefined && found.fingerprint !== this.#observed?.fingerprint',
        to: 'found !== undefined',
      },
    ],
  },
  {
    defect: 'an election request that hangs is waited for',
    rules: ['election-request-hangs', 'reconciles-without-lease', 'two-leaders', 'no-leader'],
    edits: [
      {
        file: 'packages/leader-election/src/leader-elector.ts',
        from: 'this.#attempt(signal, renewDeadlineMs / 2, (request)',
        to: 'this.#attempt(signal, 1e9, (request)',
      },
      {
        file: 'packages/runtime/src/leadership.ts',
        from: 'requestTimeoutMs: Math.max(1_000, half)',
        to: 'requestTimeoutMs: 0',
      },
    ],
  },
  {
    defect: 'the lease is released while work goes on',
    rules: ['released-with-work', 'write-after-release'],
    operator: 'workbench',
    edits: [
      {
        file: 'packages/manager/src/lifecycle.ts',
        from: '    await Promise.all(runnables.scopes.map((scope) => collect(scope.stop(until, reason))));\n',
        to: '    await this.#release(until);\n    await Promise.all(runnables.scopes.map((scope) => collect(scope.stop(until, reason))));\n',
      },
      {
        file: 'packages/manager/src/lifecycle.ts',
        from: 'const isWorkLeft = !runnables.isIdle;',
        to: 'const isWorkLeft = false;',
      },
      {
        file: 'packages/manager/src/leader-scope.ts',
        from: 'await (this.#isStopping ? this.#options.idle() : this.group.idle());',
        to: '',
      },
    ],
  },
  {
    defect: 'a silent watch is waited for without a deadline',
    edits: [
      {
        file: 'packages/informer/src/reflector/reflector.ts',
        from: 'if (!isInitial) watch.reader.idleMs = watch.liveIdleMs;',
        to: 'if (!isInitial) watch.reader.idleMs = 1e12;',
      },
    ],
  },
  {
    defect: 'a watch begins without a deadline for its first events',
    edits: [
      {
        file: 'packages/informer/src/reflector/reflector.ts',
        from: 'idleMs: listIdleMs, what: `the watch of',
        to: 'idleMs: 1e12, what: `the watch of',
      },
    ],
  },
  {
    defect: 'a request is waited for without a deadline',
    edits: [
      {
        file: 'packages/client-http/src/transport/transport.ts',
        from: "if (expect === 'object') return { headersMs: 0, idleMs: 0, totalMs: ms, errorMs: ms };",
        to: "if (expect === 'object') return { headersMs: 0, idleMs: 0, totalMs: 0, errorMs: 0 };",
      },
    ],
  },
  {
    defect: 'headers of a watch are waited for without a deadline',
    edits: [
      {
        file: 'packages/client-http/src/transport/exchange.ts',
        from: 'if (timeouts.headersMs > 0)',
        to: 'if (timeouts.headersMs > 1e9)',
      },
    ],
  },
  {
    defect: 'an expired resourceVersion is watched again and again',
    operator: 'workbench',
    edits: [
      {
        file: 'packages/informer/src/reflector/reflector-machine.ts',
        from: "return failure.reason === 'expired' || failure.reason === 'too-large-resource-version';",
        to: 'return false;',
      },
    ],
  },
  {
    defect: 'an event that arrives while its key is processed is lost',
    operator: 'workbench',
    edits: [
      {
        file: 'packages/workqueue/src/fifo-queue.ts',
        from: 'flags[slot] = state | dirty;\n      return;',
        to: 'return;',
      },
    ],
  },
  {
    defect: 'a reconcile that fails is not retried',
    edits: [
      {
        file: 'packages/controller/src/loop/reconcile-loop.ts',
        from: "return { afterMs, priority: run.priority, reason: 'retry' };",
        to: 'return undefined;',
      },
    ],
  },
  {
    defect: 'a reconcile that a lost lease cut short is forgotten',
    operator: 'obedient',
    replicas: 1,
    faults: 'partition',
    intensity: 15,
    edits: [
      {
        file: 'packages/controller/src/loop/reconcile-loop.ts',
        from: "return { afterMs: 0, priority: run.priority, reason: 'stopped' };",
        to: 'return undefined;',
      },
    ],
  },
  {
    defect: 'own writes are not read while the cache is behind',
    edits: [
      {
        file: 'packages/client-delegating/src/overlay/pending-writes.ts',
        from: 'return kindWrites === undefined || pending === undefined ? undefined : this.#openFor(kind, kindWrites, pending);',
        to: 'return undefined;',
      },
    ],
  },
  {
    defect: 'a list lacks own writes while the cache is behind',
    edits: [
      {
        file: 'packages/client-delegating/src/overlay/pending-writes.ts',
        from: '      if (write !== undefined) found.set(formatKey(write.key), write);\n',
        to: '',
      },
    ],
  },
  {
    defect: 'timers of a finished request stay pending',
    edits: [
      {
        file: 'packages/client-http/src/transport/exchange.ts',
        from: '    this.#totalTimer?.cancel();\n',
        to: '',
      },
    ],
  },
  {
    defect: 'requests that are under way when a client is disposed go on',
    edits: [
      {
        file: 'packages/runtime/src/create-manager.ts',
        from: 'await Promise.all([liveClient[Symbol.asyncDispose](), leadership?.dispose()]);',
        to: '',
      },
    ],
  },
  {
    defect: 'a manager is measured on the clock of the system',
    edits: [
      {
        file: 'packages/runtime/src/create-manager.ts',
        from: '{ defaultMetrics: isReal, eventLoopLag: isReal }',
        to: '{ defaultMetrics: true, eventLoopLag: true }',
      },
    ],
  },
  {
    defect: 'a worker is never free again',
    edits: [
      {
        file: 'packages/controller/src/queue/worker-pool.ts',
        from: '    this.#workers.active--;\n    this.#workers.next();',
        to: '    this.#workers.next();',
      },
    ],
  },
  {
    defect: 'events of a relist are not told',
    edits: [
      {
        file: 'packages/informer/src/reflector/reflector.ts',
        from: 'const refusal = await intake.commit(effect.resourceVersion, slicer, isEnded);',
        to: "const refusal = this.#bookmarks === 'seen' ? undefined : await intake.commit(effect.resourceVersion, slicer, isEnded);",
      },
    ],
  },
  {
    defect: 'an election does not stop with its manager',
    edits: [
      {
        file: 'packages/manager/src/leader-scope.ts',
        from: "this.#release.abort(new DOMException('the manager has stopped', 'AbortError'));",
        to: '',
      },
    ],
  },
  {
    defect: 'work is not stopped when its lease is lost',
    edits: [
      {
        file: 'packages/manager/src/leader-scope.ts',
        from: 'const stragglers = await this.group.pause(deadline.signal, lost);',
        to: 'const stragglers: readonly unknown[] = [];',
      },
    ],
  },
  {
    defect: 'a controller processes a key on two workers',
    operator: 'workbench',
    edits: [
      {
        file: 'packages/workqueue/src/fifo-queue.ts',
        from: 'if ((state & dirty) !== 0) {',
        to: 'if ((state & dirty) < 0) {',
      },
    ],
  },
  {
    defect: 'a requeueAfterMs of zero or less loses the run',
    operator: 'workbench',
    edits: [
      {
        file: 'packages/controller/src/retry/outcome.ts',
        from: "return requeueAfterMs !== undefined || backoff === true ? { type: 'backoff', priority } : done;",
        to: "return backoff === true ? { type: 'backoff', priority } : done;",
      },
    ],
  },
  {
    defect: 'the lease is given back although work did not stop',
    rules: ['released-with-work'],
    operator: 'workbench',
    edits: [
      {
        file: 'packages/manager/src/lifecycle.ts',
        from: 'const isWorkLeft = !runnables.isIdle;',
        to: 'const isWorkLeft = false;',
      },
      {
        file: 'packages/manager/src/leader-scope.ts',
        from: 'await (this.#isStopping ? this.#options.idle() : this.group.idle());',
        to: '',
      },
    ],
  },
  {
    defect: 'isLeader is true straight after a stall',
    rules: ['two-claim-to-lead'],
    edits: [
      {
        file: 'packages/manager/src/leader-scope.ts',
        from: 'return this.#isLeading && this.#elector?.isLeader !== false;',
        to: 'return this.#isLeading;',
      },
    ],
  },
  {
    defect: 'events that a key got while no lease was held are forgotten',
    operator: 'workbench',
    edits: [
      {
        file: 'packages/workqueue/src/priority/keyed-priority-queue.ts',
        from: '    if (state === 0) this.table.use();\n    if (options.reason',
        to: '    if (state === 0) this.table.use();\n    if ((state & processing) !== 0) return;\n    if (options.reason',
      },
    ],
  },
  {
    defect: 'a key is ready while it is processed',
    operator: 'workbench',
    edits: [
      {
        file: 'packages/workqueue/src/priority/keyed-priority-queue.ts',
        from: 'this.#levels.push(slot, priority, this.#isParked(slot));\n    this.wake();',
        to: 'this.#levels.push(slot, priority, false);\n    this.wake();',
      },
    ],
  },
  {
    defect: 'a key that is done is not released',
    edits: [
      {
        file: 'packages/controller/src/loop/reconcile-loop.ts',
        from: '      queue.done(request);\n',
        to: '',
      },
    ],
  },
  {
    defect: 'a retry waits for ever',
    operator: 'workbench',
    edits: [
      {
        file: 'packages/workqueue/src/priority/keyed-priority-queue.ts',
        from: '      this.#enter(slot, delayed);\n      this.#line.push(slot, delayMs);',
        to: '      this.#enter(slot, delayed);\n      this.#line.push(slot, delayMs * 1e6);',
      },
    ],
  },
  {
    defect: 'an answer that comes after a stall wins the lease',
    rules: ['two-claim-to-lead', 'two-leaders'],
    edits: [
      {
        file: 'packages/leader-election/src/leader-elector.ts',
        from: 'if (isHeld && this.#now() < sentAt + renewDeadlineMs) return sentAt;',
        to: 'if (isHeld) return this.#now();',
      },
    ],
  },
  {
    defect: 'a leader scope settles before its work has ended',
    operator: 'workbench',
    replicas: 2,
    faults: 'partition',
    intensity: 12,
    rules: ['reconciles-without-lease', 'released-with-work', 'one-reconcile-per-key'],
    edits: [
      {
        file: 'packages/manager/src/leader-scope.ts',
        from: '    if (stragglers.length > 0) fail(lost);\n',
        to: '    void stragglers;\n',
      },
      {
        file: 'packages/manager/src/leader-scope.ts',
        from: 'await (this.#isStopping ? this.#options.idle() : this.group.idle());',
        to: '',
      },
    ],
  },
  {
    defect: 'a stop leaves a sleep pending',
    edits: [
      {
        file: 'packages/wait/src/sleep.ts',
        from: '    const onAbort = (): void => {\n      timer.cancel();',
        to: '    const onAbort = (): void => {',
      },
    ],
  },
  {
    defect: 'a candidate that is refused asks again at once',
    edits: [
      {
        file: 'packages/leader-election/src/leader-elector.ts',
        from: 'await this.#pause(validForMs > 0 ? Math.min(pollMs, validForMs) : pollMs, signal);',
        to: 'await this.#pause(1, signal);',
      },
    ],
  },

  {
    defect: 'a watch that brings nothing new is opened again at once',
    edits: [
      {
        file: 'packages/informer/src/reflector/reflector-machine.ts',
        from: 'if (!isShort) return reopenWatch(next, config);',
        to: 'if (input.openMs >= 0) return reopenWatch(next, config);',
      },
    ],
  },
  {
    defect: 'retries of an informer do not back off',
    edits: [
      {
        file: 'packages/informer/src/reflector/reflector-machine.ts',
        from: 'const delayMs = Math.min(config.backoff.initialMs * config.backoff.factor ** step, config.backoff.maxMs);',
        to: 'const delayMs = Math.min(step, 1);',
      },
    ],
  },
  {
    defect: 'callbacks of one handler overlap',
    edits: [
      {
        file: 'packages/delivery/src/delivery.ts',
        from: '      this.#running.size < this.#lanes &&\n      this.#turn.isFreeFor(this)',
        to: "      this.#options.name !== ''",
      },
    ],
  },
  {
    defect: 'a handler that joins is given changes before what is stored',
    operator: 'workbench',
    rules: ['illegal-history'],
    edits: [
      {
        file: 'packages/delivery/src/delivery.ts',
        from: 'if (this.#replay !== undefined) return this.#takeOf(this.#replay);',
        to: 'if (this.#replay !== undefined && !this.#waiting.isReady) return this.#takeOf(this.#replay);',
      },
    ],
  },
  {
    defect: 'a handler that was removed is called',
    rules: ['illegal-history'],
    edits: [
      {
        file: 'packages/informer/src/handlers/handler-place.ts',
        from: '    this.#delivery.end();\n    this.#waiters',
        to: '    this.#waiters',
      },
    ],
  },
  {
    defect: 'objects that a relist lacks are kept',
    operator: 'workbench',
    edits: [
      {
        file: 'packages/informer/src/reflector/intake.ts',
        from: 'const isGone = present === undefined || isAnother(old, present);',
        to: 'const isGone = present !== undefined && isAnother(old, present);',
      },
    ],
  },
  {
    defect: 'a relist reports what it adds as an update',
    edits: [
      {
        file: 'packages/informer/src/reflector/intake.ts',
        from: "yield new Change('add', stored, undefined, isInInitialList ? initialFlags : undefined);",
        to: "yield new Change('update', stored, stored);",
      },
    ],
  },
  {
    defect: 'a watch that begins earlier takes the store back',
    operator: 'workbench',
    edits: [
      {
        file: 'packages/informer/src/reflector/intake.ts',
        from: "return compareResourceVersions(old.resourceVersion, this.#resourceVersion) !== 'newer';",
        to: 'return false;',
      },
    ],
  },
  {
    defect: 'an expired version is listed again and again',
    operator: 'workbench',
    edits: [
      {
        file: 'packages/informer/src/reflector/reflector-machine.ts',
        from: "    return list({ ...memory, isUnavailable: true }, config, []);\n  return wait(memory, config, { next: 'sync', failure, now: input.now, report: true });",
        to: "    return list(memory, config, []);\n  return wait(memory, config, { next: 'sync', failure, now: input.now, report: true });",
      },
    ],
  },
  {
    defect: 'changes that wait for a handler merge to nothing',
    operator: 'workbench',
    rules: ['illegal-history'],
    edits: [
      {
        file: 'packages/delivery/src/coalesce.ts',
        from: "      waiting.push(type === 'update' ? traits.mergeUpdate(last, event) : event);",
        to: "      if (type === 'update') waiting.push(traits.mergeUpdate(last, event));",
      },
    ],
  },
  {
    defect: 'an add and a later delete of a busy handler are both dropped, the object of another life too',
    edits: [
      {
        file: 'packages/delivery/src/coalesce.ts',
        from: "      if (type === 'delete') waiting.pop();\n      waiting.push(event);",
        to: "      if (type === 'delete') waiting.pop();\n      else waiting.splice(0);\n      waiting.push(event);",
      },
    ],
  },
  {
    defect: 'an older answer replaces a newer own write',
    operator: 'workbench',
    edits: [
      {
        file: 'packages/client-delegating/src/writes/own-write.ts',
        from: '  return !isNewer(before, at);\n}\n\n/** One store',
        to: '  return true;\n}\n\n/** One store',
      },
    ],
  },
  {
    defect: 'own writes are taken for seen as soon as they are made',
    edits: [
      {
        file: 'packages/client-delegating/src/writes/own-write.ts',
        from: '    return isPast(write, storeVersion) || (cached !== undefined && isAtLeast(versionOf(cached), version));',
        to: "    return storeVersion !== '' || cached !== undefined;",
      },
    ],
  },
  {
    defect: 'a list by an index lacks own creates',
    operator: 'workbench',
    edits: [
      {
        file: 'packages/client-delegating/src/cached-reader.ts',
        from: 'return held !== undefined && matches(held) ? held : undefined;',
        to: 'return held !== undefined && options.fieldSelector === undefined && matches(held) ? held : undefined;',
      },
    ],
  },
  {
    defect: 'what was deleted by oneself is still read',
    operator: 'workbench',
    edits: [
      {
        file: 'packages/client-delegating/src/overlay/write-recorder.ts',
        from: '    this.#record(kind, outcomeOfDelete(kind, { key, result: asAnswer(result), known }));\n',
        to: '',
      },
    ],
  },
  {
    defect: 'a list that fails once is not repeated',
    edits: [
      {
        file: 'packages/informer/src/reflector/reflector-machine.ts',
        from: "  return wait(memory, config, { next: 'sync', failure, now: input.now, report: true });\n}\n\n/** The initial events",
        to: "  return { state: { phase: 'listing', memory, step }, effects: [] };\n}\n\n/** The initial events",
      },
    ],
  },
  {
    defect: 'a key that is added while it is processed is not handed out again',
    operator: 'changing',
    edits: [
      {
        file: 'packages/workqueue/src/priority/keyed-priority-queue.ts',
        from: '    if (delayMs > 0) this.metrics?.retried();\n',
        to: '    if ((state & processing) !== 0 && delayMs <= 0) return;\n',
      },
    ],
  },
  {
    defect: 'an event does not replace a planned requeue',
    operator: 'changing',
    edits: [
      {
        file: 'packages/workqueue/src/priority/keyed-priority-queue.ts',
        from: '      if (isWaiting) this.#line.remove(slot);\n      this.#becomeReady(slot);',
        to: '      if (!isWaiting) this.#becomeReady(slot);',
      },
    ],
  },
  {
    defect: 'an earlier addAfter does not shorten a later one',
    operator: 'changing',
    rules: ['late-key', 'convergence'],
    edits: [
      {
        file: 'packages/workqueue/src/delaying/delay-line.ts',
        from: '    if (time < this.#heap.timeOf(slot)) this.#heap.move(slot, time);\n',
        to: '',
      },
    ],
  },
  {
    defect: 'a DeltaFIFO merges a deletion and the addition that follows',
    operator: 'changing',
    edits: [
      {
        file: 'packages/informer/src/fifo/delta.ts',
        from: "  if (newer?.type !== 'Deleted' ||",
        to: "  if (newer?.type === 'Added' && older?.type === 'Deleted') deltas.splice(-2, 1);\n  if (newer?.type !== 'Deleted' ||",
      },
    ],
  },
  {
    defect: 'an object of the same name is taken for the one that it replaces',
    operator: 'changing',
    rules: ['illegal-history'],
    edits: [
      {
        file: 'packages/informer/src/reflector/intake.ts',
        from: '  if (old instanceof LazyObject && next instanceof LazyObject) return old.isAnotherThan(next);\n',
        to: "  if (next.uid !== '') return false;\n",
      },
    ],
  },
  {
    defect: 'a delete is sent without its preconditions',
    operator: 'changing',
    edits: [
      {
        file: 'packages/client-http/src/option-parts.ts',
        from: "  preconditions: 'sent',",
        to: "  preconditions: 'answered',",
      },
    ],
  },
  {
    defect: 'a patch does not ask the fence',
    operator: 'changing',
    rules: ['two-leaders', 'write-after-release'],
    edits: [
      {
        file: 'packages/leader-election/src/fenced-client.ts',
        from: '    patch: (kind, key, patch, options) => guarded(options, (own) => client.patch(kind, key, patch, own)),',
        to: '    patch: (kind, key, patch, options) => client.patch(kind, key, patch, options),',
      },
    ],
  },
  {
    defect: 'a term is measured on the wall clock',
    operator: 'changing',
    rules: ['two-claim-to-lead', 'two-leaders', 'lease-taken-early', 'reconciles-without-lease'],
    edits: [
      {
        file: 'packages/leader-election/src/leader-elector.ts',
        from: 'return this.#options.clock.monotonicNow();',
        to: 'return this.#options.clock.now();',
      },
    ],
  },
  {
    defect: 'what the server answered replaces a newer own write',
    operator: 'changing',
    rules: ['reads-behind-own-writes'],
    faults: 'cut-after,server-error,delay,half-open,watch-hangs',
    intensity: 20,
    edits: [
      {
        file: 'packages/client-delegating/src/overlay/pending-writes.ts',
        from: '    if (present === undefined || present === open) this.#put',
        to: '    if (present !== null) this.#put',
      },
    ],
  },
  {
    defect: 'a limit that is lowered does not hold for what starts later',
    operator: 'changing',
    rules: ['above-its-limit'],
    edits: [
      {
        file: 'packages/controller/src/queue/worker-pool.ts',
        from: '    this.#workers.concurrency = value;\n    this.#asRun',
        to: '    this.#workers.concurrency = Math.max(value, this.#workers.concurrency);\n    this.#asRun',
      },
    ],
  },
  {
    defect: 'a controller that is paused begins reconciles',
    operator: 'changing',
    rules: ['runs-while-paused'],
    edits: [
      {
        file: 'packages/controller/src/create-controller.ts',
        from: 'this.#isPaused ? 0 : this.maxConcurrentReconciles',
        to: 'this.maxConcurrentReconciles',
      },
    ],
  },
  {
    defect: 'a teardown deletes the children of all waves at once',
    operator: 'children',
    rules: ['wave-order'],
    edits: [
      {
        file: 'packages/dependents/src/run/teardown.ts',
        from: 'of found.filter((each) => each.wave === highest)) {',
        to: 'of found) {',
      },
    ],
  },
  {
    defect: 'children are reported as ready whatever their state',
    operator: 'children',
    rules: ['ready-too-early'],
    edits: [
      {
        file: 'packages/dependents/src/status/conditions.ts',
        from: 'return results.every(([, { state }]) => settled.has(state));',
        to: 'return results.length > 0;',
      },
    ],
  },
  {
    defect: 'a child is created by an apply that takes what appeared meanwhile',
    operator: 'children',
    rules: ['foreign-object'],
    edits: [
      {
        file: 'packages/dependents/src/run/create-object.ts',
        from: 'withMetadata(first, { resourceVersion: neverStored })',
        to: 'first',
      },
    ],
  },
];
