import { isJsonObject } from '@kctl/apimachinery/internal';
import {
  booleanOption,
  functionOption,
  numberOption,
  oneOfOption,
  optionProblems,
  textOption,
  listOption,
  shownValue,
} from '@kctl/options';
import type { OptionCheck, OptionNames } from '@kctl/options';
import type { DependentsOptions } from './options.js';
import type { Node } from './node.js';

/** Names of nodes are values of labels, and parts of names of objects. */
const nodeName = /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/;

const textList = listOption('a list of strings', textOption);

const immutableOption: OptionCheck = (name, value) => {
  if (value === 'fail') return undefined;
  const recreate = isJsonObject(value) && Object.keys(value).length === 1 ? value['recreate'] : undefined;
  return ['background', 'foreground', 'orphanPods'].includes(String(recreate))
    ? undefined
    : `${name} ${shownValue(value)} is not valid: expected "fail" or { recreate: "background" | "foreground" | "orphanPods" }`;
};

const adoptOption: OptionCheck = (name, value) =>
  typeof value === 'function' ? undefined : oneOfOption('never', 'unowned')(name, value);

const common = {
  namespace: functionOption,
  gate: oneOfOption('create', 'always'),
  ready: functionOption,
  conflicts: oneOfOption('force', 'report'),
  onImmutable: immutableOption,
  onDelete: oneOfOption('delete', 'orphan'),
  optionalKind: booleanOption,
  desired: functionOption,
  name: functionOption,
  initial: functionOption,
  needs: textList,
  needsReady: textList,
  when: functionOption,
};

/** The options of each method of a definition. */
export const nodeOptionNames: Readonly<Record<'ref' | 'child' | 'set', Readonly<Record<string, OptionCheck>>>> = {
  ref: { key: functionOption, optional: booleanOption },
  child: { ...common, adopt: adoptOption },
  set: { ...common, each: functionOption },
};

const required = { ref: ['key'], child: ['desired'], set: ['desired', 'each'] } as const;

export const dependentsOptionNames: OptionNames<DependentsOptions> = {
  fieldOwner: textOption,
  formerFieldOwners: textList,
  concurrency: numberOption({ integer: true, least: 1 }),
};

/** The mistakes in one node, beside those that the compiler finds. */
export function nodeProblems(
  type: keyof typeof nodeOptionNames,
  given: { readonly name: unknown; readonly kind: unknown; readonly options: unknown },
  before: readonly Node[],
): string[] {
  const { name, kind, options } = given;
  const problems: string[] = [];
  if (typeof name !== 'string' || !nodeName.test(name))
    problems.push(
      `${type}(${shownValue(name)}): the name is not valid: expected at most 40 lower-case letters, digits and "-"`,
    );
  else if (before.some((node) => node.name === name)) problems.push(`${type}("${name}"): the name is there twice`);
  const where = `${type}(${shownValue(name)})`;
  if (!isJsonObject(kind) || typeof kind['plural'] !== 'string')
    problems.push(`${where}: ${shownValue(kind)} is not a kind: expected one such as ConfigMap, or of defineKind()`);
  else if (kind['shape'] === 'metadata' || kind['shape'] === 'stripped')
    problems.push(`${where}: the kind is the ${kind['shape']} form: expected the whole one`);
  if (!isJsonObject(options))
    return [...problems, `${where}: options ${shownValue(options)} are not valid: expected an object`];
  problems.push(...optionProblems(options, nodeOptionNames[type]).map((problem) => `${where}: ${problem}`));
  for (const option of required[type])
    if (options[option] === undefined) problems.push(`${where}: ${option} is not set: expected a function`);
  const edges: readonly unknown[] = [options['needs'], options['needsReady']].flatMap((names: unknown) => names ?? []);
  for (const edge of edges)
    if (!before.some((node) => node.name === edge))
      problems.push(`${where}: needs ${shownValue(edge)}, which is not declared before it`);
  return problems;
}
