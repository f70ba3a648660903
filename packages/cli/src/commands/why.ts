import type { TimelineView } from '@kctl/inspection';
import { aborted, keepAlive } from '@kctl/wait';
import { CliError } from '../errors.js';
import { askState, askTimeline } from '../inspect/inspection-endpoint.js';
import { onInspections, type InspectionOptions } from '../inspect/on-inspections.js';
import type { CliIo } from '../io.js';
import { openUrl } from '../open-url.js';
import { ownCommand } from '../own-command.js';

/** Records of one replica about an object. */
export interface RecordedTimeline extends TimelineView {
  readonly replica: string;
}

/**
 * Returns the records of every replica about an object; replicas without records are left out. @throws CliError if no
 * replica has any
 */
export async function why(io: CliIo, object: string, options: InspectionOptions): Promise<readonly RecordedTimeline[]> {
  const query = parseObject(object);
  const found: RecordedTimeline[] = [];
  await onInspections(io, options, async (replica, base) => {
    const timeline = await askTimeline(io, base, query);
    if (timeline.keys.length + timeline.cycles.length + timeline.writtenBy.length > 0)
      found.push({ replica, ...timeline });
    return true;
  });
  if (found.length === 0)
    throw new CliError(
      `nothing is recorded of ${object}: no event of it led to a run since the operator started, or it was forgotten; check kind, namespace and name: ${ownCommand('inspect')} lists what runs`,
    );
  return found;
}

/** Opens the page of the first replica that serves one, and keeps it reachable until the signal is aborted. */
export async function openPage(io: CliIo, options: InspectionOptions): Promise<void> {
  await onInspections(io, options, async (replica, base) => {
    await askState(io, base);
    io.err(`inspection of ${replica} at ${base}: Ctrl-C ends it\n`);
    openUrl(io, base);
    using _alive = keepAlive();
    await aborted(io.signal);
    return false;
  });
}

/** `deployment/shop/web`, `Deployment.apps/shop/web`, and `namespace/shop` for what has no namespace. */
export function parseObject(argument: string): { readonly kind: string; readonly key: string } {
  const [, kind, key] = /^([^/\s]+)\/([^/\s]+(?:\/[^/\s]+)?)$/.exec(argument) ?? [];
  if (kind === undefined || key === undefined)
    throw new CliError(
      `${JSON.stringify(argument)} is not an object: expected kind, namespace and name, such as deployment/shop/web`,
      { exitCode: 2 },
    );
  return { kind, key };
}
