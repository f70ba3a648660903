import { isBadRequest, isConflict, isForbidden, isInvalid, isNoKindMatch } from '@kctl/apimachinery';
import { messageOf } from '@kctl/telemetry/internal';
import { applyOne, isInMissingNamespace, type ManifestObject } from './apply-objects.js';
import type { OpenCluster } from '../cluster.js';
import { CliError } from '../errors.js';
import type { CliIo } from '../io.js';

/**
 * Applies everything as a dry run, so that a missing kind or right, and an object that the server or a policy refuses,
 * are reported before the first write. All objects are tried.
 *
 * @throws CliError naming each object that cannot be applied
 */
export async function preflight(
  io: Pick<CliIo, 'signal'>,
  cluster: Pick<OpenCluster, 'client' | 'mapper'>,
  objects: readonly ManifestObject[],
): Promise<void> {
  const refused: CliError[] = [];
  for (const object of objects) {
    try {
      await applyOne(io, cluster, object, true);
    } catch (error) {
      if (isInMissingNamespace(object, error) || isOfDryRun(error)) continue;
      if (!(error instanceof CliError) || !isRefusal(error.cause)) throw error;
      refused.push(error);
    }
  }
  const [first] = refused;
  if (first === undefined) return;
  throw new CliError(`nothing was changed: ${refused.map((each) => messageOf(each)).join('; ')}`, {
    cause: first.cause,
  });
}

/** Whether the object is refused. Other errors, such as a lost connection, are of all requests. */
function isRefusal(error: unknown): boolean {
  return [isNoKindMatch, isForbidden, isInvalid, isBadRequest, isConflict].some((is) => is(error));
}

/** Whether a webhook of others cannot judge a dry run. */
function isOfDryRun(error: unknown): boolean {
  return error instanceof CliError && isBadRequest(error.cause) && error.message.includes('does not support dry run');
}
