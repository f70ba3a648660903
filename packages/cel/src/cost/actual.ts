import { LibraryValue, ListValue, MapValue, type Failure, type Value } from '../values/value.js';
import { actualSize, regexFactor, stringFactor } from './sizes.js';

/** A call that has been made. */
export interface Call {
  readonly name: string;
  /** The overload; '' when it was not known before run time. */
  readonly overload: string;
  /** A failure among them counts as a value of size one. */
  readonly args: readonly (Value | Failure)[];
  readonly result: Value | Failure;
}

type Price = (call: Call) => number;

const nominal: Price = () => 1;
const traversal =
  (factor: number): Price =>
  ({ args }) =>
    Math.ceil(actualSize(args[0]) * factor);

/** A traversal of a value as a tree. */
function treeCost(value: Value | Failure): number {
  if (typeof value === 'string') return Math.floor(new TextEncoder().encode(value).length * stringFactor);
  if (value instanceof Uint8Array) return Math.floor(value.length * stringFactor);
  let cost = 0;
  if (value instanceof ListValue) {
    for (const item of value) cost += treeCost(item);
    return cost;
  }
  if (value instanceof MapValue) {
    for (const key of value.keys()) cost += treeCost(key) + treeCost(value.get(key) ?? null);
    return cost;
  }
  return 1;
}

const tree: Price = ({ args }) => (args[0] === undefined ? 0 : treeCost(args[0]));

function regexCost(text: number, expression: number): number {
  return Math.ceil((1 + text) * stringFactor) * Math.ceil(expression * regexFactor);
}

const regex: Price = ({ args }) => regexCost(actualSize(args[0]), actualSize(args[1]));

/** The upper bound of upstream's estimate for a selector of this length. */
function selectorCost(length: number): number {
  return 10 + Math.ceil(length * stringFactor) + Math.ceil(length * 0.5) * 50;
}

function containsCost({ args, overload }: Call): number {
  const network = actualSize(args[0]);
  const own = Math.ceil((network + network) * stringFactor);
  return own + (overload.endsWith('_string') ? Math.ceil(actualSize(args[1]) * stringFactor) : 0);
}

/** Upstream's prices of Kubernetes' libraries, by function. */
const byName: ReadonlyMap<string, Price> = new Map<string, Price>([
  ['check', () => 350_000],
  ...[
    'serviceAccount path group resource subresource namespace name allowed reason error errored',
    'masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast',
    'format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch',
    'getScheme getHostname getHost getPort getEscapedPath getQuery',
  ]
    .flatMap((names) => names.split(' '))
    .map((name): [string, Price] => [name, nominal]),
  ...['fieldSelector', 'labelSelector'].map((name): [string, Price] => [
    name,
    ({ args }) => selectorCost(actualSize(args[1])),
  ]),
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map((name): [string, Price] => [name, tree]),
  ...[
    'url',
    'lowerAscii',
    'upperAscii',
    'substring',
    'trim',
    'jsonpatch.escapeKey',
    'cidr',
    'isIP',
    'isCIDR',
    'quantity',
    'isQuantity',
    'semver',
    'isSemver',
  ].map((name): [string, Price] => [name, traversal(stringFactor)]),
  ...['replace', 'split', 'ip.isCanonical'].map((name): [string, Price] => [name, traversal(2 * stringFactor)]),
  ['join', ({ result }) => Math.ceil(actualSize(result) * 2 * stringFactor)],
  ['find', regex],
  ['findAll', regex],
  ['ip', (call) => (call.overload === 'cidr_ip' ? 1 : traversal(stringFactor)(call))],
  ['containsIP', containsCost],
  ['containsCIDR', (call) => containsCost(call) + Math.ceil(actualSize(call.args[0]) * stringFactor) + 1],
  ['validate', ({ args }) => regexCost(actualSize(args[1]), formatRegexSize(args[0]))],
]);

function formatRegexSize(format: Value | Failure | undefined): number {
  return format instanceof LibraryValue && 'maxRegexSize' in format && typeof format.maxRegexSize === 'number'
    ? format.maxRegexSize
    : 0;
}

function selfCompare(list: Value | Failure | undefined): number {
  const size = actualSize(list);
  const first = list instanceof ListValue && size > 0 ? list.at(0) : undefined;
  const isText = typeof first === 'string' || first instanceof Uint8Array;
  return Math.floor(size * size * (isText ? 2 + stringFactor : 2)) + 11;
}

const outputSize: Price = ({ result }) => actualSize(result) + 11;
const smaller: Price = ({ args }) => Math.ceil(Math.min(actualSize(args[0]), actualSize(args[1])) * stringFactor);
const joined: Price = ({ args }) => Math.ceil((actualSize(args[0]) + actualSize(args[1])) * stringFactor);
const product =
  (factor: number): Price =>
  ({ args }) =>
    1 + Math.floor(actualSize(args[0]) * actualSize(args[1]) * factor);

function flattenCost({ args }: Call): number {
  const depth = typeof args[1] === 'bigint' ? Number(args[1]) : 1;
  return Math.floor(actualSize(args[0]) * depth) + 11;
}

/** cel-go's trackers of single overloads come before the prices by function. */
function trackedPrice(overload: string): Price | undefined {
  switch (overload) {
    case 'list_slice':
    case 'lists_range':
    case 'list_reverse':
      return outputSize;
    case 'list_flatten':
    case 'list_flatten_int':
      return flattenCost;
    case 'list_distinct':
      return ({ args }) => selfCompare(args[0]);
    case 'list_sets_contains_list':
    case 'list_sets_intersects_list':
      return product(1);
    case 'list_sets_equivalent_list':
      return product(2);
    default:
      if (/^list_\w+_sort$/.test(overload)) return ({ args }) => selfCompare(args[0]);
      if (/^list_\w+_sortByAssociatedKeys$/.test(overload)) return ({ args }) => selfCompare(args[1]);
      return undefined;
  }
}

/** cel-go's prices of its built-in functions. */
function standardPrice(overload: string): Price {
  switch (overload) {
    case 'starts_with_string':
    case 'ends_with_string':
    case 'string_to_bytes':
    case 'bytes_to_string':
    case 'strings_quote':
    case 'string_format':
      return traversal(stringFactor);
    case 'in_list':
      return ({ args }) => actualSize(args[1]);
    case 'equals':
    case 'not_equals':
      return smaller;
    case 'add_string':
    case 'add_bytes':
      return joined;
    case 'matches_string':
      return regex;
    case 'contains_string':
      return ({ args }) =>
        Math.ceil(actualSize(args[0]) * stringFactor) * Math.ceil(actualSize(args[1]) * stringFactor);
    default:
      return /^(?:less|greater)(?:_equals)?_(?:string|bytes)$/.test(overload) ? smaller : nominal;
  }
}

/** Returns the actual cost of a call, in cel-go's and Kubernetes' numbers. */
export function callCost(call: Call): number {
  const tracked = trackedPrice(call.overload);
  if (tracked !== undefined) return tracked(call);
  const own = byName.get(call.name);
  if (own !== undefined) return own(call);
  if (call.name === '_==_' && call.args[0] instanceof LibraryValue) return 1;
  return standardPrice(call.overload)(call);
}
