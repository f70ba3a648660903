import { Event } from '@kctl/apimachinery/kinds/core/v1';
import { requireClient } from '@kctl/client/internal';
import type { Reader, ReadObject } from '@kctl/client';
import { requireOptions, signalOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';
import { referenceTo } from './event.js';
import type { EventSubject } from './event.js';

/** Options of {@link eventsOf}. */
export interface EventsOfOptions {
  readonly signal?: AbortSignal;
}

const optionNames: OptionNames<EventsOfOptions> = { signal: signalOption };

/**
 * Returns the events about an object that the server still has, of both APIs, oldest first, as `kubectl describe` shows
 * them. Events are looked up by kind, namespace and name, and by uid if the object has one, so that those of an earlier
 * object of the same name are left out; those of the kubelet about a Node are found by the name. Mirrors
 * `Events(namespace).Search` of client-go.
 *
 * @param client - reads live, because a cache of all events would be large; pass `manager.apiReader` or an HTTP client
 * @throws TypeError if the object has no apiVersion, kind or name; the error of the list
 */
export async function eventsOf(
  client: Pick<Reader, 'list'>,
  object: EventSubject,
  options: EventsOfOptions = {},
): Promise<ReadObject<typeof Event>[]> {
  requireClient('eventsOf', client, ['list']);
  requireOptions('eventsOf', options, optionNames);
  const { kind = '', name = '', namespace = '', uid = '' } = referenceTo(object);
  const fields = {
    'involvedObject.kind': kind,
    'involvedObject.name': name,
    ...(namespace === '' ? {} : { 'involvedObject.namespace': namespace }),
    ...(uid === '' ? {} : { 'involvedObject.uid': uid }),
  };
  const eventsWith = async (selector: Record<string, string>): Promise<ReadObject<typeof Event>[]> => {
    // Events about cluster-scoped objects are in this namespace.
    const within = { namespace: namespace === '' ? 'default' : namespace, fieldSelector: selector };
    const { signal } = options;
    const { items } = await client.list(Event, signal === undefined ? within : { ...within, signal });
    return items;
  };
  const items = [...(await eventsWith(fields))];
  // The kubelet takes the name of its node for the uid, as kubectl knows.
  const isNode = kind === 'Node' && namespace === '' && uid !== '' && uid !== name;
  if (isNode) items.push(...(await eventsWith({ ...fields, 'involvedObject.uid': name })));
  return [...items].sort((a, b) => lastSeen(a) - lastSeen(b));
}

function lastSeen({ series, lastTimestamp, eventTime, metadata }: ReadObject<typeof Event>): number {
  const time = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp;
  return time === undefined ? 0 : Date.parse(time);
}
