import type { ReplicaHost } from '../replica/replica-host.js';

/**
 * Name of a replica that was started and has ended several times during a pause; undefined if all run. Without a quiet
 * time nothing else reveals a process that ends as often as it is started.
 */
export async function endsAgain(
  hosts: readonly ReplicaHost[],
  pause: () => Promise<void>,
): Promise<string | undefined> {
  if (hosts.every((host) => host.isAlive)) return undefined;
  const before = new Map(hosts.map((host) => [host, host.incarnation]));
  await pause();
  return hosts.find((host) => host.incarnation - (before.get(host) ?? 0) >= 2)?.name;
}
