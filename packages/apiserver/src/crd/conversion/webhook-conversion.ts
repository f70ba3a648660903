import type { UntypedObject } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry/internal';
import { at, objectOf, stringOf, stringsOf, type JsonObject } from '@kctl/crd/internal/engine';
import type { ObjectConversion } from '../../resource/resource.js';
import { unclassified } from '../../protocol/status.js';
import { readClientConfig, type WebhookClientConfig } from '../../webhooks/client-config.js';
import type { WebhookCaller } from '../../outgoing/webhook-caller.js';
import { readConverted, reviewOf, reviewVersionOf, whatOf, type ConversionQuestion } from './conversion-review.js';

/** How long a conversion webhook may take, in ms. */
const timeoutMs = 30_000;

/** Calls the conversion webhook of a CustomResourceDefinition. */
export interface ConversionCaller {
  /**
   * Converts objects of one version to another one, in order. One call for all, and no call without objects.
   *
   * @throws StatusError 500 with upstream's message
   */
  convert(objects: readonly JsonObject[], apiVersion: string): Promise<readonly UntypedObject[]>;
}

class WebhookConversionCaller implements ConversionCaller {
  readonly #caller: WebhookCaller;
  readonly #client: WebhookClientConfig;
  readonly #reviewVersion: string;
  readonly #known: ReadonlySet<string>;

  constructor(
    caller: WebhookCaller,
    client: WebhookClientConfig,
    versions: { readonly review: string; readonly known: ReadonlySet<string> },
  ) {
    this.#caller = caller;
    this.#client = client;
    this.#reviewVersion = versions.review;
    this.#known = versions.known;
  }

  async convert(objects: readonly JsonObject[], apiVersion: string): Promise<readonly UntypedObject[]> {
    if (objects.length === 0) return [];
    const versions = objects.map((object) => stringOf(object['apiVersion']));
    const unknown = versions.find((version) => !this.#known.has(version));
    if (unknown !== undefined) throw unclassified(`request to convert CR from an invalid group/version: ${unknown}`);
    const question: ConversionQuestion = {
      reviewVersion: this.#reviewVersion,
      uid: this.#caller.newUid(),
      desiredApiVersion: apiVersion,
      objects,
    };
    try {
      return readConverted(question, await this.#post(question));
    } catch (error) {
      throw unclassified(messageOf(error));
    }
  }

  async #post(question: ConversionQuestion): Promise<unknown> {
    try {
      return await this.#caller.post(this.#client, reviewOf(question), { timeoutMs });
    } catch (error) {
      throw new Error(`conversion webhook for ${whatOf(question)} failed: ${messageOf(error)}`, { cause: error });
    }
  }
}

/** The caller of a definition's conversion webhook; undefined if its versions differ in their names only. */
export function conversionCallerOf(
  crd: UntypedObject,
  caller: WebhookCaller | undefined,
  known: ReadonlySet<string>,
): ConversionCaller | undefined {
  const conversion = at(crd, 'spec', 'conversion');
  if (caller === undefined || at(conversion, 'strategy') !== 'Webhook') return undefined;
  const client = readClientConfig(at(conversion, 'webhook', 'clientConfig'));
  const review = reviewVersionOf(stringsOf(at(conversion, 'webhook', 'conversionReviewVersions')));
  if (client === undefined || review === undefined) return undefined;
  return new WebhookConversionCaller(caller, client, { review, known });
}

/** How one version reads and writes objects; the functions change what they are given. */
export interface VersionRules {
  readonly apiVersion: string;
  readonly storageApiVersion: string;
  /** Prunes and fills in defaults as the version does that the object was stored in. Copies. */
  readonly read: (stored: UntypedObject) => UntypedObject;
  /** Prunes as this version does. */
  readonly prune: (converted: UntypedObject) => UntypedObject;
  /** Prunes as the storage version does. */
  readonly pruneForStorage: (converted: UntypedObject) => UntypedObject;
}

/** Conversion of one served version by webhook, in upstream's order (read as stored, convert, prune). */
export function createObjectConversion(caller: ConversionCaller, rules: VersionRules): ObjectConversion {
  const { apiVersion, storageApiVersion } = rules;
  return {
    needsCall: (stored) => stored.apiVersion !== apiVersion,
    async fromStorage(stored) {
      const byVersion = Map.groupBy(stored.keys(), (index) => stored[index]?.apiVersion ?? '');
      const shown = [...stored];
      for (const indexes of byVersion.values()) {
        const sent = indexes.map((index) => withoutRevision(rules.read(stored[index] ?? { metadata: {} })));
        const converted = await caller.convert(sent, apiVersion);
        for (const [place, index] of indexes.entries()) {
          const object = rules.prune(converted[place] ?? { metadata: {} });
          shown[index] = withRevisionOf(stored[index], object);
        }
      }
      return shown;
    },
    async toStorage(object) {
      const [converted] = await caller.convert([withoutRevision(object)], storageApiVersion);
      return withRevisionOf(object, rules.pruneForStorage(converted ?? object));
    },
    async convert(object, to) {
      const whole = { ...object, metadata: objectOf(object['metadata']) };
      if (object['apiVersion'] === to) return whole;
      // As upstream, what is nothing but its kind is not sent.
      if (Object.keys(object).every((name) => name === 'apiVersion' || name === 'kind'))
        return { ...whole, apiVersion: to };
      const [converted] = await caller.convert([object], to);
      return converted ?? whole;
    },
  };
}

/** Upstream's storage keeps no revision in its objects, so webhooks see none. */
function withoutRevision(object: UntypedObject): UntypedObject {
  const { resourceVersion: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function withRevisionOf(original: UntypedObject | undefined, object: UntypedObject): UntypedObject {
  const resourceVersion = original?.metadata.resourceVersion;
  if (resourceVersion === undefined) return object;
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}
