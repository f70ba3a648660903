import type { UntypedObject } from '@kctl/apimachinery';
import { anySignal, orAborted, type AbortLink } from '@kctl/wait';
import { cloneJson, type JsonObject, goQuoted } from '@kctl/crd/internal/engine';
import { kindOf, resourceOf } from '../admission/matching/equivalents.js';
import type { AdmissionOperation, AdmissionWrite, WriteFacts } from '../admission/write.js';
import { parseGoDuration } from '../protocol/go-text.js';
import { ownersProblem } from '../managed-fields/managers.js';
import { unclassified } from '../protocol/status.js';
import { timedOut } from '../protocol/http-statuses.js';
import type { WriteBackend, ResourceCall } from './call.js';

/** Upstream's `requestTimeoutUpperBound`: no write takes longer. */
const maxWriteMs = 34_000;

/** How long a write may take, in ms. */
export function writeTimeoutMs({ query }: Pick<ResourceCall, 'query'>): number {
  const asked = parseGoDuration(query.get('timeout') ?? '') ?? 0;
  return asked > 0 ? Math.min(asked, maxWriteMs) : maxWriteMs;
}

/** Operation that is about to be written. */
export interface AdmittedOperation {
  readonly operation: AdmissionOperation;
  /** @default '' */
  readonly subresource?: string;
  readonly dryRun: boolean;
  /**
   * CreateOptions, UpdateOptions or DeleteOptions, as plugins see them; null for CONNECT. Read only if a plugin is
   * concerned.
   */
  readonly options: () => JsonObject | null;
}

/** The new and the present state of a write. */
export interface AdmittedState {
  /** The name of the object; '' if it is still to be generated, and in a deletecollection. */
  readonly name: string;
  readonly object?: UntypedObject;
  readonly oldObject?: UntypedObject;
  /** Whether an owner of the object has the time of this write. @default false */
  readonly isStamped?: boolean;
  /** Options of this one object. @default those of the request */
  readonly options?: JsonObject;
}

/**
 * Admission of one request, over all its attempts. It has the request's deadline, and must be disposed of with it.
 */
export interface Admission extends Disposable {
  /** Aborted at the deadline, with its Status, and when the client has gone. */
  readonly signal: AbortSignal;
  /** Runs the mutating pass and returns the object to go on with; the argument stays as it is. @throws StatusError */
  admit(state: AdmittedState & { readonly object: UntypedObject }): Promise<UntypedObject>;
  /** The validating pass. @throws StatusError */
  validate(state: AdmittedState): Promise<void>;
  /** Both passes over a deletion. @throws StatusError */
  reviewDeletion(state: AdmittedState & { readonly oldObject: UntypedObject }): Promise<void>;
}

/** Parts of a request that admission uses. */
export type AdmittedCall = Pick<
  ResourceCall,
  'definition' | 'path' | 'query' | 'request' | 'user' | 'warnings' | 'audit' | 'caller' | 'remainingMs'
>;

function factsOf({ definition, path }: AdmittedCall, operation: AdmissionOperation, subresource: string): WriteFacts {
  const isNamespace = definition.storageKey === '/namespaces';
  return {
    operation,
    definition,
    resource: resourceOf(definition),
    subresource,
    kind: kindOf(definition, subresource),
    namespace: isNamespace ? path.name : path.namespace,
  };
}

class RequestAdmission implements Admission {
  readonly #backend: WriteBackend;
  readonly #call: AdmittedCall;
  readonly #facts: WriteFacts;
  readonly #operation: AdmittedOperation;
  readonly #link: AbortLink;
  readonly #timer: { cancel(): void };
  readonly #endsAt: number;

  constructor(
    backend: WriteBackend,
    call: AdmittedCall,
    { facts, operation }: { facts: WriteFacts; operation: AdmittedOperation },
  ) {
    const { clock } = backend;
    this.#backend = backend;
    this.#call = call;
    this.#facts = facts;
    this.#operation = operation;
    this.#link = anySignal([call.request.signal]);
    const timeoutMs = call.remainingMs ?? writeTimeoutMs(call);
    this.#endsAt = clock.monotonicNow() + timeoutMs;
    const late = timedOut();
    this.#timer = clock.setTimer(() => this.#link.abort(late), timeoutMs, { keepAlive: false });
  }

