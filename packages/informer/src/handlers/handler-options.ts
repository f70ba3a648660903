import type { KubeObject } from '@kctl/apimachinery';
import {
  numberProblem,
  type OptionNames,
  optionProblems,
  optionWithMethods,
  requireNoSimilarName,
  requireOptions,
  shownValue,
  textOption,
} from '@kctl/options';
import { requireThat } from '../required.js';
import type { EventFilters, EventHandlerOptions } from './event.js';

const optionNames: OptionNames<EventHandlerOptions<never>> = {
  delivery: true,
  resyncMs: true,
  after: optionWithMethods(['then'], 'a promise'),
  name: textOption,
  timeoutMs: true,
  turn: optionWithMethods(['isFreeFor'], 'a Turn, such as new Turn() of @kctl/delivery'),
  filters: true,
};
const filterNames: OptionNames<EventFilters<never>> = { add: true, update: true, delete: true };
const deliveries: readonly unknown[] = [undefined, 'latest', 'every'];

const callbacks = ['onEvent', 'onAdd', 'onUpdate', 'onDelete'] as const;

/**
 * @throws TypeError for a value that cannot be called with events, before it is registered, because each event would be
 * reported as failed
 */
export function requireHandler(where: string, handler: unknown): void {
  requireThat(typeof where === 'string', 'requireHandler: where', { value: where, expected: 'the name of a call' });
  const isObject = typeof handler === 'object' && handler !== null;
  requireThat(isObject, `${where}: handler`, {
    value: handler,
    expected: 'an object, such as { onEvent: (event) => … }',
  });
  if (isObject) {
    requireNoSimilarName(where, handler, callbacks, 'the handler');
    requireSomeCallback(where, handler);
  }
  for (const name of callbacks) {
    const value: unknown = isObject ? Reflect.get(handler, name) : undefined;
    requireThat(value === undefined || typeof value === 'function', `${where}: ${name} of the handler`, {
      value,
      expected: 'a function',
    });
  }
}

/** An object literal with other members only is a mistake: none of them would be called. */
function requireSomeCallback(where: string, handler: object): void {
  const given = Object.keys(handler);
  const isLiteral = Reflect.getPrototypeOf(handler) === Object.prototype;
  if (!isLiteral || given.length === 0 || callbacks.some((name) => name in handler)) return;
  throw new TypeError(
    `${where}: the handler has none of ${callbacks.join(', ')}, but ${given.join(', ')}: it would never be called`,
  );
}

/** For `addEventHandler` of every informer. @throws TypeError naming the option that is not valid, or not known */
export function requireHandlerOptions<T extends KubeObject>(options: EventHandlerOptions<T>): void {
  requireOptions('addEventHandler', options, optionNames);
  const { delivery, resyncMs = 0, timeoutMs = 0, filters } = options;
  const problem =
    (deliveries.includes(delivery)
      ? undefined
      : `delivery ${shownValue(delivery)} is not valid: expected "latest" or "every"`) ??
    optionProblems(filters, filterNames, 'filters')[0] ??
    Object.entries(filters ?? {})
      .filter(([, filter]) => filter !== undefined && typeof filter !== 'function')
      .map(
        ([type, filter]) => `filters.${type} ${shownValue(filter)} is not valid: expected a function of the event`,
      )[0] ??
    numberProblem('resyncMs', resyncMs) ??
    numberProblem('timeoutMs', timeoutMs, { orInfinity: true });
  if (problem !== undefined) throw new TypeError(`addEventHandler: ${problem}`);
}
