import { parseFieldSelector, parseLabelSelector } from '@kctl/apimachinery';
import {
  at,
  invalidValue,
  isObject,
  objectsOf,
  required,
  stringOf,
  stringsOf,
  type FieldError,
} from '@kctl/crd/internal/engine';
import { fieldSyntaxProblem, labelSyntaxProblem, namedFields } from '../protocol/label-syntax.js';
import { validateLabelRequirement, validateOperatorValues } from '../resource/label-selector.js';

type Requirement = Readonly<Record<string, unknown>>;

/** How one of the two selectors of an access review is read. */
interface SelectorRules {
  readonly name: 'fieldSelector' | 'labelSelector';
  readonly validate: (requirement: Requirement, field: string) => FieldError[];
  /** Whether an authorizer can use a requirement that is valid. */
  readonly isUsable: (requirement: Requirement) => boolean;
  /** @throws if the string cannot be parsed */
  readonly parse: (text: string) => string | undefined;
}

const operators = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist']);

const selectors: readonly SelectorRules[] = [
  {
    name: 'fieldSelector',
    validate: (requirement, field) => [
      ...(stringOf(requirement['key']) === '' ? [required(`${field}.key`, 'must be specified')] : []),
      ...validateOperatorValues(requirement, field),
    ],
    isUsable: ({ operator, values }) => (operator === 'In' || operator === 'NotIn') && stringsOf(values).length === 1,
    parse: (text) => {
      const problem = fieldSyntaxProblem(text);
      if (problem === undefined) parseFieldSelector(namedFields(text).text);
      return problem;
    },
  },
  {
    name: 'labelSelector',
    validate: validateLabelRequirement,
    isUsable: ({ operator }) => operators.has(stringOf(operator)),
    parse: (text) => {
      parseLabelSelector(text);
      return labelSyntaxProblem(text);
    },
  },
];

/** Errors in the selectors of `spec.resourceAttributes`. */
export function selectorErrors(resourceAttributes: unknown): FieldError[] {
  return selectors.flatMap(({ name, validate }) => {
    const selector = at(resourceAttributes, name);
    if (!isObject(selector)) return [];
    const field = `spec.resourceAttributes.${name}`;
    const raw = stringOf(selector['rawSelector']);
    const requirements = objectsOf(selector['requirements']);
    const errors = requirements.flatMap((each, index) => validate(each, `${field}.requirements[${index}]`));
    if (raw !== '' && requirements.length > 0)
      return [
        invalidValue(`${field}.rawSelector`, raw, 'may not specified at the same time as requirements'),
        ...errors,
      ];
    if (raw === '' && requirements.length === 0)
      return [required(`${field}.requirements`, `when ${field} is specified, requirements or rawSelector is required`)];
    return errors;
  });
}

/**
 * Parts of the selectors that an authorizer could not use, as reported in `status.evaluationError`; '' if it could use
 * all.
 */
export function selectorProblems(resourceAttributes: unknown): string {
  return selectors
    .flatMap((rules) => {
      const selector = at(resourceAttributes, rules.name);
      const raw = stringOf(at(selector, 'rawSelector'));
      const requirements = objectsOf(at(selector, 'requirements'));
      const usable = requirements.filter((each) => rules.isUsable(each)).length;
      if (usable === requirements.length && (raw === '' || isReadable(rules, raw))) return [];
      return [`spec.resourceAttributes.${rules.name} ${usable > 0 ? 'partially ' : ''}ignored due to parse error`];
    })
    .join('; ');
}

function isReadable({ parse }: SelectorRules, text: string): boolean {
  try {
    return parse(text) === undefined;
  } catch {
    return false;
  }
}
