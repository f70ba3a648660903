// Parts that a user supplies, of which each method returns, throws or rejects with what its type does not allow; and what
// reaches the user then.
import type { Logger } from '@kctl/telemetry';
import { FakeClock } from '@kctl/wait/testing';
import { isRaw } from '../raw-errors.js';

/** Where a scenario plays. */
export interface Stage {
  readonly clock: FakeClock;
  /** Errors in its lines are found. */
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Adds what reaches the user. */
  found(error: unknown): void;
  /** Awaits a call and adds what it fails with; one that does not settle in many turns of the event loop counts as hanging. */
  attempt(call: () => unknown): Promise<unknown>;
  /** Ends what runs. */
  end(): void;
}

/** A part with its methods as they should be, and what is done with it. */
export interface Scenario {
  readonly name: string;
  readonly part: object;
  /** Methods that are left as they are. */
  readonly except?: readonly string[];
  /** Answers that the part does not give. @default none */
  readonly without?: RegExp;
  /** How errors name the part; each wrong answer, except those that are `fine`, leads to such an error. @default any error, or none */
  readonly named?: RegExp;
  /** Answers that the part may give. */
  readonly fine?: RegExp;
  play(stage: Stage, part: never): Promise<void> | void;
}

const foreign = new Error('foreign');
const throwing = (): never => {
  throw foreign;
};
/** Every field that code may look at throws when it is read. */
const withThrowingGetters = (): object =>
  Object.defineProperties(
    {},
    Object.fromEntries(
      ['metadata', 'items', 'status', 'body', 'headers', 'apiVersion', 'kind', 'cert', 'key', 'cancel', 'get'].map(
        (name) => [name, { get: throwing, enumerable: true }],
      ),
    ),
  );
const cycle = (): object => {
  const object: Record<string, unknown> = { metadata: {}, items: [] };
  return Object.assign(object, { spec: object });
};
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
/** What code without types may throw. */
const nothing = undefined as unknown as Error;
/** What methods return, or do. */
export const wrongAnswers: readonly (readonly [string, () => unknown])[] = [
  ['undefined', () => undefined],
  ['null', () => null],
  ['a number', () => 5],
  ['NaN', () => Number.NaN],
  ['Infinity', () => Infinity],
  ['a number that is too large for a date', () => 9e15],
  ['a number below 0', () => -1],
  ['a bigint', () => 5n],
  ['a string', () => 'x'],
  ['a symbol', () => Symbol('x')],
  ['an object', () => ({})],
  ['an object of nulls', () => ({ metadata: null, items: null, status: null, body: null, headers: null })],
  ['an object whose getters throw', withThrowingGetters],
  ['an object that cannot be read', revoked],
  ['an object that holds itself', cycle],
  ['a list', () => []],
  ['a list of null', () => [null]],
  ['a function', () => () => undefined],
  ['a promise of undefined', () => Promise.resolve(undefined)],
  ['a promise of null', () => Promise.resolve(null)],
  ['a promise of a number', () => Promise.resolve(5)],
  ['a promise of an object', () => Promise.resolve({})],
  ['a promise of an object of nulls', () => Promise.resolve({ metadata: null, items: null, body: null })],
  ['a promise of a list of null', () => Promise.resolve([null])],
  ['a promise of items of null', () => Promise.resolve({ metadata: {}, items: [null] })],
  ['a promise of an object whose getters throw', () => Promise.resolve(withThrowingGetters())],
  ['a rejection', () => Promise.reject(foreign)],
  ['a rejection with undefined', () => Promise.reject(nothing)],
  [
    'what it throws',
    () => {
      throw foreign;
    },
  ],
  [
    'undefined that it throws',
    () => {
      throw nothing;
    },
  ],
];

/** The methods of a part, those that it inherits included. */
export function methodsOf(part: object): string[] {
  const names = new Set<string>();
  for (
    let at: object | null = part;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object | null
  )
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  return [...names].filter((name) => name !== 'constructor' && typeof Reflect.get(part, name) === 'function');
}

