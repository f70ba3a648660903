import type { DeepReadonly, KubeObject } from '@kctl/apimachinery';
import { shownValue, unknownOptions, type OptionNames } from '@kctl/options';

/** Whether all is as it should be. */
export type EventType = 'Normal' | 'Warning';

/** Points at an object, or a part of it. Mirrors `v1.ObjectReference`. */
export interface EventReference {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** A part of the object, e.g. `spec.containers{main}`. */
  readonly fieldPath?: string;
}

/** Subject of an event, which is an object as the API server sent it or a reference to one. */
export type EventSubject = DeepReadonly<KubeObject> | EventReference;

/** Content of an event. */
export interface EventDetails {
  readonly type: EventType;
  /** Why, in CamelCase, for machines: `FailedCreate`. At most 128 characters. */
  readonly reason: string;
  /** Action that was taken or attempted, in CamelCase. At most 128 characters. @default the reason */
  readonly action?: string;
  /** Human-readable message. Cut off at 1024 bytes, as the server would refuse a longer one. */
  readonly note: string;
  /** Another object that has to do with it. */
  readonly related?: EventSubject;
  /** Annotations of the event; a series keeps those of its first event. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Records events about objects. Nothing here waits or throws. Delivery happens in the background, and events that
 * cannot be delivered are dropped, counted and logged, because an event must never keep a controller from its work.
 */
export interface EventRecorder {
  /** Records that something happened to `regarding`. The object must have apiVersion, kind and name. */
  event(regarding: EventSubject, details: EventDetails): void;
  /** An event of type Normal whose action is its reason. */
  normal(regarding: EventSubject, reason: string, note: string): void;
  /** An event of type Warning whose action is its reason. */
  warning(regarding: EventSubject, reason: string, note: string): void;
}

/** A recorded event, checked and completed, before it is added to a series. */
export interface RecordedEvent {
  readonly controller: string;
  readonly instance: string;
  readonly regarding: EventReference;
  readonly related: EventReference | undefined;
  readonly type: EventType;
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

const referenceFields: readonly (keyof EventReference)[] = [
  'apiVersion',
  'kind',
  'namespace',
  'name',
  'uid',
  'resourceVersion',
  'fieldPath',
];

/** A reference to a subject. @throws TypeError naming what it lacks */
export function referenceTo(subject: EventSubject): EventReference {
  const given: unknown = subject;
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`an event must be about an object or a reference to one, not ${shownValue(given)}`);
  const fields = fieldsOf(subject);
  for (const field of ['apiVersion', 'kind', 'name'] as const) {
    const value: unknown = fields[field];
    if (value === undefined || value === '') throw new TypeError(`an event must be about an object with ${field}`);
  }
  for (const field of referenceFields) {
    const value: unknown = fields[field];
    if (value !== undefined && !isText(value))
      throw new TypeError(`${field} of what an event is about is ${shownValue(value)}: expected a string`);
  }
  // A copy, because the caller may change the original before the event is delivered.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));
}

function fieldsOf(subject: EventSubject): Record<keyof EventReference, string | undefined> {
  if ('metadata' in subject) {
    const metadata: Partial<KubeObject['metadata']> = (subject.metadata as KubeObject['metadata'] | null) ?? {};
    const { name, namespace, uid, resourceVersion } = metadata;
    const { apiVersion, kind } = subject;
    return { apiVersion, kind, namespace, name, uid, resourceVersion, fieldPath: undefined };
  }
  const { apiVersion, kind, namespace, name, uid, resourceVersion, fieldPath } = subject;
  return { apiVersion, kind, namespace, name, uid, resourceVersion, fieldPath };
}

const maxNoteBytes = 1024;
const maxWordLength = 128;

/** Checks and completes the details from a caller. @throws TypeError naming the invalid field */
export function toRecordedEvent(
  source: { readonly controller: string; readonly instance: string },
  regarding: EventSubject,
  details: EventDetails,
): RecordedEvent {
  requireDetails(details);
  const { type, reason, action = reason, note, related, annotations } = details;
  const types: readonly string[] = ['Normal', 'Warning'];
  if (!types.includes(type))
    throw new TypeError(`type ${JSON.stringify(type)} of an event is not valid: expected Normal or Warning`);
  requireWord('reason', reason);
  requireWord('action', action);
  if (!isText(note)) throw new TypeError(`note of an event is ${shownValue(note)}: expected a string`);
  if (annotations !== undefined) requireAnnotations(annotations);
  return {
    ...source,
    regarding: referenceTo(regarding),
    related: related === undefined ? undefined : referenceTo(related),
    type,
    reason,
    action,
    note: cut(note),
    annotations: annotations === undefined ? undefined : { ...annotations },
  };
}

/** Types hold only for programs that have them. */
function isText(value: unknown): value is string {
  return typeof value === 'string';
}

const detailNames: OptionNames<EventDetails> = {
  type: true,
  reason: true,
  action: true,
  note: true,
  related: true,
  annotations: true,
};

function requireDetails(details: unknown): void {
  if (typeof details === 'object' && details !== null) {
    const [unknown] = unknownOptions(details, Object.keys(detailNames));
    if (unknown === undefined) return;
    throw new TypeError(`the details of an event are not valid: ${unknown}`);
  }
  throw new TypeError(`the details of an event are ${shownValue(details)}: expected { type, reason, note }`);
}

function requireWord(field: string, value: unknown): void {
  if (isText(value) && value !== '' && value.length <= maxWordLength) return;
  throw new TypeError(
    `${field} ${shownValue(value)} of an event is not valid: expected 1 to ${maxWordLength} characters`,
  );
}

function requireAnnotations(annotations: unknown): void {
  if (typeof annotations !== 'object' || annotations === null)
    throw new TypeError(`annotations of an event are ${shownValue(annotations)}: expected an object of strings`);
  for (const [key, value] of Object.entries(annotations))
    if (!isText(value))
      throw new TypeError(`annotation ${JSON.stringify(key)} of an event is ${shownValue(value)}: expected a string`);
}

/** Prefix of the note of an event that stands for events with different notes. As in client-go. */
const combinedPrefix = '(combined from similar events): ';

/** The note of an event that stands for events with different notes, which contains the latest of them. */
export function combinedNote({ note }: RecordedEvent): string {
  return cut(combinedPrefix + note);
}

/** Cuts at a character, not within one. */
function cut(note: string): string {
  const bytes = Buffer.from(note);
  if (bytes.length <= maxNoteBytes) return note;
  let end = maxNoteBytes - 3;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.subarray(0, end).toString()}...`;
}
