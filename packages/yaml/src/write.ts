import {
  DEFAULT_SCALAR_STYLE_RULES,
  defineScalarTag,
  dump,
  mapTag,
  NOT_RESOLVED,
  SCALAR_STYLE,
  Schema,
  seqTag,
  strTag,
  type ScalarStyleRule,
} from 'js-yaml';
import { booleanOption, requireOptions, type OptionNames } from '@kctl/options';
import { resolvePlain } from './scalars.js';

/** Options of {@link writeYaml}. */
export interface WriteYamlOptions {
  /** Writes the members of objects in alphabetical order, as upstream does. @default false */
  readonly sortKeys?: boolean;
}

/**
 * Writes a value of JSON as YAML that kubectl, Helm and every reader of YAML 1.1 or 1.2 read as that value. A string that one
 * of them would take for something else (`on`, `0o644`, `1:30`, `=`) is quoted. Members that are undefined are left out.
 *
 * @throws TypeError naming the path of a value without a JSON form, such as NaN or a function
 */
export function writeYaml(value: unknown, options: WriteYamlOptions = {}): string {
  requireOptions('writeYaml', options, optionNames);
  const { sortKeys = false } = options;
  return dump(jsonOf(value, { path: '', inside: [], sortKeys }), {
    schema,
    lineWidth: -1,
    noRefs: true,
    quoteStyle: 'double',
    scalarStyleRules: [quoteDocumentMarkers, ...Object.values(DEFAULT_SCALAR_STYLE_RULES)],
  });
}

const optionNames: OptionNames<WriteYamlOptions> = { sortKeys: booleanOption };

/** A key that begins like the end of a document would end it. */
const quoteDocumentMarkers: ScalarStyleRule = (layout) => {
  if (/^(?:---|\.\.\.)(?:\s|$)/.test(layout.node.value)) layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
};

/** The order of Go's maps. */
const byCodeUnits = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : a > b ? 1 : 0);

/** Strings that other readers of YAML take for something else: `=`, `<<`, dates, numbers to the base of 60, `1e400`. */
const ambiguous =
  /^(?:=|<<|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|\d{4}-\d{1,2}-\d{1,2}(?:[Tt ].*)?|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)[eE][-+]?[0-9]+)$/;

/** What {@link writeYaml} leaves plain, by the type that a reader gives it. */
const schema = new Schema([
  strTag,
  seqTag,
  mapTag,
  scalarTag('null', (value) => value === null, 'null'),
  scalarTag('bool', (value) => typeof value === 'boolean', 'boolean'),
  scalarTag('int', (value) => typeof value === 'bigint' || Number.isSafeInteger(value), 'integer'),
  scalarTag('float', (value) => typeof value === 'number' && Number.isFinite(value), 'float'),
  defineScalarTag('tag:yaml.org,2002:ambiguous', {
    implicit: true,
    identify: () => false,
    resolve: (source) => (ambiguous.test(source) && resolvePlain(source).type === 'string' ? source : NOT_RESOLVED),
  }),
]);

function scalarTag(
  name: string,
  identify: (value: unknown) => boolean,
  type: string,
): ReturnType<typeof defineScalarTag> {
  return defineScalarTag(`tag:yaml.org,2002:${name}`, {
    implicit: true,
    identify,
    resolve: (source) => {
      const found = resolvePlain(source);
      return found.type === type ? found.value : NOT_RESOLVED;
    },
  });
}

interface Place {
  readonly path: string;
  readonly inside: readonly object[];
  readonly sortKeys: boolean;
}

/** The value as JSON has it. */
function jsonOf(value: unknown, { path, inside, sortKeys }: Place): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'bigint')
    return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value !== 'object') throw notJson(path, typeof value === 'number' ? String(value) : `a ${typeof value}`);
  if (inside.includes(value)) throw notJson(path, 'a reference to an object that contains it');
  const within = (member: unknown, name: string): unknown =>
    jsonOf(member, { path: name, inside: [...inside, value], sortKeys });
  if (Array.isArray(value))
    return value.map((item: unknown, index) => within(item === undefined ? null : item, `${path}[${index}]`));
  if (hasToJson(value)) return within(value.toJSON(), path);
  const members: [string, unknown][] = Object.entries(value).filter(([, member]) => member !== undefined);
  if (sortKeys) members.sort(byCodeUnits);
  return Object.fromEntries(
    members.map(([key, member]) => [key, within(member, path === '' ? key : `${path}.${key}`)]),
  );
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}

function notJson(path: string, value: string): TypeError {
  return new TypeError(`writeYaml: ${path === '' ? 'the value' : path} is ${value}: expected a value of JSON`);
}
