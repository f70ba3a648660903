import { isAlreadyExists, isConflict, isNotFound } from '@kctl/apimachinery';
import { Secret } from '@kctl/apimachinery/kinds/core/v1';
import type { Reader, ReadObject, Writer } from '@kctl/client';
import { stateProblem, type CertificateState } from './certificate-state.js';

/** The content of the Secret that was read. */
export interface StoredState {
  /** Undefined if the Secret does not exist. */
  readonly secret: ReadObject<typeof Secret> | undefined;
  /** Undefined if no complete one exists. */
  readonly state: CertificateState | undefined;
  /** Why the Secret holds no state, without any of its contents. */
  readonly problem: string | undefined;
}

const rotatedAtAnnotation = 'kctl.dev/ca-rotated-at';

/** Keeps a {@link CertificateState} in a Secret. Of several writers, the API server lets one through. */
export class CertificateSecret {
  readonly #client: Reader & Writer;
  readonly #key: { readonly name: string; readonly namespace: string };

  constructor(client: Reader & Writer, key: { readonly name: string; readonly namespace: string }) {
    this.#client = client;
    this.#key = key;
  }

  /** By get alone, so that a role with `resourceNames` is enough, and past any cache. */
  async read(signal: AbortSignal): Promise<StoredState> {
    try {
      const secret = await this.#client.get(Secret, this.#key, { signal, live: true });
      const state = decode(secret);
      const problem = state === undefined ? 'it lacks ca.crt, ca.key, tls.crt or tls.key' : stateProblem(state);
      return { secret, state: problem === undefined ? state : undefined, problem };
    } catch (error) {
      if (isNotFound(error)) return { secret: undefined, state: undefined, problem: undefined };
      throw error;
    }
  }

  /**
   * Replaces the content that was read. @throws an error for which {@link isLostRace} holds if another writer was first
   */
  async write(state: CertificateState, { secret }: StoredState, signal: AbortSignal): Promise<void> {
    const [data, rotatedAt] = [encode(state), new Date(state.rotatedAt).toISOString()];
    if (secret === undefined) {
      const metadata = { ...this.#key, annotations: { [rotatedAtAnnotation]: rotatedAt } };
      await this.#client.create(Secret, { type: 'Opaque', metadata, data }, { signal });
      return;
    }
    const annotations = { ...secret.metadata.annotations, [rotatedAtAnnotation]: rotatedAt };
    const next = { ...secret, metadata: { ...secret.metadata, annotations }, data: { ...secret.data, ...data } };
    await this.#client.update(Secret, next, { signal });
  }
}

/** Reports whether a write failed because another writer was first, in which case the present content counts. */
export function isLostRace(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error) || isNotFound(error);
}

function encode({ authorities, authorityKey, serving }: CertificateState): Record<string, string> {
  const values = {
    'ca.crt': authorities.join(''),
    'ca.key': authorityKey,
    'tls.crt': serving.cert,
    'tls.key': serving.key,
  };
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}

function decode({ data = {}, metadata }: ReadObject<typeof Secret>): CertificateState | undefined {
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString('utf8');
  const found = text('ca.crt').match(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g) ?? [];
  // With a line break each, because they are joined again when they are written.
  const authorities = found.map((pem) => `${pem}\n`);
  const [authorityKey, cert, key] = [text('ca.key'), text('tls.crt'), text('tls.key')];
  if (authorities.length === 0 || authorityKey === '' || cert === '' || key === '') return undefined;
  const rotatedAt = Date.parse(metadata.annotations?.[rotatedAtAnnotation] ?? '');
  return { authorities, authorityKey, serving: { cert, key }, rotatedAt: Number.isNaN(rotatedAt) ? 0 : rotatedAt };
}
