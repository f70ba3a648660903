import { formatTime } from '../protocol/go-text.js';
import type { Backend } from '../handlers/call.js';

const systemNamespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system'];

/** Puts the four namespaces into an empty store that every cluster has. */
export function bootNamespaces({ store, clock, newUid }: Backend): void {
  for (const name of systemNamespaces) {
    store.commit({
      table: '/namespaces',
      key: name,
      expected: 0,
      object: {
        kind: 'Namespace',
        apiVersion: 'v1',
        metadata: {
          name,
          uid: newUid(),
          creationTimestamp: formatTime(clock.now()),
          labels: { 'kubernetes.io/metadata.name': name },
        },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      },
    });
  }
}
