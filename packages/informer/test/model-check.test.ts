import { describe, expect, it } from 'vitest';
import { playHistory } from './model/history.js';

/** KCTL_HISTORIES=10000 is the full check; KCTL_SEED replays one history. */
const histories = Number(process.env['KCTL_HISTORIES'] ?? 250);
const only = process.env['KCTL_SEED'];

describe('random server histories, faults and handlers', () => {
  it(`end with the store equal to the server and legal histories, ${only === undefined ? `${histories} times` : `seed ${only}`}`, {
    timeout: 1_200_000,
  }, async () => {
    const violations: string[] = [];
    const seeds = only === undefined ? Array.from({ length: histories }, (_, index) => index + 1) : [Number(only)];
    for (const seed of seeds) {
      violations.push(...(await playHistory(seed)));
      if (violations.length > 20) break;
    }
    expect(violations).toEqual([]);
  });
});
