/**
 * Admission, conversion and token review webhooks on a TLS server that reloads its certificate.
 *
 * @packageDocumentation
 */
export { admissionWebhook } from './admission/admission-webhook.js';
export type { AdmissionHandler } from './admission/admission-webhook.js';
export { allowed, denied, errored, patched, withWarnings } from './admission/review.js';
export type { AdmissionRequest, AdmissionResponse, ReviewKind, ReviewResource, UserInfo } from './admission/review.js';
export { defaultingWebhook, validatingWebhook } from './admission/typed.js';
export type { AdmissionContext, Defaulter, ValidationOutcome, Validator } from './admission/typed.js';
export { tokenReviewWebhook } from './authentication/token-review.js';
export type { TokenAuthenticator, TokenVerdict } from './authentication/token-review.js';
export { conversionWebhook } from './conversion/conversion-webhook.js';
export type { Converter } from './conversion/conversion-webhook.js';
export { isWebhookServerError, WebhookServerError } from './errors.js';
export { createCertificateWatcher } from './server/certificate-watcher.js';
export type { CertificateWatcher, CertificateWatcherOptions, KeyPair } from './server/certificate-watcher.js';
export type { WebhookAnswer, WebhookHandler, WebhookRequest } from './server/handler.js';
export { createWebhookServer } from './server/webhook-server.js';
export type { WebhookServer, WebhookServerOptions } from './server/webhook-server.js';
