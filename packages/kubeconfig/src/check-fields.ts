/**
 * Type of a field, either one of the types of a kubeconfig or the fields of an object. Fields that are not named here
 * are not checked, as in kubectl.
 */
type FieldType =
  | 'text'
  | 'flag'
  | 'texts'
  | 'lists of texts'
  | 'object'
  | readonly [FieldType]
  | { readonly [field: string]: FieldType };

const expectations = {
  text: 'a string (in quotes if it looks like another type)',
  flag: 'true or false, without quotes',
  texts: 'an array of strings',
  'lists of texts': 'an object of arrays of strings',
  object: 'an object',
} as const;

const exec: FieldType = {
  apiVersion: 'text',
  command: 'text',
  args: 'texts',
  env: [{ name: 'text', value: 'text' }],
  installHint: 'text',
  interactiveMode: 'text',
  provideClusterInfo: 'flag',
};

const kubeconfig: FieldType = {
  apiVersion: 'text',
  kind: 'text',
  'current-context': 'text',
  clusters: [
    {
      name: 'text',
      cluster: {
        server: 'text',
        'tls-server-name': 'text',
        'insecure-skip-tls-verify': 'flag',
        'certificate-authority': 'text',
        'certificate-authority-data': 'text',
        'proxy-url': 'text',
        'disable-compression': 'flag',
      },
    },
  ],
  users: [
    {
      name: 'text',
      user: {
        'client-certificate': 'text',
        'client-certificate-data': 'text',
        'client-key': 'text',
        'client-key-data': 'text',
        token: 'text',
        tokenFile: 'text',
        as: 'text',
        'as-uid': 'text',
        'as-groups': 'texts',
        'as-user-extra': 'lists of texts',
        username: 'text',
        password: 'text',
        'auth-provider': 'object',
        exec,
      },
    },
  ],
  contexts: [{ name: 'text', context: { cluster: 'text', user: 'text', namespace: 'text' } }],
};

/**
 * Why a document is not a kubeconfig by kubectl's rules; undefined if it is one. A field of another type would count as
 * missing. With a token of digits, requests would be anonymous; with a list of users to impersonate, they would be
 * those of the real user. No value is quoted, as it may be a secret.
 */
export function fieldProblem(document: unknown): string | undefined {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    return `it is ${shown(document)}: expected an object with clusters, users and contexts`;
  const { apiVersion, kind } = Object.fromEntries(Object.entries(document));
  if (isOther(apiVersion, 'v1')) return 'apiVersion is not v1: is this a kubeconfig?';
  if (isOther(kind, 'Config')) return 'kind is not Config: is this a kubeconfig?';
  return problemIn(document, kubeconfig, '') ?? duplicateIn(document);
}

function isOther(value: unknown, expected: string): boolean {
  return typeof value === 'string' && value !== '' && value !== expected;
}

/** A field without a value counts as one that is not there. */
function problemIn(value: unknown, type: FieldType, path: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof type === 'string')
    return fits(value, type) ? undefined : `${path} is ${shown(value)}: expected ${expectations[type]}`;
  if (isListType(type)) {
    if (!Array.isArray(value)) return `${path} is ${shown(value)}: expected an array`;
    return firstOf(value.map((item: unknown, place) => () => problemIn(item, type[0], `${path}[${place}]`)));
  }
  if (typeof value !== 'object' || Array.isArray(value)) return `${path} is ${shown(value)}: expected an object`;
  const prefix = path === '' ? '' : `${path}.`;
  const fields = new Map<string, unknown>(Object.entries(value));
  return firstOf(
    Object.entries(type).map(
      ([field, of]) =>
        () =>
          problemIn(fields.get(field), of, `${prefix}${field}`),
    ),
  );
}

function isListType(type: FieldType): type is readonly [FieldType] {
  return Array.isArray(type);
}

function firstOf(problems: readonly (() => string | undefined)[]): string | undefined {
  for (const problem of problems) {
    const found = problem();
    if (found !== undefined) return found;
  }
  return undefined;
}

function fits(value: unknown, type: keyof typeof expectations): boolean {
  switch (type) {
    case 'text':
      return typeof value === 'string';
    case 'flag':
      return typeof value === 'boolean';
    case 'texts':
      return Array.isArray(value) && value.every((item) => item === null || typeof item === 'string');
    case 'lists of texts':
      return isObject(value) && Object.values(value).every((list) => list === null || fits(list, 'texts'));
    case 'object':
      return isObject(value);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of several files the first entry of a name counts; in one file kubectl refuses the second. */
function duplicateIn(document: object): string | undefined {
  for (const list of ['clusters', 'users', 'contexts']) {
    const entries: unknown = Reflect.get(document, list);
    const seen = new Set<unknown>();
    for (const [place, entry] of (Array.isArray(entries) ? entries : []).entries()) {
      const name: unknown = isObject(entry) ? Reflect.get(entry, 'name') : undefined;
      if (seen.has(name)) return `${list}[${place}].name is that of an entry before: rename one, or take one out`;
      seen.add(name);
    }
  }
  return undefined;
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return 'empty';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'boolean' ? 'true or false' : `a ${typeof value === 'string' ? 'text' : typeof value}`;
}
