import type { IncomingMessage } from 'node:http';

/** Target of a request. */
export interface RequestTarget {
  /** As sent, not decoded. */
  readonly pathname: string;
  readonly searchParams: URLSearchParams;
  /** The query as sent, with its `?`; '' without one. */
  readonly search: string;
}

/** Reads path and query of a request; takes whatever a client may send as one. */
export function targetOf({ url = '/' }: Pick<IncomingMessage, 'url'>): RequestTarget {
  // A proxy may send the absolute form.
  const relative = url.replace(/^https?:\/\/[^/?#]*/i, '');
  const [path = '', query = ''] = /^([^?#]*)\??([^#]*)/.exec(relative)?.slice(1) ?? [];
  const search = query === '' ? '' : `?${query}`;
  return { pathname: path === '' ? '/' : path, searchParams: new URLSearchParams(query), search };
}
