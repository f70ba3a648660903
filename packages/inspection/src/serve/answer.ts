import type { ServerResponse } from 'node:http';

/** Headers of every answer, so that nothing is stored, framed, sniffed or forwarded. */
const headers: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
};

/** An answer may be this long, in bytes; pages of tables are shorter. */
const maxBytes = 4 * 1024 * 1024;

/** The content of an answer. */
export interface Answer {
  readonly status?: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Writes an answer; of HEAD without its body. */
export function send(response: ServerResponse, { status = 200, contentType, body, headers: more }: Answer): true {
  const length = Buffer.byteLength(body);
  if (length > maxBytes) return sendText(response, 413, 'the answer is too large: ask for fewer rows by limit');
  response
    .writeHead(status, { ...headers, ...more, 'content-type': contentType, 'content-length': String(length) })
    .end(response.req.method === 'HEAD' ? undefined : body);
  return true;
}

export function sendJson(response: ServerResponse, value: unknown): true {
  return send(response, { contentType: 'application/json; charset=utf-8', body: JSON.stringify(value) });
}

export function sendText(
  response: ServerResponse,
  status: number,
  message: string,
  more: Readonly<Record<string, string>> = {},
): true {
  return send(response, { status, contentType: 'text/plain; charset=utf-8', body: `${message}\n`, headers: more });
}

/** Begins an answer whose length is not known. */
export function beginStream(response: ServerResponse, contentType: string): void {
  response.writeHead(200, { ...headers, 'content-type': contentType });
}
