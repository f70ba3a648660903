const code = 'KCTL_SELECTOR';

/** Thrown when a label or field selector is not well-formed. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
  /** Stable code of this error class. */
  readonly code: 'KCTL_SELECTOR' = code;
  /** The string, or the part of it, that is not valid. */
  readonly selector: string;

  constructor(selector: string, message: string) {
    super(message);
    this.selector = selector;
  }
}

/** Whether an error is a {@link SelectorError}, also one of another copy of this package. */
export function isSelectorError(error: unknown): error is SelectorError {
  return error instanceof Error && 'code' in error && error.code === code;
}

/**
 * @throws SelectorError for anything but a string or an object, and for a collection, which has no keys and would
 * select everything
 */
export function requireSource(type: 'label' | 'field', source: unknown): void {
  const fail = (isObject: boolean, shown: string): never => {
    const selector = isObject ? type : String(source);
    throw new SelectorError(
      selector,
      `the ${type} selector is ${shown}: expected a string such as "a=b", or an object`,
    );
  };
  if (typeof source !== 'object') fail(false, `a value of type ${typeof source}`);
  else if (source === null) fail(false, 'null');
  else if (Symbol.iterator in source && !(type === 'field' && Array.isArray(source)))
    fail(true, 'an array or another collection');
}

/**
 * @throws SelectorError naming the method that an object with `matches` lacks, because its terms are sent to the server
 * as a string
 */
export function requireSelectorMethods(type: 'label' | 'field', selector: object): void {
  if (typeof Reflect.get(selector, 'toString') === 'function') return;
  throw new SelectorError(
    type,
    `the ${type} selector has no method toString: expected what ${type}SelectorFrom returns, or text such as "a=b"`,
  );
}

/**
 * @throws SelectorError naming the key of a value that is not a string, because an undefined one must not select
 * everything
 */
export function requireTexts(type: 'label' | 'field', values: object): void {
  for (const [key, value] of entriesOf(values))
    if (typeof value !== 'string')
      throw new SelectorError(
        key,
        `${type} selector: the value of ${JSON.stringify(key)} is ${value === undefined || value === null ? String(value) : `of type ${typeof value}`}: expected a string; leave the key out to select whatever it is`,
      );
}

function entriesOf(values: object): (readonly [key: string, value: unknown])[] {
  return Object.entries(values);
}
