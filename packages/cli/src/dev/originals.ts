import { isConflict, isForbidden, isNotFound, type DeepReadonly, type Kind, type KubeObject } from '@kctl/apimachinery';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import type { OperatorGraph } from '@kctl/operator';
import type { OpenCluster } from '../cluster.js';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';
import { unlessMissing } from '../unless-missing.js';
import { ownCommand } from '../own-command.js';

/** The field owner of what a tunnel writes: an apply of kctl does not take it away. */
export const tunnelOwner = 'kctl-dev';
/** On an object that leads to a machine of a developer: what it was before, as JSON. It is how a later start finds it. */
const originalAnnotation = 'kctl.dev/before-dev';
/** Beside it: which run of `kctl dev` it leads to. One that ends later leaves alone what another has taken over. */
const sessionAnnotation = 'kctl.dev/dev-session';
/** Of cert-manager: it would write the authority of the deployed copy. */
export const injectAnnotation = 'cert-manager.io/inject-ca-from';

const noConversion = { strategy: 'None' };

/** What an object was before it led here; `absent` is one that was not there. */
type Original = 'absent' | { readonly inject?: string; readonly webhooks?: unknown; readonly conversion?: unknown };

/** An object that may lead to a machine. */
export interface Place {
  readonly kind: Kind<KubeObject, 'Cluster'>;
  readonly name: string;
}

const placeKinds: readonly Place['kind'][] = [
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
  CustomResourceDefinition,
];

/** The objects that may lead to a machine, also by an earlier state of the code. */
export function placesOf({ name, resources }: Pick<OperatorGraph, 'name' | 'resources'>): readonly Place[] {
  return [
    { kind: MutatingWebhookConfiguration, name: `${name}-mutating` },
    { kind: ValidatingWebhookConfiguration, name: `${name}-validating` },
    ...resources.map(({ manifest }) => ({ kind: CustomResourceDefinition, name: manifest.metadata.name ?? '' })),
  ];
}

/** Places as another process reads them. */
export function writePlaces(places: readonly Place[]): readonly (readonly [kind: string, name: string])[] {
  return places.map(({ kind, name }) => [kind.kind, name]);
}

/** The inverse of {@link writePlaces}; what it does not know is left out. */
export function readPlaces(value: unknown): readonly Place[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown): readonly Place[] => {
    const parts: readonly unknown[] = Array.isArray(each) ? each : [];
    const [word, name] = parts;
    const kind = placeKinds.find((one) => one.kind === word);
    return kind === undefined || typeof name !== 'string' ? [] : [{ kind, name }];
  });
}

/** Annotations of an object that leads here and was not there, or was not converted. */
export function newHere(session: string, was: 'absent' | 'not converted'): Readonly<Record<string, string>> {
  const original: Original = was === 'absent' ? was : { conversion: noConversion };
  return { [originalAnnotation]: JSON.stringify(original), [sessionAnnotation]: session };
}

/** Whether an object says what it was before it led to a machine. */
export function leadsToMachine({ metadata }: DeepReadonly<KubeObject>): boolean {
  return metadata.annotations?.[originalAnnotation] !== undefined;
}

/**
 * Notes on each object that is to lead here what it is now, before anything of it changes: a crash at any later moment
 * loses nothing.
 */
export async function saveOriginals(
  io: Pick<CliIo, 'signal'>,
  { client }: OpenCluster,
  { places, session }: { readonly places: readonly Place[]; readonly session: string },
): Promise<void> {
  const options = { fieldOwner: tunnelOwner, signal: io.signal };
  for (const { kind, name } of places)
    await untilUnchanged(async () => {
      const found = await unlessMissing(client.get(kind, { name }, options));
      if (found === undefined || originalOf(found) !== undefined) return;
      const inject = found.metadata.annotations?.[injectAnnotation];
      const original: Original = {
        ...(inject === undefined ? {} : { inject }),
        ...(kind === CustomResourceDefinition
          ? { conversion: field(field(found, 'spec'), 'conversion') ?? noConversion }
          : { webhooks: field(found, 'webhooks') ?? [] }),
      };
      const annotations = { [originalAnnotation]: JSON.stringify(original), [sessionAnnotation]: session };
      // What is noted is what is there: a write in between is a conflict.
      const { resourceVersion } = found.metadata;
      await client.patch(
        kind,
        { name },
        { type: 'merge', body: { metadata: { resourceVersion, annotations } } },
        options,
      );
    });
}

