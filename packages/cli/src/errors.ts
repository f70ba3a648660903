import { describeError } from '@kctl/telemetry';
import { messageOf } from '@kctl/telemetry/internal';
import { ownCommand } from './own-command.js';

/** A command cannot do its work; the message is a sentence that ends with what to do. */
export class CliError extends Error {
  override readonly name = 'CliError';
  /** Stable code of this error class. */
  readonly code = 'KCTL_CLI' as const;
  /** 1: it failed; 2: it was called wrongly, or changes are planned; 3: a check found a difference. */
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

const otherCluster = 'the kubeconfig is of another cluster, or of one that was made anew: fetch it again';
const noAccess = 'you lack the right: see who owns it, and whether it may be written';
const notWhatItIs = 'a folder is where a file has to be, or a file where a folder has to be: move it away';
const unreachable = 'does a VPN or a firewall stand between, or has the cluster another address now?';

/** By the code of an error, or of one of its causes. */
const byCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: `is the cluster running? Name another by --context or --kubeconfig, or use ${ownCommand('dev')}, which needs none`,
  EACCES: noAccess,
  EPERM: noAccess,
  EROFS: 'the file system is mounted read-only: work on a copy of the folder',
  EISDIR: notWhatItIs,
  ENOTDIR: notWhatItIs,
  EEXIST: notWhatItIs,
  ENOSPC: 'the disk is full: make room',
  EADDRINUSE: 'another process has the port: stop it, or give another',
  ENOTFOUND: 'is the name of the server in the kubeconfig right, and is a VPN needed?',
  ETIMEDOUT: unreachable,
  UND_ERR_CONNECT_TIMEOUT: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  CERT_HAS_EXPIRED: 'renew it, or make the cluster anew',
  SELF_SIGNED_CERT_IN_CHAIN: otherCluster,
  DEPTH_ZERO_SELF_SIGNED_CERT: otherCluster,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: otherCluster,
  UNABLE_TO_GET_ISSUER_CERT: otherCluster,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: otherCluster,
  CERT_SIGNATURE_FAILURE: otherCluster,
};

/** By a part of the message, for errors that arrive as strings from a server or another process. */
const byText: Readonly<Record<string, string>> = {
  'connection refused': byCode['ECONNREFUSED'] ?? '',
  'address already in use': byCode['EADDRINUSE'] ?? '',
  'current-context is not set': 'by --context, or by kubectl config use-context',
  Unauthorized: 'your credentials are not valid, or have expired: log in again',
  'failed calling webhook': `the API server cannot call it: see ${ownCommand('doctor')}; of kctl dev, let the firewall pass its port, or name an address by --webhook-host`,
};

/** The server's message for a forbidden request, in each of its releases. */
const forbidden = /cannot (\w+) resource "([^"]*)" in API group "([^"]*)"/;

/** An error as a sentence for a user, with a remedy if one is known. */
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
  const ofText = Object.entries(byText).find(([part]) => text.includes(part))?.[1];
  const remedy =
    codesOf(cause)
      .map((code) => byCode[code])
      .find((each) => each !== undefined) ?? ofText;
  // The client's message ends with a question if it does not know whose cluster it is.
  return remedy === undefined ? message : `${message.replace(/: [^:?]*\?$/, '')}: ${remedy}`;
}

/** The codes of an error, its causes, and those that it collects. */
function codesOf(error: unknown, depth = 0): readonly string[] {
  if (typeof error !== 'object' || error === null || depth > 8) return [];
  const [code, cause, errors] = ['code', 'cause', 'errors'].map((field): unknown => Reflect.get(error, field));
  const members: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const inner = [cause, ...members].flatMap((each) => codesOf(each, depth + 1));
  return typeof code === 'string' ? [code, ...inner] : inner;
}
