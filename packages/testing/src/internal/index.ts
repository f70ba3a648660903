/**
 * Parts that the packages of kctl share. They may change in any release.
 *
 * @packageDocumentation
 */
export { findBinaries } from '../real/binaries.js';
export { createCertificateAuthority } from '../real/certificates.js';
export { startRealApiServer } from '../real/real-api-server.js';
