import {
  booleanOption,
  clockOption,
  listOption,
  numberOption,
  objectOption,
  optionProblems,
  oneOfOption,
  requireOptions,
  textOption,
  type OptionCheck,
  type OptionNames,
} from '@kctl/options';
import type {
  ApiServerOptions,
  ControllerSwitches,
  ServiceAccountOptions,
  StaticToken,
  WorkerServerOptions,
} from './api-server-options.js';

const controllerNames: OptionNames<ControllerSwitches> = {
  garbageCollection: booleanOption,
  namespaces: booleanOption,
  serviceAccounts: booleanOption,
  volumeProtection: booleanOption,
  clusterRoleAggregation: booleanOption,
};

const serviceAccountNames: OptionNames<ServiceAccountOptions> = {
  issuer: true,
  audiences: listOption('a list of names', textOption),
  signingKey: textOption,
  publicKeys: listOption('a list of PEM strings', textOption),
  jwksUri: textOption,
  maxTokenSeconds: numberOption({ above: 0, orInfinity: true }),
  podAdmission: booleanOption,
};

const tokenNames: OptionNames<StaticToken> = {
  token: textOption,
  user: textOption,
  groups: listOption('a list of names', textOption),
};

/** A user without a name is not one that a binding can name. */
const tokenOption: OptionCheck = (name, value) => {
  const [problem] = optionProblems(value ?? null, tokenNames, name);
  if (problem !== undefined || typeof value !== 'object' || value === null) return problem;
  const missing = ['token', 'user'].find((field) => (Reflect.get(value, field) ?? '') === '');
  return missing === undefined ? undefined : `${name}.${missing} is not set: expected a string`;
};

/** Durations and sizes, for which a NaN would be a limit that nothing meets, or that everything does. */
const amount = numberOption({ orInfinity: true });

const optionNames: OptionNames<ApiServerOptions> = {
  host: textOption,
  port: numberOption({ most: 65_535, integer: true }),
  listen: booleanOption,
  dataDir: textOption,
  fsync: booleanOption,
  serverNames: listOption('a list of DNS names and addresses', textOption),
  servingCertificate: objectOption('a key and its certificate'),
  clientAuthorities: listOption('a list of PEM strings', textOption),
  tokens: listOption('a list of users with their tokens', tokenOption),
  anonymous: booleanOption,
  authorization: oneOfOption('AlwaysAllow', 'RBAC'),
  clock: clockOption,
  random: true,
  seed: true,
  bookmarkIntervalMs: amount,
  historyEvents: amount,
  historyMs: amount,
  maxWatchBufferBytes: amount,
  maxBodyBytes: amount,
  requestTimeoutMs: amount,
  stopGraceMs: amount,
  resolveService: true,
  webhookTransport: true,
  serviceAccounts: (name: string, value: unknown) => optionProblems(value, serviceAccountNames, name)[0],
  controllers: (name: string, value: unknown) =>
    typeof value === 'boolean' ? undefined : optionProblems(value, controllerNames, name)[0],
  controllerDelayMs: amount,
  journalEntries: amount,
  logger: true,
};

const failoverNames: OptionNames<{ readonly downMs?: number }> = { downMs: numberOption() };

/** Returns how long a failover is to take. @throws TypeError for options that are not known */
export function failoverMs(options: { readonly downMs?: number }): number {
  requireOptions('failover', options, failoverNames);
  return options.downMs ?? 0;
}

/** Refuses unknown options, because a server with `authorisation: 'RBAC'` would allow everything. @throws TypeError */
export function checkServerOptions(options: ApiServerOptions | WorkerServerOptions, what = 'createApiServer'): void {
  requireOptions(what, options, optionNames);
}
