import { numberProblem, requireOptions, shownValue, type OptionNames } from '@kctl/wait';
import type { EventHandlerOptions } from './event.js';

const optionNames: OptionNames<EventHandlerOptions> = {
  delivery: true,
  resyncMs: true,
  after: true,
  name: true,
  timeoutMs: true,
  turn: true,
};
const deliveries: readonly unknown[] = [undefined, 'latest', 'every'];

/** For `addEventHandler` of every informer. @throws TypeError naming the option that is not valid, or not known */
export function requireHandlerOptions(options: EventHandlerOptions): void {
  requireOptions('addEventHandler', options, optionNames);
  const { delivery, resyncMs = 0, timeoutMs = 0 } = options;
  const problem =
    (deliveries.includes(delivery)
      ? undefined
      : `delivery ${shownValue(delivery)} is not valid: expected "latest" or "every"`) ??
    numberProblem('resyncMs', resyncMs) ??
    numberProblem('timeoutMs', timeoutMs, { orInfinity: true });
  if (problem !== undefined) throw new TypeError(`addEventHandler: ${problem}`);
}
