/**
 * A test environment for controllers, with an embedded, a real or an existing API server, CRD installation and
 * assertions.
 *
 * @packageDocumentation
 */
export type { CrdSource } from './crd-sources.js';
export { createEnvironment } from './environment.js';
export type { EnvironmentOptions, EnvironmentServer, TestEnvironment } from './environment.js';
export { equalObject, objectDifferences } from './equal-object.js';
export type { EqualObjectOptions, ObjectDifference, ObjectMatcher } from './equal-object.js';
export { eventually } from './eventually.js';
export type { EventuallyOptions } from './eventually.js';
export { createFakeControllerSource } from './fake-controller-source.js';
export type { ChangeOptions, FakeControllerSource, SourceCall } from './fake-controller-source.js';
export { installCrds } from './install-crds.js';
export type { CrdClient } from './install-crds.js';
export { prepareWebhooks } from './install-webhooks.js';
export type {
  InstallWebhooksOptions,
  LocalWebhooks,
  WebhookClient,
  WebhookConfiguration,
  WebhookServing,
} from './install-webhooks.js';
export { createOperatorAccess } from './operator-access.js';
export type { OperatorAccess, OperatorAccessOptions } from './operator-access.js';
export type { ApiServerBinaries } from './real/binaries.js';
export type {
  CertificateAndKey,
  CertificateAuthority,
  CertificateSubject,
  ServingSubject,
} from './real/certificates.js';
export { EnvironmentStartError, isNoBinaries, NoBinariesError } from './real/errors.js';
export type { StaticToken } from './real/pki.js';
export type { RealApiServer, RealApiServerOptions } from './real/real-api-server.js';
export type { ControlPlaneTimeouts } from './real/timeouts.js';
export { dumpNamespace } from './run-operator/dump-namespace.js';
export { runOperator } from './run-operator/run-operator.js';
export type { OperatorRun, RunOperatorOptions } from './run-operator/run-operator.js';
export type { TestUser, TestUserOptions } from './test-users.js';
export { uninstallCrds } from './uninstall-crds.js';
export { createCertificateAuthority } from './real/certificates.js';
export { findBinaries } from './real/binaries.js';
export { startRealApiServer } from './real/real-api-server.js';
