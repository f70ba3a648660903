import { describeError, messageOf } from '@kctl/telemetry';
import { ownCommand } from './own-command.js';

/** A command cannot do its work; the message is a sentence that ends with what to do. */
export class CliError extends Error {
  override readonly name = 'CliError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_CLI' as const;
  /** 1: it failed; 2: it was called wrongly; 3: a check found a difference. */
  readonly exitCode: 1 | 2 | 3;

  constructor(
    message: string,
    { exitCode = 1, cause }: { readonly exitCode?: 1 | 2 | 3; readonly cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** Whether an error is a {@link CliError}. */
export function isCliError(error: unknown): error is CliError {
  return error instanceof Error && 'code' in error && error.code === 'KCTL_CLI';
}

const remedies: Readonly<Record<string, string>> = {
  ECONNREFUSED: `is the cluster running? Name another by --context or --kubeconfig, or use ${ownCommand('dev')}, which needs none`,
  EADDRINUSE: 'another process has the port: stop it, or give another',
  ENOTFOUND: 'is the name of the server in the kubeconfig right, and is a VPN needed?',
  ETIMEDOUT: 'does a VPN or a firewall stand between, or has the cluster another address now?',
  UND_ERR_CONNECT_TIMEOUT: 'does a VPN or a firewall stand between, or has the cluster another address now?',
  CERT_HAS_EXPIRED: 'the certificate of the server has expired: renew it, or make the cluster anew',
  SELF_SIGNED_CERT_IN_CHAIN: 'the kubeconfig is of another cluster, or of one that was made anew: fetch it again',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the kubeconfig is of another cluster, or of one that was made anew: fetch it again',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the kubeconfig is of another cluster, or of one that was made anew: fetch it again',
  Unauthorized: 'your credentials are not valid, or have expired: log in again',
  'failed calling webhook': `the API server cannot call it: see ${ownCommand('doctor')}; of kctl dev, let the firewall pass its port, or name an address by --webhook-host`,
};

/** What the server says of a request that it forbids, in each of its releases. */
const forbidden = /cannot (\w+) resource "([^"]*)" in API group "([^"]*)"/;

/** An error as a sentence for a person, with a remedy where one is known. */
export function explain(error: unknown): string {
  const message = messageOf(error);
  const [, verb, resource, group] = forbidden.exec(message) ?? [];
  if (verb !== undefined)
    return `${message}: you need ${verb} on ${resource ?? ''}${group === '' ? '' : `.${group ?? ''}`}, in a role that is bound to you`;
  const cause = isCliError(error) ? error.cause : error;
  if (cause === undefined) return message;
  const text = `${message} ${JSON.stringify(describeError(cause))}`;
  if (/no kubeconfig found|no API server is configured|the file does not exist/.test(text))
    return `${message}: start a cluster and set KUBECONFIG, or use ${ownCommand('dev')}, which needs none`;
  const known = Object.entries(remedies).find(([code]) => text.includes(code) || text.includes(plain(code)));
  return known === undefined ? message : `${message}: ${known[1]}`;
}

function plain(code: string): string {
  return code === 'ECONNREFUSED' ? 'connection refused' : 'address already in use';
}
