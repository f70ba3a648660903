import {
  listOption,
  nearestName,
  objectOption,
  shownType,
  textOption,
  unknownOptions,
  type OptionNames,
} from '@kctl/options';
import type { Connection, Impersonation, ProxyUser, UserConnection } from './connection.js';

/** Fields of a user that hold a string; an empty one results from a variable that is not set. */
const userTexts = [
  'token',
  'tokenFile',
  'username',
  'certificateFile',
  'keyFile',
] as const satisfies readonly (keyof UserConnection)[];

const connectionNames: OptionNames<Connection> = {
  server: true,
  ca: true,
  caFile: true,
  tlsServerName: true,
  insecureSkipTlsVerify: true,
  proxyUrl: true,
  proxyUser: true,
  disableCompression: true,
  namespace: true,
  user: true,
  dial: true,
  newDispatcher: true,
  observe: true,
};
const userNames: OptionNames<UserConnection> = {
  certificate: true,
  certificateFile: true,
  key: true,
  keyFile: true,
  token: true,
  tokenFile: true,
  username: true,
  password: true,
  exec: true,
  oidc: true,
  provider: true,
  impersonate: true,
};
const proxyUserNames: OptionNames<ProxyUser> = { name: true, password: true };

/**
 * Refuses a connection whose requests would be sent as another user than the one it describes, or would trust other
 * servers. Empty or incomplete fields count as missing, and without them requests are anonymous. As client-go does for
 * a kubeconfig.
 *
 * @throws TypeError naming every field, and none of their values
 */
export function requireConnection(connection: Connection): void {
  const given: unknown = connection;
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`connection is ${shownType(given)}: expected { server, ca, user }`);
  const { ca, caFile, user } = connection;
  const problems = [
    ...unknownFields(connection),
    ...(isObject(connection.proxyUser)
      ? unknownOptions(connection.proxyUser, Object.keys(proxyUserNames), 'proxyUser.')
      : []),
    serverProblem(connection.server),
    pemProblem('ca', ca, 'to trust the authorities of the system'),
    textProblem('caFile', caFile, 'to trust the authorities of the system'),
    verificationProblem(connection),
    ...(user === undefined ? [] : userProblems(user)),
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new TypeError(`connection: ${problems.join('; ')}`);
}

/**
 * Refuses an impersonation of no user, or of unintended ones. Without a name the API server ignores the headers, and
 * requests are sent as the real user; a string in place of groups would make each letter a group.
 *
 * @param where names the field, at the beginning of the message, e.g. `connection.user.impersonate`
 * @throws TypeError
 */
export function requireImpersonation(subject: string, impersonate: Impersonation | undefined): void {
  if (impersonate === undefined) return;
  const given: object = isObject(impersonate) ? impersonate : {};
  const unknown = unknownOptions(given, ['userName', 'uid', 'groups', 'extra'], `${subject}.`);
  if (unknown.length > 0) throw new TypeError(unknown.join('; '));
  const { userName, uid, groups, extra }: Partial<Record<keyof Impersonation, unknown>> = given;
  if (typeof userName !== 'string' || userName.trim() === '') {
    const problem = typeof userName === 'string' ? 'is blank' : 'is not set';
    throw new TypeError(`${subject}.userName ${problem}: set it, or leave ${subject} out to act as the user itself`);
  }
  const problem =
    (uid === undefined ? undefined : textOption(`${subject}.uid`, uid)) ??
    (groups === undefined ? undefined : namesOption(`${subject}.groups`, groups)) ??
    (extra === undefined ? undefined : extraProblem(`${subject}.extra`, extra));
  if (problem !== undefined) throw new TypeError(problem);
}

/**
 * What carries a connection may have more fields. One that is nearly a field of a connection, or one of its user beside no
 * user, is a mistake.
 */
function unknownFields(connection: Connection): string[] {
  const known = Object.keys(connectionNames);
  const isMistake = (name: string): boolean =>
    nearestName(name, known) !== undefined || (connection.user === undefined && name in userNames);
  const others = Object.keys(connection).filter((name) => !isMistake(name));
  return unknownOptions(connection, [...known, ...others]);
}

const namesOption = listOption('a list of strings', textOption);

function extraProblem(subject: string, extra: unknown): string | undefined {
  return (
    objectOption('an object of lists of strings')(subject, extra) ??
    Object.entries(isObject(extra) ? extra : {})
      .map(([key, values]) => namesOption(`${subject}[${JSON.stringify(key)}]`, values))
      .find((problem) => problem !== undefined)
  );
}

function serverProblem(server: unknown): string | undefined {
  if (typeof server === 'string' && server.trim() !== '') return undefined;
  const shown = typeof server === 'string' ? 'blank' : shownType(server);
  return `server is ${shown}: expected a URL, such as https://10.0.0.1:6443`;
}

/** As in client-go, because a caller that gives an authority does not want every certificate to be accepted. */
function verificationProblem({ ca, caFile, insecureSkipTlsVerify }: Connection): string | undefined {
  const given: unknown = insecureSkipTlsVerify;
  if (given !== undefined && typeof given !== 'boolean')
    return `insecureSkipTlsVerify is ${shownType(given)}: expected true or false`;
  if (given !== true || (ca ?? caFile) === undefined) return undefined;
  return `insecureSkipTlsVerify is set with ${ca === undefined ? 'caFile' : 'ca'}, which would not be used: set one of them`;
}

function userProblems(user: UserConnection): readonly (string | undefined)[] {
  if (!isObject(user)) return [`user is ${shownType(user)}: expected an object`];
  requireImpersonation('connection.user.impersonate', user.impersonate);
  const isAnonymous = 'for requests without it';
  const { certificate, certificateFile, key, keyFile } = user;
  const hasCertificate = (certificate ?? certificateFile) !== undefined;
  const hasKey = (key ?? keyFile) !== undefined;
  return [
    ...unknownOptions(user, Object.keys(userNames), 'user.'),
    ...userTexts.map((field) => textProblem(`user.${field}`, user[field], isAnonymous)),
    pemProblem('user.certificate', certificate, isAnonymous),
    pemProblem('user.key', key, isAnonymous),
    hasCertificate && !hasKey
      ? 'user.certificate is set without user.key: set both (or certificateFile and keyFile), or none'
      : undefined,
  ];
}

function textProblem(field: string, value: unknown, without: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string') return `${field} is ${shownType(value)}: expected a string`;
  return value.trim() === '' ? `${field} is blank: set it, or leave it out ${without}` : undefined;
}

function pemProblem(field: string, value: unknown, without: string): string | undefined {
  if (!(value instanceof Uint8Array)) return textProblem(field, value, without);
  return value.length === 0 ? `${field} is blank: set it, or leave it out ${without}` : undefined;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
