import { isNotFound, mutableCopy, type Kind } from '@kctl/apimachinery';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import { retryOnConflict } from '@kctl/client';
import type { Reader, WriteObject, Writer } from '@kctl/client';

/** The objects, by name, to which the CA is to be written. */
export interface InjectionTargets {
  /** MutatingWebhookConfigurations, with every webhook of them. */
  readonly mutating?: readonly string[];
  /** ValidatingWebhookConfigurations, with every webhook of them. */
  readonly validating?: readonly string[];
  /** CustomResourceDefinitions that are converted by webhook. */
  readonly crds?: readonly string[];
}

interface ClientConfig {
  caBundle?: string;
}

/** An object with the CA in it, and a name for messages. */
interface Target {
  readonly what: string;
  /** Writes the CA if it differs. @throws errors of the client, and an Error if there is no place for it */
  inject(client: Reader & Writer, caBundle: string, signal: AbortSignal): Promise<void>;
}

/** The targets, in order, because a configuration that blocks others must not come first. */
export function injectionTargets({ mutating = [], validating = [], crds = [] }: InjectionTargets): readonly Target[] {
  return [
    ...crds.map((name) =>
      target(CustomResourceDefinition, name, ({ spec }) => {
        const webhook = spec.conversion?.webhook;
        if (webhook === undefined) return [];
        webhook.clientConfig ??= {};
        return [webhook.clientConfig];
      }),
    ),
    ...mutating.map((name) =>
      target(MutatingWebhookConfiguration, name, ({ webhooks = [] }) =>
        webhooks.map(({ clientConfig }) => clientConfig),
      ),
    ),
    ...validating.map((name) =>
      target(ValidatingWebhookConfiguration, name, ({ webhooks = [] }) =>
        webhooks.map(({ clientConfig }) => clientConfig),
      ),
    ),
  ];
}

type Injectable =
  | typeof MutatingWebhookConfiguration
  | typeof ValidatingWebhookConfiguration
  | typeof CustomResourceDefinition;
type ObjectOfKind<K> = K extends Kind<infer T> ? T : never;

function target<K extends Injectable>(
  kind: K,
  name: string,
  configsOf: (object: ObjectOfKind<K>) => ClientConfig[],
): Target {
  const what = `${kind.kind} ${name}`;
  return {
    what,
    inject: async (client, caBundle, signal) => {
      const encoded = Buffer.from(caBundle).toString('base64');
      const update = async (): Promise<void> => {
        const found = await find(client, kind, name, signal);
        const draft = mutableCopy(found) as ObjectOfKind<K>;
        const configs = configsOf(draft);
        if (configs.length === 0) throw new Error(`${what} has no webhook to trust`);
        if (configs.every((config) => config.caBundle === encoded)) return;
        for (const config of configs) config.caBundle = encoded;
        await client.update(kind, draft as unknown as WriteObject<K>, { signal });
      };
      // On a conflict another replica was first, so the object is read again. The next check repeats this if even that
      // does not help.
      await retryOnConflict(update, { signal });
    },
  };
}

async function find(client: Reader, kind: Kind, name: string, signal: AbortSignal): Promise<object> {
  try {
    return await client.get(kind, { name }, { signal, live: true });
  } catch (error) {
    if (isNotFound(error)) throw new Error(`${kind.kind} ${name} does not exist`, { cause: error });
    throw error;
  }
}
