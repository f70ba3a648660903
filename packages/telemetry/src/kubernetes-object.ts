import { property } from './message-of.js';

/** Summary of a Kubernetes object in a log line, as controller-runtime's encoder prints it. */
export interface ObjectSummary {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly resourceVersion?: string;
  /** Number of items of a list. */
  readonly items?: number;
}

/** Whether a value has the form of a Kubernetes object or of a list of them. */
export function isKubernetesObject(value: object): boolean {
  const metadata = property(value, 'metadata');
  if (typeof metadata !== 'object' || metadata === null) return false;
  if (isText(property(value, 'kind')) && isText(property(value, 'apiVersion'))) return true;
  if (Array.isArray(property(value, 'items'))) return true;
  return ['name', 'generateName', 'uid', 'resourceVersion'].some((field) => isText(property(metadata, field)));
}

/**
 * Kind, namespace, name and resourceVersion of an object, which is enough to find it and nothing that may be secret.
 */
export function summaryOf(value: object): ObjectSummary {
  const metadata = property(value, 'metadata');
  const items = property(value, 'items');
  return {
    ...text('apiVersion', property(value, 'apiVersion')),
    ...text('kind', property(value, 'kind')),
    ...text('namespace', property(metadata, 'namespace')),
    ...text('name', property(metadata, 'name') ?? property(metadata, 'generateName')),
    ...text('resourceVersion', property(metadata, 'resourceVersion')),
    ...(Array.isArray(items) ? { items: items.length } : {}),
  };
}

/** Why the contents of an object are not logged even on request, or undefined if they may be. */
export function refusalOf(value: object): string | undefined {
  const kind = property(value, 'kind');
  if (!isText(kind)) return 'contents are not logged: the object has no kind, so it may be a Secret';
  if (/^secret(list)?$/i.test(kind)) return 'contents of Secrets are not logged';
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function text(key: keyof ObjectSummary, value: unknown): ObjectSummary {
  return isText(value) ? { [key]: value } : {};
}
