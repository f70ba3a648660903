import { X509Certificate } from 'node:crypto';
import { invalidValue, required, type FieldError } from '../values/field-error.js';
import { isObject, numberOf, objectOf, stringOf } from '../values/json.js';
import { dns1123Subdomain } from '../values/name-rules.js';

const form = '; desired format: https://host[/path]';

/** Parts of a URL as Go splits it; what is missing is ''. */
interface UrlParts {
  readonly scheme: string;
  readonly user: string;
  readonly host: string;
  readonly query: string;
  readonly fragment: string;
}

function splitUrl(url: string): UrlParts | string {
  if (/[\u0000-\u001f\u007f]/.test(url))
    return `parse ${JSON.stringify(url)}: net/url: invalid control character in URL`;
  if (url.startsWith(':')) return `parse ${JSON.stringify(url)}: missing protocol scheme`;
  const [, scheme = '', rest = ''] = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?([^]*)$/.exec(url) ?? [];
  const [, authority, tail = ''] = /^(?:\/\/([^/?#]*))?([^]*)$/.exec(rest) ?? [];
  const at = authority?.lastIndexOf('@') ?? -1;
  const host = authority?.slice(at + 1) ?? '';
  const port = /:([^\]:]*)$/.exec(host)?.[1];
  if (port !== undefined && !/^\d*$/.test(port))
    return `parse ${JSON.stringify(url)}: invalid port ${JSON.stringify(`:${port}`)} after host`;
  const [, , query = '', fragment = ''] = /^([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/.exec(tail) ?? [];
  return { scheme: scheme.toLowerCase(), user: at < 0 ? '' : (authority?.slice(0, at) ?? ''), host, query, fragment };
}

function validateUrl(url: string, field: string): FieldError[] {
  const parts = splitUrl(url);
  if (typeof parts === 'string') return [required(field, `url must be a valid URL: ${parts}${form}`)];
  const { scheme, user, host, query, fragment } = parts;
  const errors: FieldError[] = [];
  if (scheme !== 'https') errors.push(invalidValue(field, scheme, `'https' is the only allowed URL scheme${form}`));
  if (host === '') errors.push(invalidValue(field, host, `host must be specified${form}`));
  if (user !== '') errors.push(invalidValue(field, user, 'user information is not permitted in the URL'));
  if (fragment !== '') errors.push(invalidValue(field, fragment, 'fragments are not permitted in the URL'));
  if (query !== '') errors.push(invalidValue(field, query, 'query parameters are not permitted in the URL'));
  return errors;
}

function validatePath(path: string, field: string): FieldError[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return [invalidValue(field, path, 'segment[0] may not be empty')];
  const errors = path.startsWith('/') ? [] : [invalidValue(field, path, "must start with a '/'")];
  const steps = path.slice(1).replace(/\/$/, '').split('/');
  for (const [index, step] of steps.entries()) {
    if (step === '') errors.push(invalidValue(field, path, `segment[${index}] may not be empty`));
    else for (const why of dns1123Subdomain(step)) errors.push(invalidValue(field, path, `segment[${index}]: ${why}`));
  }
  return errors;
}

function validateService(service: unknown, field: string): FieldError[] {
  const { name, namespace, path, port } = objectOf(service);
  const errors: FieldError[] = [];
  if (stringOf(name) === '') errors.push(required(`${field}.name`));
  if (stringOf(namespace) === '') errors.push(required(`${field}.namespace`));
  const number = numberOf(port) ?? 443;
  if (number < 1 || number > 65_535)
    errors.push(invalidValue(`${field}.port`, number, 'port is not valid: must be between 1 and 65535, inclusive'));
  return [...errors, ...validatePath(stringOf(path), `${field}.path`)];
}

/** Why certificates cannot be read, in the words of Go's transport; undefined if at least one can. */
function bundleProblem(bundle: string): string | undefined {
  const blocks = bundle.match(/-----BEGIN ([A-Z0-9 ]+)-----[^]*?-----END \1-----/g) ?? [];
  if (blocks.length === 0) return 'unable to parse bytes as PEM block';
  const certificates = blocks.filter((block) => block.startsWith('-----BEGIN CERTIFICATE-----'));
  if (certificates.some(isCertificate)) return undefined;
  return certificates.length === 0
    ? 'no valid certificate authority data seen'
    : 'failed to parse certificate: x509: malformed certificate';
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** Validates `caBundle`; an empty one is not checked. */
export function validateCaBundle(bundle: unknown, field: string): FieldError[] {
  const text = stringOf(bundle);
  const problem = text === '' ? undefined : bundleProblem(Buffer.from(text, 'base64').toString('latin1'));
  return problem === undefined ? [] : [invalidValue(field, text, `unable to load root certificates: ${problem}`)];
}

/** Validates the address of a webhook, which must be exactly one of a URL and a Service. */
export function validateWebhookAddress(clientConfig: unknown, field: string): FieldError[] {
  const { url, service } = objectOf(clientConfig);
  const hasUrl = typeof url === 'string';
  if (hasUrl === isObject(service)) return [required(field, 'exactly one of url or service is required')];
  return hasUrl ? validateUrl(url, `${field}.url`) : validateService(service, `${field}.service`);
}
