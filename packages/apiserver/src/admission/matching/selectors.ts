import { isEmptySelector, selectorMatches } from '../../resource/label-selector.js';
import { notFound } from '../../protocol/status.js';
import { selectedLabels } from '../../registry/unread-metadata.js';
import type { Store } from '../../storage/store.js';
import type { AdmissionWrite } from '../write.js';

const isNamespaces = ({ resource }: AdmissionWrite): boolean => resource.resource === 'namespaces';

/** The labels that a namespaceSelector looks at. @throws StatusError 404 */
function namespaceLabels(store: Store, write: AdmissionWrite): unknown {
  const { operation, subresource, namespace, object } = write;
  const isOwn = isNamespaces(write) && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE');
  if (isOwn) return object?.metadata.labels;
  const found = store.table('/namespaces').get(namespace);
  if (found === undefined) throw notFound({ group: '', plural: 'namespaces' }, namespace);
  return found.object.metadata.labels;
}

/**
 * Whether the namespace of a write satisfies a selector. Cluster-scoped objects other than namespaces always do.
 *
 * @throws StatusError 404 when there is no such namespace
 */
export function namespaceMatches(store: Store, selector: unknown, write: AdmissionWrite): boolean {
  if ((write.namespace === '' && !isNamespaces(write)) || isEmptySelector(selector)) return true;
  return selectorMatches(selector, namespaceLabels(store, write));
}

/** Whether the object of a write, as it is to be or as it was, satisfies a selector. */
export function objectMatches(selector: unknown, { operation, object, oldObject }: AdmissionWrite): boolean {
  if (isEmptySelector(selector)) return true;
  // Options have no labels. As upstream, even a selector that requires a label to be absent does not select them.
  if (operation === 'CONNECT') return false;
  return [object, oldObject].some((each) => each !== undefined && selectorMatches(selector, selectedLabels(each)));
}
