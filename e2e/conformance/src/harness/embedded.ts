/** The server of @kctl/apiserver, in this process. */
import type { Target } from './target.js';

export async function startEmbedded(_other: { token: string; user: string }): Promise<Target> {
  throw new Error('the embedded server is not part of this checkout yet');
}
