import '@kctl/telemetry/require-in-bundles'; // before a CommonJS package
import { readFileSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { readYaml } from '@kctl/yaml';
import { messageOf } from '@kctl/telemetry/internal';
import { numberProblem } from '@kctl/options';
import { SettingsError } from './errors.js';
import { fieldsOf, type SettingField, type SettingsIssue, type SettingsSchema } from './settings-schema.js';
import { standardDefaults, standardFields, type StandardSettings } from './standard-settings.js';

/** Sources of settings. */
export interface SettingsSources {
  /** Without Node and the script. @default none */
  readonly arguments?: readonly string[];
  /** @default none */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Reads a file as a string. @default from the file system */
  readonly readFile?: (path: string) => string;
}

/** Result of {@link loadSettings}. */
export type LoadedSettings<S> =
  | { readonly help: string }
  | {
      readonly help?: undefined;
      readonly settings: StandardSettings & S;
      /** The file that was read: `--config`, or CONFIG_FILE. */
      readonly file: string | undefined;
      /** Settings whose value is from the file; a change of these is of effect. */
      readonly fromFile: readonly string[];
    };

/**
 * Reads settings from their defaults, a file (YAML or JSON, `--config` or CONFIG_FILE), the environment and the arguments,
 * each of which wins over those before it. One schema serves all: `logLevel` is `logLevel` in the file, LOG_LEVEL in the
 * environment and `--log-level` as a flag. Lists are separated by commas.
 *
 * @throws SettingsError in one sentence, with the nearest name for one that is not known
 *
 * @example
 * ```ts
 * import { loadSettings } from '@kctl/operator';
 * import { z } from 'zod';
 *
 * const schema = z.object({ maxSites: z.number().int().default(10) });
 * const loaded = await loadSettings('websites', schema, { arguments: ['--max-sites', '3'] });
 * ```
 */
export async function loadSettings<S extends object>(
  program: string,
  schema: SettingsSchema<unknown, S> | undefined,
  sources: SettingsSources = {},
): Promise<LoadedSettings<S>> {
  const own = schema === undefined ? [] : fieldsOf(schema);
  const taken = own.find(({ name }) => name === 'config' || standardFields.some((field) => field.name === name));
  if (taken !== undefined)
    throw new TypeError(`settings.${taken.name} is a setting that every operator has: choose another name`);
  const fields = [...standardFields, ...own];
  const { environment = {}, readFile = (path: string) => readFileSync(path, 'utf8') } = sources;
  const given = parseArguments(program, fields, sources.arguments ?? []);
  if ('help' in given) return given;
  const path = given.values['config'] ?? environment['CONFIG_FILE'];
  const file = typeof path === 'string' && path !== '' ? path : undefined;
  const fromFile = file === undefined ? {} : readSettingsFile(file, fields, readFile);
  const { config: _config, ...flags } = given.values;
  const fromEnvironment = readEnvironment(fields, environment);
  const all = { ...standardDefaults, ...fromFile, ...fromEnvironment, ...flags };
  const ownValues = Object.fromEntries(
    own.flatMap(({ name }): [string, unknown][] => (name in all ? [[name, Reflect.get(all, name)]] : [])),
  );
  const checked = schema === undefined ? {} : await validate(schema, ownValues);
  const later = { ...fromEnvironment, ...flags };
  return {
    // The parts were parsed by their fields, and the author's by their schema.
    settings: { ...all, ...checked } as StandardSettings & S,
    file,
    fromFile: fields.map(({ name }) => name).filter((name) => !(name in later)),
  };
}

/** `logLevel` → `log-level`. */
function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `logLevel` → `LOG_LEVEL`; the namespace is what the downward API gives. */
export function environmentName(name: string): string {
  return name === 'namespace' ? 'POD_NAMESPACE' : kebab(name).replaceAll('-', '_').toUpperCase();
}

/** operator-sdk and OLM use WATCH_NAMESPACE. */
function variableOf(name: string, environment: Readonly<Record<string, string | undefined>>): string {
  const own = environmentName(name);
  return name === 'watchNamespaces' && (environment[own] ?? '') === '' ? 'WATCH_NAMESPACE' : own;
}

type Values = Readonly<Record<string, unknown>>;

function parseArguments(
  program: string,
  fields: readonly SettingField[],
  given: readonly string[],
): { readonly help: string } | { readonly values: Values } {
  let output = '';
  const command = new Command(program)
    .exitOverride()
    .configureOutput({ writeOut: (text) => (output += text), writeErr: (text) => (output += text) })
    .allowExcessArguments(false)
    .addOption(new Option('--config <file>', 'file with settings, YAML or JSON (env: CONFIG_FILE)'));
  for (const field of fields) for (const option of optionsOf(field)) command.addOption(option);
  try {
    command.parse(
      given.map((argument) => withoutValue(argument, fields)),
      { from: 'user' },
    );
    return { values: command.opts() };
  } catch (error) {
    if (error instanceof InvalidArgumentError)
      throw new SettingsError(`${sentence(error.message)}: see ${program} --help`, { cause: error });
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return { help: output };
    throw new SettingsError(`${sentence(error.message)}: see ${program} --help`, { cause: error });
  }
}

/** Go's flags that are on or off also take a value: `--leader-elect=false` is `--no-leader-elect`. @throws InvalidArgumentError */
function withoutValue(argument: string, fields: readonly SettingField[]): string {
  const [flag = '', ...rest] = argument.split('=');
  const field = fields.find(({ name, type }) => type === 'boolean' && flag === `--${kebab(name)}`);
  if (field === undefined || rest.length === 0) return argument;
  return valueOf(field, rest.join('='), flag) === true ? flag : `--no-${kebab(field.name)}`;
}

function optionsOf(field: SettingField): Option[] {
  const { name, type, description, choices, defaultText } = field;
  const fallback = defaultText === undefined ? '' : ` (default: ${defaultText})`;
  const text = `${description}${fallback} (env: ${environmentName(name)})`;
  if (type === 'boolean') return [new Option(`--${kebab(name)}`, text), new Option(`--no-${kebab(name)}`).hideHelp()];
  const option = new Option(`--${kebab(name)} <${type === 'list' ? 'a,b' : type}>`, text);
  if (choices !== undefined && type === 'string') return [option.choices(choices)];
  return [option.argParser((value: string) => valueOf(field, value, `--${kebab(name)}`))];
}

/** @throws InvalidArgumentError for a value that the field cannot have */
function valueOf(field: SettingField, text: string, source: string): unknown {
  const { type, choices } = field;
  if (choices !== undefined && !choices.includes(text))
    throw new InvalidArgumentError(`${source}: expected one of ${choices.join(', ')}`);
  switch (type) {
    case 'string':
      return text;
    case 'list':
      return text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== '');
    case 'number':
      if (text.trim() === '' || !Number.isFinite(Number(text)))
        throw new InvalidArgumentError(`${source}: expected a number`);
      requireRange(field, Number(text), source);
      return Number(text);
    case 'boolean':
      if (!truths.has(text) && !untruths.has(text)) throw new InvalidArgumentError(`${source}: expected true or false`);
      return truths.has(text);
  }
}

