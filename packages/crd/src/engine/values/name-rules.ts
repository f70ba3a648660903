/** Rules for names and keys, with the messages of `k8s.io/apimachinery/pkg/util/validation`. Each returns what is wrong. */

/** Validates a name; `isPrefix` when it is a `generateName`, whose last character may be anything the body of a name may hold. */
export type NameRule = (name: string, isPrefix?: boolean) => string[];

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualifiedName = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValue = `(${qualifiedName})?`;

function matcher(pattern: string): RegExp {
  return new RegExp(`^(?:${pattern})$`);
}

const labelPattern = matcher(label);
const subdomainPattern = matcher(subdomain);
const label1035Pattern = matcher(label1035);
const qualifiedNamePattern = matcher(qualifiedName);
const labelValuePattern = matcher(labelValue);

function maxBytes(limit: number): string {
  return `must be no more than ${limit} bytes`;
}

function maxCharacters(limit: number): string {
  return `must be no more than ${limit} characters`;
}

/** The message for a string that does not match, in upstream's words. */
export function regexError(message: string, pattern: string, ...examples: readonly string[]): string {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return shown === ''
    ? `${message} (regex used for validation is '${pattern}')`
    : `${message} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

/** `must be between 1 and 65535, inclusive`. */
export function rangeError(low: number, high: number): string {
  return `must be between ${low} and ${high}, inclusive`;
}

/** A DNS-1123 label: `my-name`. */
export function dns1123Label(value: string): string[] {
  const errors = value.length > 63 ? [maxCharacters(63)] : [];
  if (labelPattern.test(value)) return errors;
  errors.push(
    subdomainPattern.test(value)
      ? 'must not contain dots'
      : regexError(
          "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
          label,
          'my-name',
          '123-abc',
        ),
  );
  return errors;
}

/** A DNS-1123 subdomain: `example.com`. */
export function dns1123Subdomain(value: string): string[] {
  const errors = value.length > 253 ? [maxCharacters(253)] : [];
  if (!subdomainPattern.test(value)) {
    errors.push(
      regexError(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        subdomain,
        'example.com',
      ),
    );
  }
  return errors;
}

/** A DNS-1035 label: `my-name`, starting with a letter. */
export function dns1035Label(value: string): string[] {
  const errors = value.length > 63 ? [maxCharacters(63)] : [];
  if (!label1035Pattern.test(value)) {
    errors.push(
      regexError(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        label1035,
        'my-name',
        'abc-123',
      ),
    );
  }
  return errors;
}

const qualifiedNameMessage =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/** A label key: `example.com/MyName`. */
export function labelKey(value: string): string[] {
  const parts = value.split('/');
  const explained = regexError(qualifiedNameMessage, qualifiedName, 'MyName', 'my.name', '123-abc');
  if (parts.length > 2) {
    return [`a valid label key ${explained} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const errors: string[] = [];
  const name = parts.at(-1) ?? '';
  if (parts.length === 2) {
    const [prefix = ''] = parts;
    if (prefix === '') errors.push('prefix part must be non-empty');
    else
      errors.push(
        ...dns1123Subdomain(prefix).map(
          (message) => `prefix part ${message.replace(/^(must be no more than \d+) characters$/, '$1 bytes')}`,
        ),
      );
  }
  if (name === '') errors.push('name part must be non-empty');
  else if (name.length > 63) errors.push(`name part ${maxBytes(63)}`);
  if (!qualifiedNamePattern.test(name)) errors.push(`name part ${explained}`);
  return errors;
}

/** A label value. */
export function validLabelValue(value: string): string[] {
  const errors = value.length > 63 ? [maxBytes(63)] : [];
  if (!labelValuePattern.test(value)) {
    errors.push(
      regexError(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        labelValue,
        'MyValue',
        'my_value',
        '12345',
      ),
    );
  }
  return errors;
}

/** A key of a ConfigMap or Secret. */
export function configMapKey(value: string): string[] {
  const errors = value.length > 253 ? [maxCharacters(253)] : [];
  if (!/^[-._a-zA-Z0-9]+$/.test(value)) {
    errors.push(
      regexError(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
        '[-._a-zA-Z0-9]+',
        'key.name',
        'KEY_NAME',
        'key-name',
      ),
    );
  }
  if (value === '.') errors.push("must not be '.'");
  else if (value === '..') errors.push("must not be '..'");
  else if (value.startsWith('..')) errors.push("must not start with '..'");
  return errors;
}

/** A port name: `http`. */
export function portName(value: string): string[] {
  const errors: string[] = value.length > 15 ? [maxCharacters(15)] : [];
  if (!/^[-a-z0-9]+$/.test(value)) {
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(value)) errors.push('must contain at least one letter (a-z)');
  if (value.includes('--')) errors.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) errors.push('must not begin or end with a hyphen');
  return errors;
}

/** Validates a URL path segment, such as an RBAC name. */
export function pathSegment(name: string, isPrefix = false): string[] {
  if (!isPrefix && (name === '.' || name === '..')) return [`may not be '${name}'`];
  return ['/', '%'].filter((bad) => name.includes(bad)).map((bad) => `may not contain '${bad}'`);
}

/** A generated name's last characters are appended later, so a trailing dash or dot of the prefix is valid. */
function maskTrailing(name: string): string {
  return name.length > 1 && name.endsWith('-') ? `${name.slice(0, -2)}a` : name;
}

/** Name rule of most kinds. */
export const subdomainName: NameRule = (name, isPrefix = false) =>
  dns1123Subdomain(isPrefix ? maskTrailing(name) : name);
/** Name rule of Namespaces and others that become DNS labels. */
export const labelName: NameRule = (name, isPrefix = false) => dns1123Label(isPrefix ? maskTrailing(name) : name);
