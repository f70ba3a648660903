import { compareResourceVersions, type KubeObject } from '@kctl/apimachinery';
import type { InformerEvent, InformerEventHandler } from '@kctl/informer';

/** A handler that knows which histories are legal. */
export interface Witness<T extends KubeObject> extends InformerEventHandler<T> {
  readonly name: string;
  /** What must be there according to the events alone: versions by name. */
  readonly known: ReadonlyMap<string, string>;
  readonly events: number;
  /** From now on every event is one too many. */
  close(): void;
}

/** @param illegal called with each event that cannot follow what came before it */
export function createWitness<T extends KubeObject>(
  name: string,
  illegal: (message: string) => void,
  pause?: () => Promise<void>,
): Witness<T> {
  const known = new Map<string, string>();
  let events = 0;
  let isClosed = false;
  const look = ({ type, header, oldHeader, object }: InformerEvent<T>): void => {
    const { name: about, resourceVersion } = header;
    const complain = (message: string): void =>
      illegal(`${name}: ${type} of ${about} at ${resourceVersion}: ${message}`);
    events++;
    if (isClosed) complain('after the handler was removed');
    const before = known.get(about);
    if (type === 'add' && before !== undefined) complain(`it was there already, at ${before}`);
    if (type !== 'add' && before === undefined) complain('it was never added');
    if (type === 'update' && oldHeader?.resourceVersion !== before)
      complain(`the old version is ${oldHeader?.resourceVersion ?? 'unset'}, seen was ${before ?? 'none'}`);
    if (type === 'update' && before !== undefined && compareResourceVersions(resourceVersion, before) !== 'newer')
      complain(`it is not newer than ${before}`);
    if (events % 8 === 0 && object.metadata.resourceVersion !== resourceVersion)
      complain(`its object is of version ${object.metadata.resourceVersion ?? 'unset'}`);
    if (type === 'delete') known.delete(about);
    else known.set(about, resourceVersion);
  };
  return {
    name,
    known,
    get events() {
      return events;
    },
    close: () => {
      isClosed = true;
    },
    onEvent: (event) => {
      look(event);
      return pause?.();
    },
  };
}
