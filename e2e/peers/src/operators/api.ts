/** The API as a test sees it: plain requests with objects as JSON. */
import { Agent, request } from 'node:https';
import type { Peer } from '../server.js';

/** An object as the server sent it; the caller knows what is in it. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly { readonly kind: string; readonly name: string }[];
    readonly deletionTimestamp?: string;
    readonly resourceVersion: string;
  };
  readonly spec?: Fields;
  readonly status?: Fields;
  readonly data?: Readonly<Record<string, string>>;
  readonly type?: string;
  readonly webhooks?: readonly Fields[];
}

/** What is below `spec` or `status`. */
export interface Fields {
  readonly [name: string]: unknown;
}

export class ApiFailure extends Error {
  override name = 'ApiFailure';
  readonly code: number;

  constructor(what: string, code: number, body: string) {
    super(`${what}: ${code} ${messageOf(body)}`);
    this.code = code;
  }
}

function messageOf(body: string): string {
  try {
    return (JSON.parse(body) as { message?: string }).message ?? body;
  } catch {
    return body;
  }
}

export class Api implements Disposable {
  readonly #peer: Peer;
  readonly #agent: Agent;

  constructor(peer: Peer) {
    this.#peer = peer;
    this.#agent = new Agent({ keepAlive: true, ca: peer.caPem });
  }

  async get(path: string): Promise<KubeObject> {
    return JSON.parse(await this.#send('GET', path)) as KubeObject;
  }

  async list(path: string): Promise<readonly KubeObject[]> {
    return (JSON.parse(await this.#send('GET', path)) as { items: KubeObject[] }).items;
  }

  async create(path: string, object: object): Promise<KubeObject> {
    return JSON.parse(await this.#send('POST', path, JSON.stringify(object))) as KubeObject;
  }

  /** A merge patch. */
  async patch(path: string, change: object): Promise<KubeObject> {
    const body = JSON.stringify(change);
    return JSON.parse(await this.#send('PATCH', path, body, 'application/merge-patch+json')) as KubeObject;
  }

  async delete(path: string): Promise<void> {
    await this.#send('DELETE', path);
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, body?: string, type = 'application/json'): Promise<string> {
    return new Promise((resolve, reject) => {
      const call = request(`${this.#peer.url}${path}`, {
        method,
        agent: this.#agent,
        headers: {
          authorization: `Bearer ${this.#peer.token}`,
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': type }),
        },
        timeout: 60_000,
      });
      call.once('timeout', () => call.destroy(new Error(`${method} ${path}: no answer after 60 s`)));
      call.once('error', reject);
      call.once('response', (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.once('error', reject);
        response.once('end', () => {
          const code = response.statusCode ?? 0;
          if (code < 300) resolve(text);
          else reject(new ApiFailure(`${method} ${path}`, code, text));
        });
      });
      call.end(body);
    });
  }
}