/** Options of {@link restoreOriginals}. */
export interface RestoreOptions {
  readonly places: readonly Place[];
  /** Restores what leads to this run alone. @default whatever leads to a machine */
  readonly session?: string;
  readonly signal?: AbortSignal;
}

/**
 * Makes everything what it was before an operator on a machine was called, also what an earlier run left when it was
 * killed. Objects that never led to one are not touched.
 */
export async function restoreOriginals(
  io: Pick<CliIo, 'err'>,
  { client }: Pick<OpenCluster, 'client'>,
  { places, session, signal }: RestoreOptions,
): Promise<void> {
  const options = { fieldOwner: tunnelOwner, ...(signal === undefined ? {} : { signal }) };
  for (const { kind, name } of places)
    await untilUnchanged(async () => {
      const found = await unlessMissing(client.get(kind, { name }, options)).catch((error: unknown) => {
        // A person who may not read it has not changed it.
        if (isForbidden(error)) return undefined;
        throw error;
      });
      const original = found === undefined ? undefined : originalOf(found);
      if (found === undefined || original === undefined) return;
      const { resourceVersion, annotations: there } = found.metadata;
      if (session !== undefined && there?.[sessionAnnotation] !== session) return;
      if (original === 'absent') await deleteUnchanged(client, { kind, name }, { ...options, resourceVersion });
      else {
        const annotations = {
          [originalAnnotation]: null,
          [sessionAnnotation]: null,
          [injectAnnotation]: original.inject ?? null,
        };
        const before =
          kind === CustomResourceDefinition
            ? { spec: { conversion: replacing(original.conversion) } }
            : { webhooks: original.webhooks };
        const body = { metadata: { resourceVersion, annotations }, ...before };
        await client.patch(kind, { name }, { type: 'merge', body }, options);
      }
      io.err(`restored ${kind.kind.toLowerCase()}/${name}: it does not lead to this machine now\n`);
    });
}

async function deleteUnchanged(
  client: OpenCluster['client'],
  { kind, name }: Place,
  { resourceVersion, ...options }: { readonly resourceVersion: string; readonly signal?: AbortSignal },
): Promise<void> {
  try {
    await client.delete(kind, { name }, { ...options, preconditions: { resourceVersion } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** How often a write that another has overtaken is repeated. */
const attempts = 10;

/** Reads and writes again where another has written in between. */
async function untilUnchanged(readAndWrite: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      await readAndWrite();
      return;
    } catch (error) {
      if (!isConflict(error) || attempt === attempts) throw error;
    }
}

/** A conversion as a merge patch: of that which was there, nothing stays. */
export function replacing(conversion: unknown): object {
  const webhook = field(conversion, 'webhook');
  if (typeof webhook !== 'object' || webhook === null) return { ...noConversion, webhook: null };
  const clientConfig = {
    url: null,
    service: null,
    caBundle: null,
    ...Object(field(webhook, 'clientConfig')),
  } as object;
  return { strategy: 'Webhook', webhook: { ...webhook, clientConfig } };
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** @throws CliError where it has been edited */
function originalOf({ kind, metadata }: DeepReadonly<KubeObject>): Original | undefined {
  const text = metadata.annotations?.[originalAnnotation];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (value === 'absent') return value;
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // As below.
  }
  throw new CliError(
    `the annotation ${originalAnnotation} of ${kind ?? 'object'} ${metadata.name ?? ''} is not what kctl dev wrote: delete it, and apply the object by ${ownCommand('deploy')}`,
  );
}
