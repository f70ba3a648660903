import { CallSiteError } from './call-site-error.js';
import { formatGroupKind, formatGroupResource, formatGroupVersionKind } from './kind.js';

const code = 'KCTL_NO_KIND_MATCH';

/** Subject and place of a failed look-up. */
export interface NoKindMatchFields {
  readonly group: string;
  /** Unset if any version was acceptable. */
  readonly version?: string;
  readonly kind: string;
  readonly plural?: string;
  /** Set if a subresource of the kind was requested. */
  readonly subresource?: string;
  /** The server that does not serve it. Unset if a scheme was queried instead of a server. */
  readonly server?: string;
  /** The server's answer, if it reports more than that the URL is unknown; it is added to the message. */
  readonly answer?: string;
}

/**
 * Thrown when nothing is known about a kind, because a scheme has no token for it or a server does not serve it (or not
 * this subresource of it). It is not a not-found error, which reports that an *object* is missing. Mirrors
 * `meta.NoKindMatchError`.
 */
export class NoKindMatchError extends CallSiteError {
  override readonly name = 'NoKindMatchError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_NO_KIND_MATCH' = code;
  readonly group: string;
  readonly kind: string;
  /** Unset if any version was acceptable. */
  readonly version: string | undefined;
  readonly subresource: string | undefined;
  readonly server: string | undefined;

  constructor(wanted: NoKindMatchFields, options?: ErrorOptions) {
    super(wanted.server === undefined ? describeUnknown(wanted) : describeUnserved(wanted, wanted.server), options);
    this.group = wanted.group;
    this.kind = wanted.kind;
    this.version = wanted.version;
    this.subresource = wanted.subresource;
    this.server = wanted.server;
  }
}

/** Whether an error is a {@link NoKindMatchError}, also one of another copy of this package. */
export function isNoKindMatch(error: unknown): error is NoKindMatchError {
  return error instanceof Error && 'code' in error && error.code === code;
}

function describeUnknown({ group, version, kind }: NoKindMatchFields): string {
  const name =
    version === undefined ? formatGroupKind({ group, kind }) : formatGroupVersionKind({ group, version, kind });
  return `no match for kind ${name}: register its token, or install its custom resource definition`;
}

function describeUnserved(wanted: NoKindMatchFields, server: string): string {
  const { group, version, kind, plural, subresource, answer = '' } = wanted;
  const said = answer === '' ? '' : ` (it answered: ${answer})`;
  const apiVersion = [group, version].filter((part) => part !== '' && part !== undefined).join('/');
  const resource = plural === undefined ? '' : ` (${formatGroupResource({ group, resource: plural })})`;
  const what = `kind ${kind}${resource}${apiVersion === '' ? '' : ` in ${apiVersion}`}`;
  const remedy =
    group.includes('.') && !group.endsWith('.k8s.io') ? ': is its CustomResourceDefinition installed?' : '';
  return subresource === undefined
    ? `the server ${server} has no ${what}${remedy}${said}`
    : `the server ${server} has no subresource ${subresource} of ${what}, or not this kind at all${remedy}${said}`;
}
