const marker: unique symbol = Symbol.for('@kctl/telemetry.WholeObject');

/** An object whose contents a log line contains; made by {@link wholeObject}. */
export interface WholeObject {
  readonly [marker]: unknown;
}

/**
 * Requests the contents of a Kubernetes object in a log line, for debugging, as in
 * `logger.debug('desired', { deployment: wholeObject(deployment) })`. Without it, a line contains kind, namespace, name
 * and resourceVersion.
 *
 * Secrets, lists of Secrets and objects without a kind are never logged whole. The line contains the summary and the
 * reason instead. `metadata.managedFields` and the last-applied annotation are left out.
 */
export function wholeObject(object: object): WholeObject {
  return { [marker]: object };
}

/** The object that was wrapped, or undefined for any other value. */
export function unwrapWhole(value: object): unknown {
  return marker in value ? Reflect.get(value, marker) : undefined;
}
