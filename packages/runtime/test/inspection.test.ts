import { get } from 'node:http';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import type { HttpHandler } from '@kctl/manager';
import { noopLogger, type Logger } from '@kctl/telemetry';
import { createEnvironment, type TestEnvironment } from '@kctl/testing';
import { waitUntil } from '@kctl/wait';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { controllerManagedBy, createManager } from '../src/index.js';

let environment: TestEnvironment;
beforeAll(async () => {
  environment = await createEnvironment({ server: 'embedded' });
});
afterAll(() => environment.stop());

describe('createManager({ inspection })', () => {
  it('shows why an object was reconciled, what the run wrote, and what that led to', async () => {
    const { connection } = environment;
    const ports: (number | undefined)[] = [];
    const inspected = { port: 0, onListening: (address?: { port: number }) => void ports.push(address?.port) };
    const manager = await createManager({ connection, inspection: inspected, logger: noopLogger });
    const stop = new AbortController();
    controllerManagedBy(manager)
      .named('copies')
      .for(ConfigMap)
      .complete(async (key) => {
        const found = await manager.client.get(ConfigMap, key);
        if (found.data?.['copy'] !== undefined) return;
        await manager.client.patch(ConfigMap, key, { type: 'merge', body: { data: { copy: 'hunter2-planted' } } });
      });
    const running = manager.run(stop.signal);
    await environment.client.create(ConfigMap, { metadata: { namespace: 'default', name: 'settings' } });
    const key = 'default/settings';
    await waitUntil(() => (manager.inspection?.timeline({ key }).cycles.length ?? 0) >= 2, {
      interval: 10,
      timeoutMs: 10_000,
    });
    await waitUntil(() => manager.inspection?.keys({ search: key }).rows[0]?.state === 'idle', {
      interval: 10,
      timeoutMs: 10_000,
    });
    const url = `http://127.0.0.1:${ports[0] ?? 0}/debug/kctl`;
    const timeline = await (await fetch(`${url}/timeline?key=${key}&kind=ConfigMap`)).text();
    expect(timeline).not.toContain('hunter2-planted');
    const { cycles } = JSON.parse(timeline) as ReturnType<NonNullable<typeof manager.inspection>['timeline']>;
    const [second, first] = cycles;
    expect(first).toMatchObject({
      controller: 'copies',
      events: [{ source: 'kind source: ConfigMap', type: 'create', object: key }],
      run: { attempt: 1, result: 'success', requests: 1 },
      writes: [{ verb: 'patch', kind: 'ConfigMap', object: key, caused: [{ sequence: second?.sequence }] }],
    });
    expect(second?.events).toMatchObject([{ type: 'update', causedBy: { sequence: first?.sequence } }]);
    expect(second?.events[0]?.resourceVersion).toBe(first?.writes[0]?.resourceVersion);
    const informers = await (await fetch(`${url}/informers`)).json();
    expect(informers).toContainEqual(
      expect.objectContaining({ kind: 'ConfigMap', phase: 'watching', hasSynced: true }),
    );
    const graph = await (await fetch(`${url}/graph`)).json();
    expect(graph).toMatchObject([{ name: 'copies', watches: [{ kind: 'ConfigMap', phase: 'synced' }] }]);
    const rights = (await (await fetch(`${url}/rights`)).json()) as { resource: string; verb: string; state: string }[];
    expect(
      rights.filter(({ state }) => state === 'missing').map(({ resource, verb }) => `${verb} ${resource}`),
    ).toEqual(['patch configmaps']);
    stop.abort();
    await running;
    await expect(fetch(`${url}/overview`)).rejects.toThrow();
  });

  it('is served behind the protection of the metrics, and not without one', async () => {
    const { connection } = environment;
    const inspection = { behindMetrics: true } as const;
    await expect(createManager({ connection, inspection })).rejects.toThrow(/needs the option metricsServer/);
    await expect(createManager({ connection, inspection, metricsServer: { port: 0 } })).rejects.toThrow(
      /needs metrics that are protected/,
    );
    await expect(createManager({ connection, inspection: { port: 0, host: '0.0.0.0' } })).rejects.toThrow(
      /inspection\.host "0\.0\.0\.0" is not a loopback address/,
    );
    const filter: HttpHandler = ({ headers }, response) => {
      if (headers.authorization === 'Bearer reader') return false;
      response.writeHead(401).end();
      return true;
    };
    const ready = Promise.withResolvers<undefined>();
    let port = 0;
    const logger: Logger = {
      ...noopLogger,
      child: () => logger,
      info: (message, fields) => {
        if (message !== 'starting server') return;
        port = (fields?.['addr'] as { port: number }).port;
        ready.resolve(undefined);
      },
    };
    const metricsServer = { port: 0, host: '127.0.0.1', filter };
    const manager = await createManager({ connection, inspection, metricsServer, logger });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    await ready.promise;
    const url = `http://127.0.0.1:${port}/debug/kctl/overview`;
    expect((await fetch(url)).status).toBe(401);
    const headers = { authorization: 'Bearer reader' };
    expect((await fetch(url, { headers })).status).toBe(200);
    expect((await fetch(url, { headers, method: 'POST' })).status).toBe(405);
    expect((await fetch(url, { headers: { ...headers, origin: 'https://evil.example.com' } })).status).toBe(403);
    stop.abort();
    await running;
  });

  it('answers to loopback hosts alone where the metrics ask no one who they are', async () => {
    const { connection } = environment;
    const listening = Promise.withResolvers<number>();
    const logger: Logger = {
      ...noopLogger,
      child: () => logger,
      info: (message, fields) => {
        if (message === 'starting server') listening.resolve((fields?.['addr'] as { port: number }).port);
      },
    };
    const metricsServer = { port: 0, host: '127.0.0.1' };
    const manager = await createManager({ connection, inspection: { behindMetrics: true }, metricsServer, logger });
    const stop = new AbortController();
    const running = manager.run(stop.signal);
    const port = await listening.promise;
    const statusFor = async (path: string, host: string): Promise<number | undefined> =>
      await new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port, path, headers: { host }, agent: false };
        get(options, (response) => {
          response.resume().once('end', () => resolve(response.statusCode));
        }).once('error', reject);
      });
    expect(await statusFor('/debug/kctl/overview', `localhost:${port}`)).toBe(200);
    // A page of this name, which its owner has point to the loopback address, is of the same site as what it reads.
    expect(await statusFor('/debug/kctl/overview', `evil.example.com:${port}`)).toBe(403);
    expect(await statusFor('/metrics', `evil.example.com:${port}`)).toBe(200);
    stop.abort();
    await running;
  });

  it('is off unless it is asked for', async () => {
    const manager = await createManager({ connection: environment.connection, logger: noopLogger });
    expect(manager.inspection).toBeUndefined();
    const stop = AbortSignal.abort();
    await manager.run(stop);
  });
});
