const reachingFrames = 32;

/**
 * An Error whose stack reaches the calling code. It keeps up to 32 frames, because the ten that V8 keeps by default can
 * all lie inside a client. A process limit that is higher, or 0, stays in force.
 */
export abstract class CallSiteError extends Error {
  constructor(message?: string, options?: ErrorOptions) {
    const limit = Error.stackTraceLimit;
    // Set and restored within one synchronous call, so no other error is created in between.
    const isRaised = limit > 0 && limit < reachingFrames && Reflect.set(Error, 'stackTraceLimit', reachingFrames);
    super(message, options);
    if (isRaised) Error.stackTraceLimit = limit;
  }
}