  get signal(): AbortSignal {
    return this.#link.signal;
  }

  #write({ name, object, oldObject, isStamped, options }: AdmittedState): AdmissionWrite {
    const { dryRun } = this.#operation;
    const { user, warnings, audit, caller } = this.#call;
    const namespace =
      this.#facts.definition.storageKey === '/namespaces' && this.#facts.namespace === ''
        ? name
        : this.#facts.namespace;
    return {
      ...this.#facts,
      namespace,
      name,
      object,
      oldObject,
      stamped: this.#countsFirstPatch(isStamped === true) ? object : undefined,
      options: options ?? this.#operation.options(),
      dryRun,
      user,
      authorizer: this.#backend.access.authorizer,
      caller,
      reinvocation: { isReinvoke: false, isRequested: false, values: new Map() },
      signal: this.signal,
      remainingMs: () => Math.max(0, this.#endsAt - this.#backend.clock.monotonicNow()),
      warn: (text) => warnings.push(text),
      annotate: (key, value) => {
        audit.annotations ??= {};
        if (!Object.hasOwn(audit.annotations, key)) audit.annotations[key] = value;
      },
    };
  }

  /**
   * Whether the first patch of a webhook counts as a change whatever it changes. In upstream's types of Go it cuts off
   * the fractions of a second in the time of an owner; in the Scale of a custom resource it fills in kind and apiVersion.
   */
  #countsFirstPatch(isStamped: boolean): boolean {
    const { definition, subresource } = this.#facts;
    return definition.isCustom ? definition.subresources.get(subresource)?.type === 'view' : isStamped;
  }

  async admit(state: AdmittedState & { readonly object: UntypedObject }): Promise<UntypedObject> {
    const write = this.#write(state);
    write.caller?.restart();
    await orAborted(this.#backend.admission.admit(write), this.signal);
    const admitted = write.object ?? state.object;
    return admitted === state.object ? admitted : cloneJson(admitted);
  }

  async validate(state: AdmittedState): Promise<void> {
    await orAborted(this.#backend.admission.validate(this.#write(state)), this.signal);
  }

  async reviewDeletion(state: AdmittedState & { readonly oldObject: UntypedObject }): Promise<void> {
    await orAborted(this.#backend.admission.admit(this.#write(state)), this.signal);
    await this.validate(state);
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
    this.#link[Symbol.dispose]();
  }
}

/** Checks that admission has left an object in the version of the URL. @throws StatusError 500 */
export function requireAdmitted({ definition }: ResourceCall, object: UntypedObject): void {
  const { apiVersion = '', kind = '' } = object;
  if (!definition.isCustom || apiVersion === definition.apiVersion) return;
  const version = apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
  throw unclassified(
    `${version}, Kind=${kind} is unstructured and is not suitable for converting to ${goQuoted(definition.apiVersion)}`,
  );
}

/** Puts owners back that a plugin has made unreadable, and warns of it. */
export function keepOwners(
  call: ResourceCall,
  object: UntypedObject,
  before: UntypedObject['metadata']['managedFields'],
): void {
  const problem = ownersProblem(object.metadata.managedFields);
  if (problem === undefined) return;
  if (before === undefined) delete object.metadata.managedFields;
  else object.metadata.managedFields = before;
  call.warnings.push(
    `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${problem}`,
  );
}

/** Whether any plugin may concern what a request creates or updates. */
export function isReviewed({ admission }: WriteBackend, call: ResourceCall): boolean {
  const [subresource = ''] = call.path.subresource.split('/');
  return (
    !admission.isIdle() &&
    (['CREATE', 'UPDATE'] as const).some((operation) => admission.handles(factsOf(call, operation, subresource)))
  );
}

/** Admission of a write; undefined if no plugin can concern it, so that nothing has to be waited for. */
export function beginAdmission(
  backend: WriteBackend,
  call: AdmittedCall,
  operation: AdmittedOperation,
): Admission | undefined {
  if (backend.admission.isIdle()) return undefined;
  const facts = factsOf(call, operation.operation, operation.subresource ?? '');
  return backend.admission.handles(facts) ? new RequestAdmission(backend, call, { facts, operation }) : undefined;
}
