import { isThenable, numberProblem, shownType } from '@kctl/options';

/** @throws TypeError naming the field */
export function requireFunction(what: string, field: string, value: unknown): void {
  if (typeof value !== 'function')
    throw new TypeError(`${what}: ${field} is not valid: expected a function, got ${shownType(value)}`);
}

/** @throws TypeError when it is not a handler, or `handlerConcurrency` is not valid */
export function requireHandler(what: string, handler: unknown, handlerConcurrency: unknown = 1): void {
  if (typeof handler !== 'function')
    throw new TypeError(
      `${what}: handler is not valid: expected a handler, such as enqueueRequestForObject(), got ${shownType(handler)}`,
    );
  const problem = numberProblem('handlerConcurrency', handlerConcurrency, { least: 1, integer: true });
  if (problem !== undefined) throw new TypeError(`${what}: ${problem}`);
}

/** @throws TypeError when it is not a list of functions */
export function requirePredicates(what: string, predicates: unknown): void {
  if (predicates === undefined) return;
  if (!Array.isArray(predicates))
    throw new TypeError(`${what}: predicates is not valid: expected a list of predicates`);
  predicates.forEach((predicate: unknown, index) => requireFunction(what, `predicates[${index}]`, predicate));
}

/**
 * Result of `isSame` of a polling source.
 *
 * @throws TypeError for a promise, which would count as true and drop each change; its rejection is ignored
 */
export function sameAnswer(answer: unknown): boolean {
  if (!isThenable(answer)) return Boolean(answer);
  Promise.resolve(answer).catch(() => undefined);
  throw new TypeError('isSame returned a promise: it is synchronous; await in poll instead');
}

/** @throws TypeError for what a provider returned in place of an informer */
export function requireInformer(what: string, informer: unknown): void {
  if (hasMethods(informer, ['addEventHandler'])) return;
  throw new TypeError(`${what} returned ${shownType(informer)}: expected an informer with addEventHandler`);
}

/** @throws TypeError for what an informer returned in place of the registration of a handler */
export function requireRegistration(registration: unknown): void {
  if (hasMethods(registration, ['waitForSync', 'remove'])) return;
  throw new TypeError(
    `addEventHandler of the informer returned ${shownType(registration)}: expected a registration with waitForSync and remove`,
  );
}

/** @throws TypeError for what `acquire` of a provider returned in place of a loan */
export function requireLoan(loan: unknown): void {
  if (typeof loan === 'object' && loan !== null && typeof Reflect.get(loan, Symbol.asyncDispose) === 'function') {
    requireInformer('acquire of the informers', Reflect.get(loan, 'informer'));
    return;
  }
  throw new TypeError(
    `acquire of the informers returned ${shownType(loan)}: expected { informer } with Symbol.asyncDispose`,
  );
}

function hasMethods(value: unknown, methods: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return methods.every((method) => typeof Reflect.get(value, method) === 'function');
}
