import {
  booleanOption,
  clockOption,
  objectOption,
  optionProblems,
  oneOfOption,
  requireOptions,
  textOption,
  type OptionNames,
} from '@kctl/wait';
import type { ApiServerOptions, ControllerSwitches } from './api-server-options.js';

const controllerNames: OptionNames<ControllerSwitches> = {
  garbageCollection: booleanOption,
  namespaces: booleanOption,
  serviceAccounts: booleanOption,
  clusterRoleAggregation: booleanOption,
};

const optionNames: OptionNames<ApiServerOptions> = {
  host: textOption,
  port: true,
  listen: booleanOption,
  dataDir: textOption,
  fsync: booleanOption,
  serverNames: true,
  servingCertificate: objectOption('a key and its certificate'),
  clientAuthorities: true,
  tokens: true,
  anonymous: booleanOption,
  authorization: oneOfOption('AlwaysAllow', 'RBAC'),
  clock: clockOption,
  random: true,
  seed: true,
  bookmarkIntervalMs: true,
  historyEvents: true,
  historyMs: true,
  maxWatchBufferBytes: true,
  maxBodyBytes: true,
  requestTimeoutMs: true,
  stopGraceMs: true,
  resolveService: true,
  webhookTransport: true,
  serviceAccounts: objectOption(),
  controllers: (name: string, value: unknown) =>
    typeof value === 'boolean' ? undefined : optionProblems(value, controllerNames, name)[0],
  controllerDelayMs: true,
  journalEntries: true,
  logger: true,
};

/** Refuses options that are not known: a server with `authorisation: 'RBAC'` would allow everything. @throws TypeError */
export function checkServerOptions(options: ApiServerOptions): void {
  requireOptions('createApiServer', options, optionNames);
}
