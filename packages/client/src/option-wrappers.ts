import type { Client, WatchingClient } from './client.js';
import type { FieldValidation } from './options.js';
import { rewriteOptions, sentDeletes, sentWrites } from './wrap.js';
import { requireClient, requireName } from './checks/require-arguments.js';

/**
 * Returns a client whose writes are all dry runs, for which the server does everything except storing. A call cannot
 * switch it off. Reads pass through. Mirrors `client.NewDryRunClient`.
 */
export function withDryRun(client: WatchingClient): WatchingClient;
export function withDryRun(client: Client): Client;
export function withDryRun(client: Client): Client {
  requireClient('withDryRun', client, []);
  return rewriteOptions(client, {
    write: { ...sentWrites, dryRun: () => true },
    remove: { ...sentDeletes, dryRun: () => true },
  });
}

/**
 * A client whose writes are recorded under this field owner, unless a call names another. Mirrors
 * `client.WithFieldOwner`.
 */
export function withFieldOwner(client: WatchingClient, fieldOwner: string): WatchingClient;
export function withFieldOwner(client: Client, fieldOwner: string): Client;
export function withFieldOwner(client: Client, fieldOwner: string): Client {
  requireClient('withFieldOwner', client, []);
  if (fieldOwner === '')
    throw new TypeError('withFieldOwner: the field owner is empty: pass the name of your controller');
  requireName('withFieldOwner', 'field owner', fieldOwner);
  return rewriteOptions(client, {
    // An option that is undefined counts as not set by the call.
    write: { ...sentWrites, fieldOwner: (given) => given ?? fieldOwner },
    remove: sentDeletes,
  });
}

/**
 * Returns a client whose writes are validated this strictly, unless a call sets another level. Server-side apply is
 * strict in any case. Mirrors `client.WithFieldValidation`.
 */
export function withFieldValidation(client: WatchingClient, fieldValidation: FieldValidation): WatchingClient;
export function withFieldValidation(client: Client, fieldValidation: FieldValidation): Client;
export function withFieldValidation(client: Client, fieldValidation: FieldValidation): Client {
  requireClient('withFieldValidation', client, []);
  return rewriteOptions(client, {
    write: { ...sentWrites, fieldValidation: (given) => given ?? fieldValidation },
    remove: sentDeletes,
  });
}
