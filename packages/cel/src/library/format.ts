import type { FunctionEntry } from '../check/functions.js';
import { structType, type CelType } from '../types/type.js';
import { parseBase64 } from '../values/base64.js';
import { ArrayList } from '../values/list.js';
import { parseRfc3339 } from '../values/time.js';
import { Failure, LibraryValue, noSuchOverload, Optional, type Value } from '../values/value.js';
import { parseUrl } from './url.js';

type Validate = (text: string) => string[];

class FormatValue extends LibraryValue {
  override readonly type: CelType = structType('kubernetes.NamedFormat');
  readonly formatName: string;
  readonly validate: Validate;
  /** Size with which the cost of a validation is calculated. */
  readonly maxRegexSize: number;

  constructor(formatName: string, maxRegexSize: number, validate: Validate) {
    super();
    this.formatName = formatName;
    this.maxRegexSize = maxRegexSize;
    this.validate = validate;
  }

  override equals(other: Value): boolean {
    return other instanceof FormatValue && other.formatName === this.formatName;
  }
}

const label1123 = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain1123 = `${label1123}(\\.${label1123})*`;
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

interface Rule {
  readonly pattern: string;
  readonly maxLength: number;
  readonly text: string;
}

const rules = {
  label1123: {
    pattern: label1123,
    maxLength: 63,
    text: `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${label1123}')`,
  },
  subdomain1123: {
    pattern: subdomain1123,
    maxLength: 253,
    text: `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${subdomain1123}')`,
  },
  label1035: {
    pattern: label1035,
    maxLength: 63,
    text: `a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${label1035}')`,
  },
  labelValue: {
    pattern: `(${qualified})?`,
    maxLength: 63,
    text: `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(${qualified})?')`,
  },
} satisfies Readonly<Record<string, Rule>>;

/** Whether the string conforms to the rule, matched part by part so that no regular expression backtracks. */
function conforms(text: string, rule: Rule): boolean {
  switch (rule) {
    case rules.subdomain1123:
      return text.split('.').every((part) => /^[a-z0-9-]+$/.test(part) && !part.startsWith('-') && !part.endsWith('-'));
    case rules.label1123:
      return /^[a-z0-9-]+$/.test(text) && !text.startsWith('-') && !text.endsWith('-');
    case rules.label1035:
      return /^[a-z][a-z0-9-]*$/.test(text) && !text.endsWith('-');
    default:
      return text === '' || (/^[A-Za-z0-9][-A-Za-z0-9_.]*$/.test(text) && /[A-Za-z0-9]$/.test(text));
  }
}

function byRule(rule: Rule, isPrefix: boolean): Validate {
  return (whole) => {
    const text = isPrefix && whole.endsWith('-') ? `${whole.slice(0, -1)}a` : whole;
    const problems: string[] = [];
    if (text.length > rule.maxLength) problems.push(`must be no more than ${rule.maxLength} characters`);
    if (!conforms(text, rule)) problems.push(rule.text);
    return problems;
  };
}

const namePart = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualified}')`;

function qualifiedName(text: string): string[] {
  const parts = text.split('/');
  const problems: string[] = [];
  const [first = '', second] = parts;
  if (parts.length > 2) {
    return [
      `a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${qualified}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = second ?? first;
  if (second !== undefined) {
    if (first === '') problems.push('prefix part must be non-empty');
    else problems.push(...byRule(rules.subdomain1123, false)(first).map((problem) => `prefix part ${problem}`));
  }
  if (name === '') problems.push('name part must be non-empty');
  else if (name.length > 63) problems.push('name part must be no more than 63 characters');
  if (!conforms(name, rules.labelValue) || name === '') problems.push(namePart);
  return problems;
}

const when =
  (isValid: (text: string) => boolean, problem: string): Validate =>
  (text) =>
    isValid(text) ? [] : [problem];

const uuid = /^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$/;

function uri(text: string): string[] {
  const url = parseUrl(text);
  return url instanceof Failure ? [url.message.replace('URL parse error during conversion from string: ', '')] : [];
}

const formats: ReadonlyMap<string, FormatValue> = new Map(
  (
    [
      ['dns1123Label', 'DNS1123Label', 30, byRule(rules.label1123, false)],
      ['dns1123Subdomain', 'DNS1123Subdomain', 60, byRule(rules.subdomain1123, false)],
      ['dns1035Label', 'DNS1035Label', 30, byRule(rules.label1035, false)],
      ['qualifiedName', 'QualifiedName', 60, qualifiedName],
      ['dns1123LabelPrefix', 'DNS1123LabelPrefix', 30, byRule(rules.label1123, true)],
      ['dns1123SubdomainPrefix', 'DNS1123SubdomainPrefix', 60, byRule(rules.subdomain1123, true)],
      ['dns1035LabelPrefix', 'DNS1035LabelPrefix', 30, byRule(rules.label1035, true)],
      ['labelValue', 'LabelValue', 40, byRule(rules.labelValue, false)],
      ['uri', 'URI', 1103, uri],
      ['uuid', 'uuid', 70, when((text) => uuid.test(text), 'does not match the UUID format')],
      ['byte', 'byte', 84, when((text) => text !== '' && parseBase64(text) !== undefined, 'invalid base64')],
      [
        'date',
        'date',
        71,
        when(
          (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && parseRfc3339(`${text}T00:00:00Z`) !== undefined,
          'invalid date',
        ),
      ],
      ['datetime', 'datetime', 71, when((text) => parseRfc3339(text) !== undefined, 'invalid datetime')],
    ] as const
  ).map(([name, shown, size, validate]) => [name, new FormatValue(shown, size, validate)]),
);

/** Kubernetes' named formats. */
export const formatLibrary: readonly FunctionEntry[] = [
  ...Array.from(
    formats,
    ([name, format]): FunctionEntry => ({
      name: `format.${name}`,
      id: `format.${name}`,
      type: '(): kubernetes.NamedFormat',
      call: () => format,
    }),
  ),
  {
    name: 'format.named',
    id: 'format-named',
    type: '(string): optional(kubernetes.NamedFormat)',
    call: ([name]) => (typeof name === 'string' ? new Optional(formats.get(name)) : noSuchOverload),
  },
  {
    name: 'validate',
    id: 'format-validate',
    type: 'kubernetes.NamedFormat.(string): optional(list(string))',
    call: ([format, text]) => {
      if (!(format instanceof FormatValue) || typeof text !== 'string') return noSuchOverload;
      const problems = format.validate(text);
      return new Optional(problems.length === 0 ? undefined : new ArrayList(problems));
    },
  },
];
