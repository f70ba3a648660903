/**
 * Certificates that a process makes itself. A separate entry, because most servers have files.
 *
 * @packageDocumentation
 */
export { createCertificateAuthority } from '../certificates/certificate-authority.js';
export type { CertificateAuthority, CertificateAuthorityOptions } from '../certificates/certificate-authority.js';
export { signCertificate } from '../certificates/sign-certificate.js';
export type { CertificateFields, PemPair } from '../certificates/sign-certificate.js';
