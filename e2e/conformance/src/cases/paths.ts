/** Paths and drafts that many cases share. */
import type { Context } from '../harness/context.js';
import type { Doc, Draft } from '../harness/doc.js';
import { created } from '../harness/expect.js';

export const configMaps = (ns: string, name?: string): string => item(`/api/v1/namespaces/${ns}/configmaps`, name);
export const secrets = (ns: string, name?: string): string => item(`/api/v1/namespaces/${ns}/secrets`, name);
export const services = (ns: string, name?: string): string => item(`/api/v1/namespaces/${ns}/services`, name);
export const pods = (ns: string, name?: string): string => item(`/api/v1/namespaces/${ns}/pods`, name);
export const deployments = (ns: string, name?: string): string =>
  item(`/apis/apps/v1/namespaces/${ns}/deployments`, name);
export const leases = (ns: string, name?: string): string =>
  item(`/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`, name);
export const jobs = (ns: string, name?: string): string => item(`/apis/batch/v1/namespaces/${ns}/jobs`, name);
export const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
export const NAMESPACES = '/api/v1/namespaces';

const item = (collection: string, name?: string): string => (name === undefined ? collection : `${collection}/${name}`);

export async function createConfigMap(t: Context, ns: string, name: string, rest: Draft = {}): Promise<Doc> {
  const { metadata, ...fields } = rest;
  return created(await t.post(configMaps(ns), { metadata: { name, ...metadata }, ...fields }));
}

/** A pod that admission lets through before the namespace has its default service account. */
export function podDraft(name: string, rest: { metadata?: object; spec?: object } = {}): Draft {
  return {
    metadata: { name, ...rest.metadata },
    spec: { containers: [{ name: 'c', image: 'i' }], ...rest.spec },
  };
}

/** A namespace with its default service account, without which pods are refused. */
export async function podNamespace(t: Context): Promise<string> {
  const ns = await t.namespace();
  if (t.target.name !== 'embedded')
    await t.eventually(
      () => t.get(`/api/v1/namespaces/${ns}/serviceaccounts/default`),
      ({ status }) => status === 200,
      { what: 'the default service account' },
    );
  return ns;
}

export function deploymentDraft(name: string, rest: { metadata?: object; spec?: object } = {}): Draft {
  return {
    metadata: { name, ...rest.metadata },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      ...rest.spec,
    },
  };
}
