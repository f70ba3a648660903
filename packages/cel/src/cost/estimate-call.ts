import type { Expr } from '../syntax/ast.js';
import type { CelType } from '../types/type.js';
import { add, multiply, one, range, scale, unknown, unlimited, zero, type Range } from './range.js';
import { regexFactor, stringFactor } from './sizes.js';

/** An argument of a call, with an estimate of its size. */
export interface SizedNode {
  readonly expr: Expr;
  readonly type: CelType;
  readonly path: readonly string[] | undefined;
  readonly size: Range | undefined;
}

/** Cost of a call besides its arguments, and the size of its result. */
export interface CallEstimate {
  readonly cost: Range;
  readonly size?: Range | undefined;
}

/** A call to estimate. */
export interface EstimatedCall {
  readonly name: string;
  readonly overload: string;
  readonly target: SizedNode | undefined;
  readonly args: readonly SizedNode[];
  readonly sizeOf: (node: SizedNode) => Range | undefined;
}

type Estimator = (call: EstimatedCall) => CallEstimate | undefined;

/** The most characters of the names that `format.named` may give, and of its expressions. */
const maxFormatRegex = 128;
const maxFormat = 64;
const nominal: CallEstimate = { cost: one };

function sizeOf(call: EstimatedCall, node: SizedNode | undefined): Range {
  return node === undefined ? unknown : (call.sizeOf(node) ?? unknown);
}

function elementOf(list: SizedNode): SizedNode | undefined {
  const [type] = list.type.params;
  if (type === undefined) return undefined;
  const path = list.path === undefined ? undefined : [...list.path, '@items'];
  return { expr: list.expr, type, path, size: undefined };
}

const scan: Estimator = (call) => {
  const { target } = call;
  if (target === undefined) return undefined;
  const element = elementOf(target);
  if (element === undefined) return { cost: scale(sizeOf(call, target), stringFactor) };
  const isText = element.type.kind === 'string' || element.type.kind === 'bytes';
  const each = isText ? add(one, scale(sizeOf(call, element), stringFactor)) : one;
  return { cost: multiply(sizeOf(call, target), each) };
};

const traversal =
  (factor: number, keepsSize: boolean): Estimator =>
  (call) => {
    const node = call.target ?? call.args[0];
    if (node === undefined) return undefined;
    const size = sizeOf(call, node);
    return { cost: scale(size, factor), size: keepsSize ? size : undefined };
  };

/** For functions whose first argument, not their receiver, is what is read. */
const ofArgument =
  (factor: number, keepsSize = false): Estimator =>
  (call) => {
    const [node] = call.args;
    if (node === undefined) return undefined;
    const size = sizeOf(call, node);
    return { cost: scale(size, factor), size: keepsSize ? size : undefined };
  };

const replace: Estimator = (call) => {
  const [oldNode, newNode] = call.args;
  if (call.target === undefined || newNode === undefined) return undefined;
  const text = sizeOf(call, call.target);
  const old = sizeOf(call, oldNode);
  const by = sizeOf(call, newNode);
  let maxCount = Math.ceil(text.max / old.min);
  let maxKept = 0;
  if (old.min === 0) {
    maxCount = text.max < unlimited ? text.max + 1 : text.max;
    maxKept = text.max;
  } else if (by.max <= old.min) {
    maxCount = 0;
    maxKept = text.max;
  }
  let minCount = Math.ceil(text.min / old.max);
  let minKept = 0;
  if (old.max === 0) {
    minCount = text.min + 1;
    minKept = text.min;
  } else if (old.max <= by.min) {
    minCount = 0;
    minKept = text.min;
  }
  const size = add(multiply(range(minCount, maxCount), by), range(minKept, maxKept));
  return { cost: scale(text, 2 * stringFactor), size };
};

const split: Estimator = (call) => {
  if (call.target === undefined) return undefined;
  const text = sizeOf(call, call.target);
  const limit = call.args[1]?.expr;
  const isFixed = limit?.kind === 'literal' && typeof limit.value === 'bigint';
  const max = isFixed && limit.value !== null ? Number(limit.value) : text.max;
  return { cost: scale(text, 2 * stringFactor), size: range(0, max < 0 ? unlimited : max) };
};

