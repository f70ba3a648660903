import type { UntypedObject } from '@kctl/apimachinery';
import { numberOf, objectsOf, stringOf, stringsOf } from '@kctl/crd/internal/engine';
import type { Store } from '../../storage/store.js';
import { readClientConfig, type WebhookClientConfig } from '../../webhooks/client-config.js';
import { compileConditions, type MatchConditions } from './conditions.js';
import { readRules, type AdmissionRule } from '../matching/rules.js';

/** One webhook of a configuration, read. */
export interface Hook {
  /** Unique among all webhooks of its type. */
  readonly id: string;
  readonly name: string;
  readonly configuration: string;
  /** Undefined for one that names neither a URL nor a Service. */
  readonly client: WebhookClientConfig | undefined;
  readonly rules: readonly AdmissionRule[];
  readonly matchPolicy: string;
  readonly namespaceSelector: unknown;
  readonly objectSelector: unknown;
  readonly conditions: MatchConditions | undefined;
  /** Whether the write goes on if the webhook cannot be called. */
  readonly ignoresFailures: boolean;
  /** Whether it may be called on a dry run. */
  readonly allowsDryRun: boolean;
  readonly timeoutMs: number;
  readonly reviewVersions: readonly string[];
  /** Whether it is called again after others have changed the object. */
  readonly isReinvoked: boolean;
}

function readHook(value: Readonly<Record<string, unknown>>, configuration: string, id: string): Hook {
  const effects = stringOf(value['sideEffects']);
  const ignoresFailures = value['failurePolicy'] === 'Ignore';
  return {
    id,
    name: stringOf(value['name']),
    configuration,
    client: readClientConfig(value['clientConfig']),
    rules: readRules(value['rules']),
    matchPolicy: stringOf(value['matchPolicy']),
    namespaceSelector: value['namespaceSelector'],
    objectSelector: value['objectSelector'],
    conditions: compileConditions(value['matchConditions'], { ignoresFailures }),
    ignoresFailures,
    allowsDryRun: effects === 'None' || effects === 'NoneOnDryRun',
    timeoutMs: (numberOf(value['timeoutSeconds']) ?? 10) * 1000,
    reviewVersions: stringsOf(value['admissionReviewVersions']),
    isReinvoked: value['reinvocationPolicy'] === 'IfNeeded',
  };
}

function readConfiguration(object: UntypedObject): Hook[] {
  const { name = '' } = object.metadata;
  const seen = new Map<string, number>();
  return objectsOf(object['webhooks']).map((webhook) => {
    const own = stringOf(webhook['name']);
    const count = seen.get(own) ?? 0;
    seen.set(own, count + 1);
    return readHook(webhook, name, `${name}/${own}/${count}`);
  });
}

const none: readonly Hook[] = [];

/** The webhooks of all configurations of one type, by name of the configuration. A configuration is read once. */
export function createHookSource(store: Store, plural: string): () => readonly Hook[] {
  const name = `admissionregistration.k8s.io/${plural}`;
  const read = new WeakMap<UntypedObject, readonly Hook[]>();
  return () => {
    const table = store.table(name);
    if (table.size === 0) return none;
    const hooks: Hook[] = [];
    for (const [, { object }] of table.scan({})) {
      let own = read.get(object);
      if (own === undefined) {
        own = readConfiguration(object);
        read.set(object, own);
      }
      hooks.push(...own);
    }
    return hooks;
  };
}
