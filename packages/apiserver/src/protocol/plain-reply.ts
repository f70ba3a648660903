import type { Reply } from './api-request.js';

/** Answers that no cache may keep; upstream puts this on everything. */
export const commonHeaders = { 'cache-control': 'no-cache, private' } as const;

/** A `text/plain` answer. */
export function plainReply(status: number, body: string): Reply {
  return {
    status,
    headers: { ...commonHeaders, 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
    body,
  };
}

/** `404 page not found`, as Go's mux writes it. */
export function pageNotFound(): Reply {
  return plainReply(404, '404 page not found\n');
}
