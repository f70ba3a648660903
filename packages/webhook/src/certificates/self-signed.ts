import { requireOptionsObject } from '@kctl/client/internal';
import { listOption, numberOption, optionWithMethods, requireOptions, textOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { systemClock } from '@kctl/wait';
import type { Clock } from '@kctl/wait';
import { wallTime } from '@kctl/wait/internal';
import { signed, skewMs } from './issue.js';
import type { PemPair } from './issue.js';

/** Options of {@link createSelfSignedCertificate}. */
export interface SelfSignedOptions {
  /** @default ['localhost'] */
  readonly dnsNames?: readonly string[];
  /** @default ['127.0.0.1'] */
  readonly ipAddresses?: readonly string[];
  /** How long it is valid, in ms. @default ten years */
  readonly validityMs?: number;
  /** Whose wall-clock time counts. @default systemClock */
  readonly clock?: Pick<Clock, 'now'>;
}

const optionNames: OptionNames<SelfSignedOptions> = {
  dnsNames: listOption('a list of DNS names', textOption),
  ipAddresses: listOption('a list of IP addresses', textOption),
  validityMs: numberOption({ above: 0 }),
  clock: optionWithMethods(['now'], 'a Clock, such as systemClock'),
};

const tenYearsMs = 3_652 * 86_400_000;

/**
 * Returns a new key and a certificate for it, PEM, without an authority, so that it encrypts and proves nothing. For
 * tests, development and endpoints whose clients do not verify; `createSelfManagedCertificates` makes those that an API
 * server trusts. Validity begins an hour ago, for clocks that disagree.
 */
export async function createSelfSignedCertificate(options: SelfSignedOptions = {}): Promise<PemPair> {
  requireOptionsObject('createSelfSignedCertificate', options);
  requireOptions('createSelfSignedCertificate', options, optionNames);
  const {
    dnsNames = ['localhost'],
    ipAddresses = ['127.0.0.1'],
    validityMs = tenYearsMs,
    clock = systemClock,
  } = options;
  const now = wallTime(clock);
  return await signed({
    commonName: dnsNames[0] ?? ipAddresses[0] ?? 'localhost',
    validFrom: now - skewMs,
    validTo: now + validityMs,
    purpose: 'server',
    dnsNames,
    ipAddresses,
  });
}
