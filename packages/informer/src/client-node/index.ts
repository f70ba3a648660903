/**
 * A bridge from `@kubernetes/client-node`: a ListerWatcher over its `KubeConfig`, and the JSON form of its models. The
 * package itself is not imported. `@kctl/client-http`, an optional peer dependency, makes the requests.
 *
 * @packageDocumentation
 */
export { jsonOf } from './json-of.js';
export type { JsonOf } from './json-of.js';
export { listerWatcherFromClientNode } from './lister-watcher.js';