const join: Estimator = (call) => {
  if (call.target === undefined) return undefined;
  const count = sizeOf(call, call.target);
  const element = elementOf(call.target);
  let size = element === undefined ? zero : multiply(count, sizeOf(call, element));
  if (call.args[0] !== undefined) {
    const separators = range(Math.max(0, count.min - 1), Math.max(0, count.max - 1));
    size = add(size, multiply(sizeOf(call, call.args[0]), separators));
  }
  return { cost: scale(size, stringFactor), size };
};

function regexCost(text: Range, expression: Range): Range {
  return multiply(scale(add(text, one), stringFactor), scale(expression, regexFactor));
}

const find: Estimator = (call) => {
  if (call.target === undefined || call.args[0] === undefined) return undefined;
  const text = sizeOf(call, call.target);
  return { cost: regexCost(text, sizeOf(call, call.args[0])), size: range(0, text.max) };
};

const address = range(4, 16);

const containsIp: Estimator = (call) => {
  const base = scale(add(address, address), stringFactor);
  const parsed = call.overload === 'cidr_contains_ip_string' ? scale(sizeOf(call, call.args[0]), stringFactor) : zero;
  return { cost: add(base, parsed) };
};

const containsCidr: Estimator = (call) => {
  const base = add(add(scale(add(address, address), stringFactor), scale(address, stringFactor)), one);
  const parsed = call.overload === 'cidr_contains_cidr_string' ? scale(sizeOf(call, call.args[0]), stringFactor) : zero;
  return { cost: add(base, parsed) };
};

const selector: Estimator = (call) => {
  if (call.args.length !== 1) return undefined;
  const length = sizeOf(call, call.args[0]);
  const requirements = scale(scale(length, 0.5), 50);
  return { cost: add(add(range(10), scale(length, stringFactor)), requirements) };
};

const equality: Estimator = ({ args }) => {
  const [left, right] = args;
  if (left === undefined || right === undefined || left.type.name !== right.type.name) return undefined;
  switch (left.type.name) {
    case 'net.IP':
    case 'net.CIDR':
    case 'kubernetes.Quantity':
    case 'kubernetes.Semver':
      return nominal;
    case 'kubernetes.NamedFormat':
      return { cost: scale(range(1, maxFormat), stringFactor) };
    case 'kubernetes.URL': {
      // As upstream, which reads the size of the right side twice.
      const max = right.size?.max ?? 1;
      return { cost: scale(range(1, max), stringFactor) };
    }
    default:
      return left.type.name.startsWith('kubernetes.authorization.') ? nominal : undefined;
  }
};

const nominalNames =
  'serviceAccount path group resource subresource namespace name allowed reason error errored masked prefixLength family isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast format.named sign asInteger isInteger asApproximateFloat isGreaterThan isLessThan compareTo add sub major minor patch getScheme getHostname getHost getPort getEscapedPath getQuery';

/** Kubernetes' estimates, by function. */
const byName: ReadonlyMap<string, Estimator> = new Map<string, Estimator>([
  ['check', () => ({ cost: range(350_000) })],
  ...nominalNames.split(' ').map((name): [string, Estimator] => [name, () => nominal]),
  ...['fieldSelector', 'labelSelector'].map((name): [string, Estimator] => [name, selector]),
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map((name): [string, Estimator] => [name, scan]),
  ...['lowerAscii', 'upperAscii', 'substring', 'trim'].map((name): [string, Estimator] => [
    name,
    traversal(stringFactor, true),
  ]),
  ...['url', 'jsonpatch.escapeKey'].map((name): [string, Estimator] => [name, ofArgument(stringFactor, true)]),
  ...['cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity', 'semver', 'isSemver'].map((name): [string, Estimator] => [
    name,
    ofArgument(stringFactor),
  ]),
  ['ip', (call) => (call.overload === 'cidr_ip' ? nominal : ofArgument(stringFactor)(call))],
  ['ip.isCanonical', ofArgument(2 * stringFactor)],
  ['replace', replace],
  ['split', split],
  ['join', join],
  ['find', find],
  ['findAll', find],
  ['containsIP', containsIp],
  ['containsCIDR', containsCidr],
  [
    'validate',
    (call) => ({ cost: scale(scale(sizeOf(call, call.args[0]), stringFactor), maxFormatRegex * regexFactor) }),
  ],
  ['_==_', equality],
]);

