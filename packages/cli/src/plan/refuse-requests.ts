import type { Connection, DispatchControl, RequestDispatcher } from '@kctl/client/internal/connection';

const message =
  'kctl plan lets no request of the operator through: setup must not send requests, and desired is computed from its arguments';
const refusal = Buffer.from(
  JSON.stringify({ apiVersion: 'v1', kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403, message }),
);
const control: DispatchControl = { abort: () => undefined, pause: () => undefined, resume: () => undefined };

/** A connection on which each request is refused before it leaves the process, for the manager of an operator that must not run. */
export function refuseRequests(connection: Connection): Connection {
  const dispatcher: RequestDispatcher = {
    dispatch: (_request, callbacks) => {
      callbacks.onRequestStart(control);
      callbacks.onResponseStart(control, 403, { 'content-type': 'application/json' });
      callbacks.onResponseData(control, refusal);
      callbacks.onResponseEnd(control);
      return true;
    },
    close: () => Promise.resolve(),
    destroy: () => Promise.resolve(),
  };
  return { ...connection, newDispatcher: () => dispatcher };
}
