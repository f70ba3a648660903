import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findConnection, findContexts, isKubeConfigError, readerMissing } from '../src/connection/index.js';
import type { Connection, KubeconfigReader } from '../src/connection/index.js';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'kctl-find-'));
});
afterEach(() => rm(home, { recursive: true }));

/** A reader that returns what it was asked for as the name of a server. */
const reader: KubeconfigReader = {
  readKubeconfig: (paths, { context = '' } = {}): Promise<Connection> =>
    Promise.resolve({ server: `https://${paths.join('+')}#${context}` }),
  parseKubeconfig: (text, { context = '' } = {}) => Promise.resolve({ server: `https://${text}#${context}` }),
  readContexts: (source) =>
    Promise.resolve([
      { name: 'text' in source ? source.text : source.join('+'), isCurrent: true, cluster: 'c', user: 'u' },
    ]),
};
const load = (): Promise<KubeconfigReader> => Promise.resolve(reader);
const never = (): Promise<KubeconfigReader> => Promise.reject(new Error('the reader was loaded'));
const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };

describe('findConnection', () => {
  it('takes path, KUBECONFIG, the pod and the home directory, in this order', async () => {
    await mkdir(join(home, '.kube'));
    await writeFile(join(home, '.kube', 'config'), '');
    const all = { ...pod, HOME: home, KUBECONFIG: ['a', '', 'b'].join(delimiter) };
    const found = async (options: Parameters<typeof findConnection>[0]): Promise<string> =>
      (await findConnection(options, load)).server;
    expect(await found({ path: 'p', context: 'c', environment: all })).toBe('https://p#c');
    expect(await found({ path: `x${delimiter}y`, environment: all })).toBe(`https://x${delimiter}y#`);
    expect(await found({ environment: all })).toBe('https://a+b#');
    expect(await found({ path: '', environment: all })).toBe('https://a+b#');
    expect(await found({ environment: { ...pod, HOME: home } })).toBe('https://10.0.0.1:443');
    expect(await found({ environment: { HOME: home } })).toBe(`https://${join(home, '.kube', 'config')}#`);
  });

  it('takes a HOME that is empty for none, not for the working directory', async () => {
    const outcome = await findConnection({ environment: { HOME: '' } }, load).then(({ server }) => server, String);
    expect(outcome).toContain(join(homedir(), '.kube', 'config'));
  });

  it('loads no reader where there is no file to read', async () => {
    expect((await findConnection({ environment: pod }, never)).server).toBe('https://10.0.0.1:443');
    const error = await findConnection({ environment: { HOME: home } }, never).catch((reason: unknown) => reason);
    expect(isKubeConfigError(error)).toBe(true);
    expect(String(error)).toContain('no kubeconfig found: KUBECONFIG is not set');
  });
});

describe('findContexts', () => {
  const names = async (options: Parameters<typeof findContexts>[0]): Promise<readonly string[]> =>
    (await findContexts(options, load)).map(({ name }) => name);

  it('looks where the connection would come from', async () => {
    const environment = { ...pod, HOME: home, KUBECONFIG: 'a' };
    expect(await names({ environment })).toEqual(['a']);
    expect(await names({ path: 'p', environment })).toEqual(['p']);
    expect(await names({ text: 't', environment })).toEqual(['t']);
    expect((await findConnection({ text: 't', context: 'c', environment }, load)).server).toBe('https://t#c');
    await expect(findConnection({ text: 't', path: 'p' }, load)).rejects.toThrow('text and path are both set');
    await expect(findConnection({ text: 't', contxt: 'prod' } as never, load)).rejects.toThrow(
      'loadConnection: unknown option "contxt": did you mean "context"?',
    );
    await expect(findConnection({ path: 5 } as never, load)).rejects.toThrow('path is a value of type number');
    await expect(findContexts({ text: 't', path: 'p' }, load)).rejects.toThrow('are both set');
    await expect(findContexts({ paths: ['p'] } as never, load)).rejects.toThrow('did you mean "path"?');
  });

  it('finds none in a pod, and where there is no file', async () => {
    expect(await findContexts({ environment: pod }, never)).toEqual([]);
    expect(await findContexts({ environment: { HOME: home } }, never)).toEqual([]);
  });
});

describe('readerMissing', () => {
  it('names the package to install', async () => {
    const name = '@kctl/kubeconfig-is-not-here';
    const failed: unknown = await import(/* @vite-ignore */ name).catch((reason: unknown) => reason);
    expect(() => readerMissing(failed)).toThrow('kubeconfig-is-not-here'); // another package
    const missing = Object.assign(new Error("Cannot find package '@kctl/kubeconfig' imported from /app/main.js"), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
    expect(() => readerMissing(missing)).toThrow('npm install @kctl/kubeconfig');
    const broken = Object.assign(new Error("Cannot find package 'js-yaml' imported from @kctl/kubeconfig"), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
    const denied = Object.assign(new Error("Cannot read '@kctl/kubeconfig'"), { code: 'EACCES' });
    for (const other of [broken, denied]) expect(() => readerMissing(other)).toThrow(other);
    const uncoded = new Error("Cannot find package '@kctl/kubeconfig'");
    for (const other of [uncoded, { code: 'ERR_MODULE_NOT_FOUND', message: uncoded.message }, 'odd'])
      expect(() => readerMissing(other)).toThrow(expect.toSatisfy((thrown: unknown) => thrown === other));
  });
});
