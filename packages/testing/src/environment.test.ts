import { access, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { isInvalid } from '@kctl/apimachinery';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { ConfigMap } from '@kctl/apimachinery/kinds/core/v1';
import { FakeClock } from '@kctl/wait/testing';
import { describe, expect, it } from 'vitest';
import { createEnvironment } from './environment.js';
import { eventually } from './eventually.js';

const crd: CustomResourceDefinition = {
  metadata: { name: 'widgets.ex.io' },
  spec: {
    group: 'ex.io',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

describe('createEnvironment', () => {
  it('starts a server, makes namespaces, and leaves nothing behind', async () => {
    const environment = await createEnvironment({ server: 'embedded' });
    const namespace = await environment.createNamespace('suite');
    expect(namespace).toMatch(/^suite-/);
    await environment.client.create(ConfigMap, { metadata: { namespace, name: 'a' } });
    expect((await environment.client.list(ConfigMap, { namespace })).items).toHaveLength(1);
    await environment.stop();
    await environment.stop();
    await expect(access(environment.kubeconfigPath)).rejects.toThrow();
  });

  it('installs CRDs, also over older ones, and waits until they are established', async () => {
    await using environment = await createEnvironment({ server: 'embedded', crds: [crd] });
    await environment.installCrds([{ ...crd, metadata: { ...crd.metadata, labels: { again: 'yes' } } }]);
    const installed = await environment.client.get(CustomResourceDefinition, { name: 'widgets.ex.io' });
    expect(installed.metadata.labels).toEqual({ again: 'yes' });
    expect(installed.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Established', status: 'True' }),
    );
  });

  it('stops what it started when a CRD is refused', async () => {
    const wrong = { ...crd, metadata: { name: 'wrong' } };
    const failure = await createEnvironment({ server: 'embedded', crds: [wrong] }).catch((error: unknown) => error);
    expect(isInvalid(failure)).toBe(true);
  });

  it.each<[unknown, string]>([
    [
      { server: 'imaginary' },
      'createEnvironment: server "imaginary" is not valid: expected "embedded" or "real" or "existing"',
    ],
    [{ crd: [] }, 'createEnvironment: unknown option "crd": did you mean "crds"?'],
    [{ signal: new AbortController() }, 'createEnvironment: signal is'],
    [null, 'createEnvironment: expected options, not null'],
  ])('refuses the options %o', async (options, message) => {
    const starting: unknown = Reflect.apply(createEnvironment, undefined, [options]);
    await expect(starting).rejects.toThrow(TypeError);
    await expect(starting).rejects.toThrow(message);
  });

  it('does not start when its signal is aborted, and stops where that comes later', async () => {
    const reason = new Error('no longer wanted');
    const given = { server: 'embedded', signal: AbortSignal.abort(reason) } as const;
    await expect(createEnvironment(given)).rejects.toBe(reason);
    const later = new AbortController();
    const starting = createEnvironment({ server: 'embedded', signal: later.signal, crds: [crd] });
    later.abort(reason);
    await expect(starting).rejects.toBe(reason);
  });

  it('makes nothing after the stop that would be left behind', async () => {
    const environment = await createEnvironment({ server: 'embedded' });
    await environment.stop();
    await expect(environment.addUser({ name: 'jane' })).rejects.toThrow('addUser: the environment was stopped');
    await expect(environment.prepareWebhooks()).rejects.toThrow('prepareWebhooks: the environment was stopped');
    await expect(environment.installWebhooks([])).rejects.toThrow('installWebhooks: the environment was stopped');
    await expect(environment.installConversion([])).rejects.toThrow('installConversion: the environment was stopped');
  });

  it('refuses users and webhooks of which a part would be lost', async () => {
    await using environment = await createEnvironment({ server: 'embedded' });
    const addUser = async (user: object): Promise<unknown> =>
      await Reflect.apply(environment.addUser, undefined, [user]);
    await expect(addUser({ name: 'jane', group: ['a'] })).rejects.toThrow(
      'unknown option "group": did you mean "groups"?',
    );
    await expect(addUser({ name: 'jane', groups: 'a' })).rejects.toThrow('addUser: groups is');
    await expect(environment.installWebhooks([{ metadata: { name: 'a' }, webhooks: [] }])).rejects.toThrow(
      'installWebhooks: the kind of configurations[0] is undefined: expected MutatingWebhookConfiguration or',
    );
  });

  it('installs webhooks that refuse the object by which it finds out whether they are called', async () => {
    await using environment = await createEnvironment({ server: 'embedded' });
    const { host, port, certDir } = await environment.prepareWebhooks();
    const [cert, key] = await Promise.all(['tls.crt', 'tls.key'].map((name) => readFile(join(certDir, name))));
    const answerTo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const review = (await json(request)) as { readonly request: { readonly uid: string } };
      const answer = { uid: review.request.uid, allowed: false };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: answer }));
    };
    const server = createServer({ cert, key }, (request, response) => void answerTo(request, response));
    await new Promise<void>((resolve) => void server.listen(port, host, resolve));
    const webhook = {
      name: 'deny.ex.io',
      clientConfig: { url: 'https://elsewhere/deny' },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    };
    const configurationOf = <K extends string>(kind: K) => ({ kind, metadata: { name: 'deny' }, webhooks: [webhook] });
    try {
      await environment.installWebhooks([
        configurationOf('MutatingWebhookConfiguration'),
        configurationOf('ValidatingWebhookConfiguration'),
      ]);
      await expect(
        environment.client.create(ConfigMap, { metadata: { namespace: 'default', name: 'a' } }),
      ).rejects.toThrow('denied the request');
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('refuses an unknown server by name', async () => {
    const before = process.env['KCTL_TEST_SERVER'];
    process.env['KCTL_TEST_SERVER'] = 'imaginary';
    try {
      await expect(createEnvironment()).rejects.toThrow(
        'KCTL_TEST_SERVER "imaginary" is not known: use embedded, real or existing',
      );
    } finally {
      if (before === undefined) delete process.env['KCTL_TEST_SERVER'];
      else process.env['KCTL_TEST_SERVER'] = before;
    }
  });
});

describe('eventually', () => {
  it('returns what the assertion returns once it holds', async () => {
    let tries = 0;
    const value = await eventually(() => {
      if (++tries < 3) throw new Error('not yet');
      return tries;
    });
    expect(value).toBe(3);
  });

  it('fails with the last error and how long was waited', async () => {
    const clock = new FakeClock();
    const failing = eventually(() => expect(1).toBe(2), { clock, timeoutMs: 100, intervalMs: 50 }).catch(
      (error: unknown) => error,
    );
    await clock.advance(200);
    expect(String(await failing)).toContain('after 100 ms: expected 1 to be 2');
    expect(clock.pendingTimers).toBe(0);
  });

  it('says how long was waited of errors whose message cannot be set', async () => {
    const cause = Object.freeze(new Error('frozen'));
    const last = async (error: Error): Promise<unknown> =>
      await eventually(() => Promise.reject(error), { timeoutMs: 0, clock: new FakeClock() }).catch(
        (failure: unknown) => failure,
      );
    const late = new DOMException('late', 'TimeoutError');
    expect(await last(late)).toBe(late);
    expect(late.message).toBe('after 0 ms: late');
    expect(await last(cause)).toMatchObject({ message: 'after 0 ms: frozen', cause });
  });

  it('does not begin with an aborted signal, or with options that are not valid', async () => {
    const reason = new Error('enough');
    await expect(eventually(() => 1, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await expect(eventually(() => 1, { timeoutMs: Number.NaN })).rejects.toThrow(
      'eventually: timeoutMs NaN is not valid: expected a number of ms ≥ 0 or Infinity',
    );
    const misspelled: unknown = Reflect.apply(eventually, undefined, [() => 1, { timeout: 5 }]);
    await expect(misspelled).rejects.toThrow('eventually: unknown option "timeout"');
  });
});