function literalInt(node: SizedNode | undefined, otherwise: number): number {
  if (node?.expr.kind !== 'literal' || typeof node.expr.value !== 'bigint') return otherwise;
  return Math.max(0, Number(node.expr.value));
}

function allocating(factor: number, size: Range): CallEstimate {
  return { cost: add(scale(size, factor), range(11)), size };
}

function selfCompare(call: EstimatedCall, list: SizedNode | undefined, isText: boolean): CallEstimate {
  const size = sizeOf(call, list);
  return allocating(isText ? 2 + stringFactor : 2, multiply(size, size));
}

/** cel-go's estimates of its list and set extensions, by overload. */
function extension(call: EstimatedCall): CallEstimate | undefined {
  const { overload, args, target } = call;
  switch (overload) {
    case 'list_slice': {
      const end = literalInt(args[1], sizeOf(call, target).max);
      return allocating(1, range(Math.max(0, end - literalInt(args[0], 0))));
    }
    case 'list_flatten':
      return allocating(1, sizeOf(call, target));
    case 'list_flatten_int':
      return allocating(literalInt(args[0], unlimited), sizeOf(call, target));
    case 'lists_range':
      return allocating(1, range(literalInt(args[0], unlimited)));
    case 'list_reverse':
      return allocating(1, sizeOf(call, target));
    case 'list_distinct':
      return selfCompare(call, target, false);
    case 'list_sets_contains_list':
    case 'list_sets_intersects_list':
    case 'list_sets_equivalent_list': {
      const sizes = multiply(sizeOf(call, args[0]), sizeOf(call, args[1]));
      return { cost: add(scale(sizes, overload === 'list_sets_equivalent_list' ? 2 : 1), one) };
    }
    default: {
      const sort = /^list_(\w+?)_(sort|sortByAssociatedKeys)$/.exec(overload);
      if (sort === null) return undefined;
      const isText = sort[1] === 'string' || sort[1] === 'bytes';
      return selfCompare(call, sort[2] === 'sort' ? target : args[0], isText);
    }
  }
}

/** cel-go's estimates of its built-in functions. */
function standard(call: EstimatedCall): CallEstimate {
  const { overload, args, target } = call;
  const first = (): Range => sizeOf(call, args[0]);
  const second = (): Range => sizeOf(call, args[1]);
  switch (overload) {
    case 'string_format':
      return { cost: scale(sizeOf(call, target), stringFactor) };
    case 'string_to_bytes':
      return { cost: scale(first(), stringFactor), size: range(first().min, first().max * 4) };
    case 'bytes_to_string':
      return { cost: scale(first(), stringFactor), size: range(Math.floor(first().min / 4), first().max) };
    case 'strings_quote':
      return { cost: scale(first(), stringFactor), size: range(first().min + 2, first().max * 2 + 2) };
    case 'starts_with_string':
    case 'ends_with_string':
      return { cost: scale(first(), stringFactor) };
    case 'in_list':
      return { cost: second() };
    case 'matches_string':
      return { cost: regexCost(sizeOf(call, target), first()) };
    case 'contains_string':
      return { cost: multiply(scale(sizeOf(call, target), stringFactor), scale(first(), stringFactor)) };
    case 'add_list':
      return { cost: one, size: add(first(), second()) };
    case 'add_string':
    case 'add_bytes': {
      const size = add(first(), second());
      return { cost: scale(size, stringFactor), size };
    }
    default:
  }
  if (
    overload !== 'equals' &&
    overload !== 'not_equals' &&
    !/^(?:less|greater)(?:_equals)?_(?:string|bytes)$/.test(overload)
  ) {
    return nominal;
  }
  const max = Math.min(first().max, second().max);
  return { cost: scale(range(max > 0 ? 1 : 0, max), stringFactor) };
}

/** Estimates one overload of a call, without its arguments. */
export function estimateCall(call: EstimatedCall): CallEstimate {
  return extension(call) ?? byName.get(call.name)?.(call) ?? standard(call);
}
