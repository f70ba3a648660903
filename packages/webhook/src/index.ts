/**
 * Admission, conversion and token review webhooks on a TLS server that reloads its certificate.
 *
 * @packageDocumentation
 */
export type { AdmissionFilter, RuleOperation } from './admission/admission-filter.js';
export { admissionWebhook } from './admission/admission-webhook.js';
export type {
  AdmissionHandler,
  AdmissionHandlerContext,
  AdmissionWebhookOptions,
} from './admission/admission-webhook.js';
export { chainDefaulters, chainValidators, multiMutatingHandler, multiValidatingHandler } from './admission/chain.js';
export {
  duplicateField,
  forbiddenField,
  invalidError,
  invalidField,
  notFoundField,
  requiredField,
  unsupportedField,
} from './admission/field-error.js';
export type { FieldError, FieldErrorType } from './admission/field-error.js';
export { allowed, denied, errored, patched, validationResponse, withWarnings } from './handler/review.js';
export type {
  AdmissionRequest,
  AdmissionResponse,
  Operation,
  ReviewKind,
  ReviewResource,
  UserInfo,
} from './handler/review.js';
export { mutationRule, validationRule } from './admission/rules.js';
export type { MutationRule, RuleContext, ValidationRule } from './admission/rules.js';
export { defaultingWebhook, validatingWebhook } from './admission/typed.js';
export type {
  AdmissionContext,
  Defaulter,
  TypedWebhookOptions,
  ValidationOutcome,
  Validator,
} from './admission/typed.js';
export { authenticated, tokenReviewWebhook, unauthenticated } from './authentication/token-review.js';
export type { TokenAuthenticator, TokenVerdict } from './authentication/token-review.js';
export { certificateRules } from './certificates/certificate-rules.js';
export type { CertificateRules } from './certificates/certificate-rules.js';
export type { InjectionTargets } from './certificates/inject-ca.js';
export { createSelfManagedCertificates } from './certificates/self-managed.js';
export type { SelfManagedCertificates, SelfManagedCertificatesOptions } from './certificates/self-managed.js';
export { createSelfSignedCertificate } from './certificates/self-signed.js';
export type { SelfSignedOptions } from './certificates/self-signed.js';
export type { PemPair } from './certificates/issue.js';
export { conversionWebhook } from './conversion/conversion-webhook.js';
export type { ConversionContext, Converter, KindConverter } from './handler/converter.js';
export { hubSpokeConverter, spoke } from './conversion/hub-spoke.js';
export type { Converted, Partially, PartialObject, Spoke, SpokeFunctions } from './conversion/hub-spoke.js';
export { roundTripProblems } from './conversion/round-trip.js';
export { isWebhookServerError, WebhookServerError } from './errors.js';
export { applyWebhookManifests } from './manifests/apply-webhook-manifests.js';
export { withConversion } from './manifests/conversion-stanza.js';
export type { ConversionStanzaOptions } from './manifests/conversion-stanza.js';
export { printManifests } from './manifests/print-manifests.js';
export type { AdmissionTarget, Confirmation, WebhookRegistration } from './handler/registration.js';
export { webhookConfigurations } from './manifests/webhook-configurations.js';
export type {
  RegisteredWebhooks,
  WebhookAddress,
  WebhookConfiguration,
  WebhookConfigurationsOptions,
  WebhookTrust,
} from './manifests/webhook-configurations.js';
export type { CertificateSource } from './certificates/certificate-source.js';
export { createCertificateWatcher } from './certificates/certificate-watcher.js';
export type { CertificateWatcher, CertificateWatcherOptions, KeyPair } from './certificates/certificate-watcher.js';
export type { AllowedClients, ClientIdentity } from './handler/client-identity.js';
export type { WebhookAnswer, WebhookHandler, WebhookHttp, WebhookRequest } from './handler/handler.js';
export { standaloneWebhook } from './server/standalone.js';
export type { StandaloneOptions } from './server/standalone.js';
export type { WebhookHttpContext, WebhookHttpHandler } from './server/http-endpoint.js';
export { createWebhookServer } from './server/webhook-server.js';
export type { WebhookServer, WebhookServerOptions } from './server/webhook-server.js';