/** The part with another method, everything else as it is. */
export function withMethod(part: object, method: string, call: () => unknown): object {
  return new Proxy(part, {
    get: (target, name) => {
      if (name === method) return call;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

/** Turns of the event loop in which a call settles, and a whole scenario. */
const turnsOfCall = 400;
const turnsOfScenario = 20_000;
const hangs = Symbol('hangs');

async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

async function orHanging(work: PromiseLike<unknown>, turns: number): Promise<unknown> {
  const state = { isSettled: false };
  const mark = (): void => {
    state.isSettled = true;
  };
  Promise.resolve(work).then(mark, mark);
  for (let count = 0; count < turns && !state.isSettled; count++) await turn();
  return state.isSettled ? await work : hangs;
}

/** Errors among the fields of a line: of each depth. */
function errorsIn(value: unknown, depth = 0): unknown[] {
  if (value instanceof Error) return [value];
  if (depth > 3 || typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((each) => errorsIn(each, depth + 1));
}

function chainOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let link = error; link instanceof Error && chain.length < 8; link = link.cause) {
    chain.push(link);
    if (link instanceof AggregateError) chain.push(...link.errors.flatMap((each: unknown) => chainOf(each)));
  }
  return chain;
}

/** What reaches the user when each method of the part of a scenario answers wrongly, one after the other. */
export async function findingsOf(scenario: Scenario): Promise<readonly string[]> {
  const findings = new Map<string, string>();
  for (const error of await reached(scenario, scenario.part))
    if (!isExpected(error)) findings.set(String(error), `as it should be: ${String(error)}`);
  for (const method of methodsOf(scenario.part)) {
    if (scenario.except?.includes(method) === true) continue;
    for (const [answer, call] of wrongAnswers) {
      if (scenario.without?.test(answer) === true) continue;
      const errors = await reached(scenario, withMethod(scenario.part, method, call));
      for (const error of errors) {
        const problem = problemOf(error);
        if (problem !== undefined) findings.set(problem, `${method} returns ${answer}: ${problem}`);
      }
      const { named, fine } = scenario;
      if (named === undefined || fine?.test(answer) === true || errors.some((error) => named.test(textOf(error))))
        continue;
      findings.set(
        `${method} ${answer}`,
        `${method} returns ${answer}: no error names it, but ${errors.map(textOf).join(', ')}`,
      );
    }
  }
  return [...findings.values()];
}

function textOf(error: unknown): string {
  return error === hangs
    ? 'it hangs'
    : chainOf(error)
        .map((link) => (link instanceof Error ? link.message : ''))
        .join(': ');
}

/** What a scenario leads to with the right part. */
function isExpected(error: unknown): boolean {
  return (
    error instanceof Error &&
    /the reconcile failed|the test has ended|could not be renewed|leader election lost|operation was aborted|the response is|has no kind|expected by the scenario/.test(
      error.message,
    )
  );
}

function problemOf(error: unknown): string | undefined {
  if (error === hangs) return 'it hangs';
  const link = chainOf(error).find((each) => isRaw(each));
  if (!(link instanceof Error)) return undefined;
  const [, place = ''] = /packages\/(\S+:\d+):\d+/.exec(link.stack ?? '') ?? [];
  return `${link.message} at ${place}`;
}

async function reached(scenario: Scenario, part: object): Promise<unknown[]> {
  const errors: unknown[] = [];
  const stop = new AbortController();
  const clock = new FakeClock();
  const write = (_message: string, fields?: object): void => void errors.push(...errorsIn(fields));
  const logger: Logger = {
    ...{ isEnabled: () => true, trace: write, debug: write, info: write, warn: write, error: write },
    child: () => logger,
  };
  const found = (error: unknown): void => void errors.push(error);
  const attempt: Stage['attempt'] = async (call) => {
    try {
      const result = await orHanging(Promise.resolve(call()), turnsOfCall);
      if (result === hangs) found(hangs);
      return result;
    } catch (error) {
      found(error);
      return undefined;
    }
  };
  const listeners = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', found);
  try {
    const end = (): void => stop.abort(new Error('the test has ended'));
    const played = Promise.resolve(
      scenario.play({ clock, logger, signal: stop.signal, found, attempt, end }, part as never),
    );
    if ((await orHanging(played, turnsOfScenario)) === hangs) found(hangs);
    end();
    for (let count = 0; count < 3; count++) await turn();
  } catch (error) {
    found(error);
  } finally {
    process.removeAllListeners('unhandledRejection');
    for (const listener of listeners) process.on('unhandledRejection', listener);
  }
  return errors;
}
