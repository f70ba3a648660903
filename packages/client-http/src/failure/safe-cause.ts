import { redact } from '@kctl/client/internal/connection';

/** The parts of a network error that are shown, which name the operation and its peer, but no sent or received data. */
const shownFields = ['code', 'errno', 'syscall', 'address', 'port', 'hostname', 'reason'] as const;

/**
 * Returns a copy of an error that is fit for `cause`, without the fields in which libraries keep the data they failed
 * on (undici's `data`, Node's `input` and `spawnargs`), and without apparent secrets in message and stack.
 */
export function safeCause(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? redact(error) : undefined;
  if (depth > 8) return undefined;
  const copy = copyOf(redact(error.message), error.stack !== undefined);
  Object.defineProperty(copy, 'name', { value: error.name, configurable: true, writable: true });
  if (error.stack !== undefined)
    Object.defineProperty(copy, 'stack', { value: redact(error.stack), configurable: true, writable: true });
  for (const field of shownFields) {
    const value: unknown = field in error ? Reflect.get(error, field) : undefined;
    if (typeof value === 'string') Object.assign(copy, { [field]: redact(value) });
    else if (typeof value === 'number') Object.assign(copy, { [field]: value });
  }
  if ('errors' in error && Array.isArray(error.errors))
    Object.assign(copy, { errors: error.errors.map((inner: unknown) => safeCause(inner, depth + 1)) });
  if (error.cause !== undefined)
    Object.defineProperty(copy, 'cause', {
      value: safeCause(error.cause, depth + 1),
      configurable: true,
      writable: true,
    });
  return copy;
}

/** An error, without a stack if it gets that of another, because the stack costs more than all the rest. */
function copyOf(message: string, hasOther: boolean): Error {
  const limit = Error.stackTraceLimit;
  const isLowered = hasOther && Reflect.set(Error, 'stackTraceLimit', 0);
  const copy = new Error(message);
  if (isLowered) Error.stackTraceLimit = limit;
  return copy;
}
