import { isConflict, isForbidden, isNotFound, type DeepReadonly, type Kind, type KubeObject } from '@kctl/apimachinery';
import {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '@kctl/apimachinery/kinds/admissionregistration.k8s.io/v1';
import { CustomResourceDefinition } from '@kctl/apimachinery/kinds/apiextensions.k8s.io/v1';
import type { OperatorGraph } from '@kctl/operator';
import type { OpenCluster } from '../cluster.js';
import type { CliIo } from '../io.js';
import { unlessMissing } from '../unless-missing.js';
import { ownCommand } from '../own-command.js';
import type { DevRecord } from './dev-record.js';

/** The field owner of a tunnel's writes, which kctl's apply does not remove. */
export const tunnelOwner = 'kctl-dev';
/**
 * Annotation of an object that leads to the machine of a developer; its value is the run of `kctl dev`. A run that ends
 * later does not change an object that another run has taken over. The former state of the object is in the record of
 * that machine.
 */
const sessionAnnotation = 'kctl.dev/dev-session';
/** Annotation of cert-manager, which would write the CA of the deployed copy. */
export const injectAnnotation = 'cert-manager.io/inject-ca-from';

/** The conversion of a kind without webhook. */
export const noConversion = { strategy: 'None' };

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

/** Annotations of an object that leads to a run of `kctl dev`. */
export function leadsHere(session: string): Readonly<Record<string, string>> {
  return { [sessionAnnotation]: session };
}

/** Whether an object is marked as one that leads to a machine. Anyone who may patch the object can set the mark. */
export function leadsToMachine({ metadata }: DeepReadonly<KubeObject>): boolean {
  return metadata.annotations?.[sessionAnnotation] !== undefined;
}

/** Options of {@link saveOriginals}. */
export interface SaveOptions {
  readonly places: readonly Place[];
  readonly session: string;
  readonly record: DevRecord;
}

/**
 * Records the current state of each object to be redirected here before anything of it changes, so a crash at any later
 * moment loses nothing.
 */
export async function saveOriginals(
  io: Pick<CliIo, 'signal'>,
  { client }: OpenCluster,
  { places, session, record }: SaveOptions,
): Promise<void> {
  const options = { fieldOwner: tunnelOwner, signal: io.signal };
  for (const { kind, name } of places)
    await untilUnchanged(async () => {
      const found = await unlessMissing(client.get(kind, { name }, options));
      if (found === undefined || record.find(found.metadata.uid)?.session === session) return;
      const inject = found.metadata.annotations?.[injectAnnotation];
      record.note(found.metadata.uid, {
        session,
        original: {
          ...(inject === undefined ? {} : { inject }),
          ...(kind === CustomResourceDefinition
            ? { conversion: field(field(found, 'spec'), 'conversion') ?? noConversion }
            : { webhooks: field(found, 'webhooks') ?? [] }),
        },
      });
      // The record must match the current state, so a write in between is a conflict.
      const { resourceVersion } = found.metadata;
      const body = { metadata: { resourceVersion, annotations: leadsHere(session) } };
      await client.patch(kind, { name }, { type: 'merge', body }, options);
    });
}

/** Options of {@link restoreOriginals}. */
export interface RestoreOptions {
  readonly places: readonly Place[];
  /** Restores what leads to this run alone. @default what leads to any run of this machine */
  readonly session?: string;
  readonly record: DevRecord;
  /** Manifests that the caller applies next. An object that another machine has changed becomes what its manifest declares. */
  readonly wanted?: readonly object[];
  readonly signal?: AbortSignal;
}

/**
 * Makes everything what it was before an operator on this machine was called, also what an earlier run left when it was
 * killed. Changes only objects whose uid is in the record of this machine, and deletes only webhook configurations that are
 * recorded as created here. An object that is marked without a record is reported and stays as it is.
 */
export async function restoreOriginals(
  io: Pick<CliIo, 'err'>,
  { client }: Pick<OpenCluster, 'client'>,
  { places, session, record, wanted = [], signal }: RestoreOptions,
): Promise<void> {
  const options = { fieldOwner: tunnelOwner, ...(signal === undefined ? {} : { signal }) };
  for (const { kind, name } of places)
    await untilUnchanged(async () => {
      const found = await unlessMissing(client.get(kind, { name }, options)).catch((error: unknown) => {
        // A person who may not read it has not changed it.
        if (isForbidden(error)) return undefined;
        throw error;
      });
      if (found === undefined) return;
      const { uid, resourceVersion, annotations: there } = found.metadata;
      const what = `${kind.kind.toLowerCase()}/${name}`;
      const noted = record.find(uid);
      const marked = there?.[sessionAnnotation];
      if (noted === undefined) {
        if (marked === undefined || session !== undefined) return;
        const manifest = wanted.find(
          (each) => field(each, 'kind') === kind.kind && field(field(each, 'metadata'), 'name') === name,
        );
        if (manifest === undefined)
          io.err(
            `${what} is marked as changed by kctl dev on another machine and was not restored: end that run, or see ${ownCommand('doctor')}\n`,
          );
        else {
          const inject = field(field(field(manifest, 'metadata'), 'annotations'), injectAnnotation);
          const declared = {
            conversion: field(field(manifest, 'spec'), 'conversion'),
            webhooks: field(manifest, 'webhooks'),
          };
          await client.patch(
            kind,
            { name },
            { type: 'merge', body: bodyOf(kind, { resourceVersion, inject, ...declared }) },
            options,
          );
          io.err(`replaced ${what}: it led to another machine\n`);
        }
        return;
      }
      if (session !== undefined && noted.session !== session) return;
      // Another run has taken it over, or an apply has replaced what led here.
      if (marked !== noted.session) {
        record.forget(uid);
        return;
      }
      if (noted.original === 'absent') {
        if (kind === CustomResourceDefinition) return;
        await deleteUnchanged(client, { kind, name }, { ...options, uid, resourceVersion });
      } else {
        const body = bodyOf(kind, { resourceVersion, ...noted.original });
        await client.patch(kind, { name }, { type: 'merge', body }, options);
      }
      record.forget(uid);
      io.err(`restored ${what}: it does not lead to this machine now\n`);
    });
}

/** A merge patch that takes an object away from a machine. */
function bodyOf(
  kind: Place['kind'],
  {
    resourceVersion,
    inject,
    conversion,
    webhooks = [],
  }: {
    readonly resourceVersion: string;
    readonly inject?: unknown;
    readonly conversion?: unknown;
    readonly webhooks?: unknown;
  },
): object {
  const annotations = { [sessionAnnotation]: null, [injectAnnotation]: inject ?? null };
  const metadata = { resourceVersion, annotations };
  return kind === CustomResourceDefinition
    ? { metadata, spec: { conversion: replacing(conversion) } }
    : { metadata, webhooks };
}

async function deleteUnchanged(
  client: OpenCluster['client'],
  { kind, name }: Place,
  {
    uid,
    resourceVersion,
    ...options
  }: { readonly uid: string; readonly resourceVersion: string; readonly signal?: AbortSignal },
): Promise<void> {
  try {
    await client.delete(kind, { name }, { ...options, preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** How often a write that another has overtaken is repeated. */
const attempts = 10;

/** Reads and writes again if another client has written in between. */
async function untilUnchanged(readAndWrite: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++)
    try {
      await readAndWrite();
      return;
    } catch (error) {
      if (!isConflict(error) || attempt === attempts) throw error;
    }
}

/** A conversion as a merge patch that removes all previous fields. */
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
