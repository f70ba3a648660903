import type { Status } from './status.js';

type Checks = Readonly<Record<string, (value: unknown) => boolean>>;

const isText = (value: unknown): boolean => typeof value === 'string';
/** Zero is how Go represents an absent value. */
const isCount = (value: unknown): boolean => typeof value === 'number' && Number.isSafeInteger(value) && value > 0;

const ofStatus: Checks = {
  metadata: isObject,
  status: isText,
  message: isText,
  reason: isText,
  details: isObject,
  code: isCount,
};
const ofDetails: Checks = {
  name: isText,
  group: isText,
  kind: isText,
  uid: isText,
  causes: Array.isArray,
  retryAfterSeconds: isCount,
};
const ofCause: Checks = { reason: isText, message: isText, field: isText };

/**
 * Returns a Status from the wire with the members that its type promises. A member of another type is omitted, as if it
 * were absent. The responder may be a proxy, an aggregated API server or a webhook, and error handlers read the members
 * as they are typed.
 */
export function typedStatus(given: Status): Status {
  const status: Status = fitting(given, ofStatus);
  if (status.details === undefined) return status;
  const details = fitting(status.details, ofDetails);
  const { causes } = details;
  if (causes === undefined) return { ...status, details };
  return {
    ...status,
    details: { ...details, causes: causes.filter(isObject).map((cause) => fitting(cause, ofCause)) },
  };
}

/** A copy of an object with optional members, without those that do not fit. */
function fitting<T extends object>(given: T, checks: Checks): T {
  const copy = { ...given };
  for (const [name, isFit] of Object.entries(checks))
    if (!isFit(Reflect.get(copy, name))) Reflect.deleteProperty(copy, name);
  return copy;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
