/**
 * Certificates that a process makes itself. A separate entry, because most servers have files.
 *
 * @packageDocumentation
 */
export { createCertificateAuthority } from './certificate-authority.js';
export type { CertificateAuthority, CertificateAuthorityOptions } from './certificate-authority.js';
export { signCertificate } from './sign-certificate.js';
export type { CertificateFields, PemPair } from './sign-certificate.js';
