/** The parameters of requests, as OpenAPI documents list them. */

type ParameterType = 'boolean' | 'integer' | 'string';

/** A parameter in the path or the query of a request. */
export interface Parameter {
  readonly in: 'path' | 'query';
  readonly type: ParameterType;
  readonly description: string;
}

const query = (type: ParameterType, description: string): Parameter => ({ in: 'query', type, description });
const path = (description: string): Parameter => ({ in: 'path', type: 'string', description });

const parameters: ReadonlyMap<string, Parameter> = new Map(
  Object.entries({
    allowWatchBookmarks: query('boolean', 'Adds events of type BOOKMARK to a watch.'),
    continue: query('string', 'Token of a previous answer: the next page of that list.'),
    dryRun: query('string', 'All: validates the request and changes nothing.'),
    fieldManager: query('string', 'Name of the client that owns the fields of this write.'),
    fieldSelector: query('string', 'Selects objects by their fields.'),
    fieldValidation: query('string', 'What becomes of unknown and duplicate fields: Ignore, Warn or Strict.'),
    force: query('boolean', 'Takes fields that other managers own; for apply only.'),
    gracePeriodSeconds: query('integer', 'Seconds before the object is removed.'),
    ignoreStoreReadErrorWithClusterBreakingPotential: query(
      'boolean',
      'Removes an object that cannot be read from the storage.',
    ),
    labelSelector: query('string', 'Selects objects by their labels.'),
    limit: query('integer', 'Greatest number of objects in one answer.'),
    orphanDependents: query('boolean', 'Deprecated: propagationPolicy replaces it.'),
    pretty: query('string', 'Prints the answer with indentation.'),
    propagationPolicy: query('string', 'What becomes of dependents: Orphan, Background or Foreground.'),
    resourceVersion: query('string', 'Revision that the answer is to have, or to be newer than.'),
    resourceVersionMatch: query('string', 'How resourceVersion is applied to a list: Exact or NotOlderThan.'),
    sendInitialEvents: query('boolean', 'Starts a watch with the present objects and a bookmark.'),
    shardSelector: query('string', 'Selects objects by a range of hashes.'),
    timeoutSeconds: query('integer', 'Ends a list or watch after this time.'),
    watch: query('boolean', 'Answers with a stream of changes.'),
    name: path('Name of the object.'),
    namespace: path('Namespace of the object.'),
    logpath: path('Path of the log.'),
    path: query('string', 'Path of the request that is passed on.'),
    command: query('string', 'Command and arguments that are executed.'),
    container: query('string', 'Name of the container.'),
    stdin: query('boolean', 'Connects standard input.'),
    stdout: query('boolean', 'Connects standard output.'),
    stderr: query('boolean', 'Connects standard error.'),
    tty: query('boolean', 'Allocates a terminal.'),
    ports: query('integer', 'Ports that are forwarded.'),
    follow: query('boolean', 'Continues with new lines of the log.'),
    insecureSkipTLSVerifyBackend: query('boolean', 'Accepts any certificate of the kubelet.'),
    limitBytes: query('integer', 'Greatest number of bytes of the log.'),
    previous: query('boolean', 'Reads the log of the previous container.'),
    sinceSeconds: query('integer', 'Reads the log of this many last seconds.'),
    stream: query('string', 'Which stream of the log is read: All, Stdout or Stderr.'),
    tailLines: query('integer', 'Reads this many last lines of the log.'),
    timestamps: query('boolean', 'Starts each line of the log with its time.'),
  }),
);

/** @throws RangeError for a name that no request has */
export function parameterOf(name: string): Parameter {
  const found = parameters.get(name);
  if (found === undefined) throw new RangeError(`OpenAPI: there is no parameter ${JSON.stringify(name)}`);
  return found;
}

/** Parameters of lists. */
export const listParameters: readonly string[] = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'shardSelector',
  'timeoutSeconds',
  'watch',
];
/** Parameters of creates and updates. */
export const writeParameters: readonly string[] = ['dryRun', 'fieldManager', 'fieldValidation'];
/** Parameters of deletes. */
export const deleteParameters: readonly string[] = [
  'dryRun',
  'gracePeriodSeconds',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'orphanDependents',
  'propagationPolicy',
];

const phrases: Readonly<Record<string, string>> = {
  get: 'Reads',
  list: 'Lists or watches',
  watch: 'Watches',
  watchlist: 'Watches a list of',
  post: 'Creates',
  put: 'Replaces',
  patch: 'Changes a part of',
  delete: 'Deletes',
  deletecollection: 'Deletes a collection of',
  connect: 'Connects to',
};

/** What an operation does, in one sentence: `Replaces status of Deployment`. */
export function operationDescription(action: string, kind: string, subresource: string): string {
  const of = subresource === '' ? '' : `${subresource} of `;
  return `${phrases[action] ?? action} ${of}${kind}`;
}
