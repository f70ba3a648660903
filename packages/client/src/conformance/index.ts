/**
 * What every implementation of the client contracts must do, as a vitest suite: for clients over HTTP, for clients in
 * memory, and for wrappers around either.
 *
 * @packageDocumentation
 */
import { afterAll, beforeAll, describe } from 'vitest';
import type { WatchingClient } from '../client.js';
import { applyCases } from './apply-cases.js';
import { uniqueName } from './context.js';
import type { ClientConformanceOptions, ConformanceContext, ConformanceFeature } from './context.js';
import { customResourceCases } from './custom-resource-cases.js';
import { helperCases } from './helper-cases.js';
import { keyCases } from './key-cases.js';
import { readCases } from './read-cases.js';
import { subresourceCases } from './subresource-cases.js';
import { watchCases } from './watch-cases.js';
import { writeCases } from './write-cases.js';

export type { ClientConformanceOptions, ConformanceFeature } from './context.js';

/** Registers the suite with vitest. */
export function clientConformance(name: string, options: ClientConformanceOptions): void {
  describe(`client conformance: ${name}`, () => {
    let client: WatchingClient | undefined;
    const context: ConformanceContext = {
      get client() {
        if (client === undefined) throw new Error('the client is created before the first case');
        return client;
      },
      namespace: options.namespace ?? 'default',
      name: uniqueName,
    };
    beforeAll(async () => {
      client = await options.create();
    });
    afterAll(async () => {
      if (client !== undefined) await options.dispose?.(client);
    });
    const reasons: Partial<Record<ConformanceFeature, string>> = options.skip ?? {};
    const groups = [
      readCases,
      keyCases,
      writeCases,
      subresourceCases,
      customResourceCases,
      watchCases,
      applyCases,
      helperCases,
    ];
    for (const cases of groups) cases(context, reasons);
  });
}