/** As Go's strconv.ParseBool reads them. */
const truths: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const untruths: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** @throws InvalidArgumentError for a number that the field cannot have */
function requireRange({ range }: SettingField, value: number, source: string): void {
  const problem = range === undefined ? undefined : numberProblem(source, value, range);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
}

function readEnvironment(
  fields: readonly SettingField[],
  environment: Readonly<Record<string, string | undefined>>,
): Values {
  const entries = fields.flatMap((field): [string, unknown][] => {
    // The connection reads KUBECONFIG itself, because it may name several files.
    if (field.name === 'kubeconfig') return [];
    const name = variableOf(field.name, environment);
    const text = environment[name];
    if (text === undefined || text === '') return [];
    try {
      return [[field.name, valueOf(field, text, name)]];
    } catch (error) {
      throw new SettingsError(`environment variable ${name} ${JSON.stringify(text)} is not valid: ${messageOf(error)}`);
    }
  });
  return Object.fromEntries(entries);
}

/** The settings of a file, each checked. @throws SettingsError naming the file, and the setting */
export function readSettingsFile(
  file: string,
  fields: readonly SettingField[],
  readFile: (path: string) => string,
): Values {
  let content: unknown;
  try {
    content = readYaml(readFile(file)).value ?? {};
  } catch (error) {
    throw new SettingsError(`settings file ${file} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw new SettingsError(`settings file ${file} is not a mapping: expected lines such as "logLevel: debug"`);
  for (const [name, value] of Object.entries(content)) {
    const field = fields.find((each) => each.name === name);
    if (field === undefined)
      throw new SettingsError(
        `settings file ${file} has an unknown setting ${JSON.stringify(name)}${nearest(name, fields)}`,
      );
    const isList = field.type === 'list' && Array.isArray(value) && value.every((item) => typeof item === 'string');
    const isValue = typeof value === field.type && (field.choices?.includes(String(value)) ?? true);
    const problem =
      typeof value === 'number' && field.range !== undefined ? numberProblem(name, value, field.range) : undefined;
    if (problem !== undefined) throw new SettingsError(`settings file ${file}: ${problem}`);
    if (!isList && !isValue)
      throw new SettingsError(
        `settings file ${file}: ${name} ${JSON.stringify(value)} is not valid: expected ${field.choices?.join(', ') ?? `a ${field.type}`}`,
      );
  }
  return Object.fromEntries(Object.entries(content));
}

function nearest(name: string, fields: readonly SettingField[]): string {
  const letters = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, '');
  const same = fields.find((field) => letters(field.name) === letters(name));
  const near = same ?? fields.find((field) => field.name.startsWith(name.slice(0, 4)));
  return near === undefined
    ? `: known are ${fields.map((field) => field.name).join(', ')}`
    : `: did you mean ${near.name}?`;
}

async function validate<S extends object>(schema: SettingsSchema<unknown, S>, values: Values): Promise<S> {
  const result = await schema['~standard'].validate(values);
  if (result.issues === undefined) return result.value;
  throw new SettingsError(result.issues.map(describeIssue).join('; '));
}

function describeIssue({ message, path = [] }: SettingsIssue): string {
  const [first] = path;
  const name = String(typeof first === 'object' ? first.key : (first ?? ''));
  return name === ''
    ? `the settings are not valid: ${message}`
    : `setting ${name} (--${kebab(name)}, ${environmentName(name)}) is not valid: ${message}`;
}

function sentence(message: string): string {
  return message
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(/[.)]?$/, (end) => (end === ')' ? ')' : ''));
}
