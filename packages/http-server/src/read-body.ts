import { clockOption, requireOptions, type OptionNames } from '@kctl/options';
import { BodyReceiver, type ReadBodyOptions } from './body-receiver.js';
import type { HttpRequest } from './http-server-options.js';

const optionNames: OptionNames<ReadBodyOptions> = { maxBytes: true, signal: true, clock: clockOption };

/**
 * Reads a whole body, empty or not. One that is too large is refused by its declared length before it is sent, and
 * otherwise at the first byte that is too many. No more than `maxBytes` and one chunk are held.
 *
 * @throws BodyError with `httpCode` 413 if the body is too large, 408 if less than 10 KiB of it arrive in 10 s, 400 if the
 * client hangs up within it or the signal is aborted
 */
export async function readBody(request: HttpRequest, options: ReadBodyOptions): Promise<Buffer> {
  requireOptions('readBody', options, optionNames);
  return await new BodyReceiver(request, options, () => undefined).body;
}
