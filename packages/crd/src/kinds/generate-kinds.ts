import { formatApiVersion } from '@kctl/apimachinery';
import { compareVersions } from '@kctl/apimachinery/internal';
import { booleanOption, type OptionNames, requireOptions, textOption } from '@kctl/options';
import { compareText, isObject, stringOf, type JsonObject } from '../engine/values/json.js';
import { apiVersionOf, factsOfDefinition, type KindFacts } from './kind-facts.js';
import { dereferenced, importableTypes, modelOf } from './models.js';
import { allVerbs, factsOfDocument, isOpenApiDocument, type ServedResource } from './open-api-kinds.js';
import { commentText, interfaceOf, pascal, typeComment } from './type-text.js';
import { createModuleWriter, type ModuleWriter } from './type-writer.js';

/** A module of one group version. */
export interface GeneratedModule {
  /** `cert-manager.io/v1.ts`. */
  readonly path: string;
  readonly text: string;
}

/** Options for {@link generateKinds}. */
export interface GenerateKindsOptions {
  /** Whether versions that are not served are left out. @default true */
  readonly onlyServed?: boolean;
  /** The module that `defineKind`, `KubeObject` and the other types of `@kctl/apimachinery` come from. @default '@kctl/apimachinery' */
  readonly importFrom?: string;
  /**
   * Discovery of the group versions of OpenAPI documents, with plurals, scopes and verbs. @default derived from their
   * paths
   */
  readonly resources?: Iterable<ServedResource>;
}

/** Names of a kind in TypeScript, unchanged if each is a valid identifier. */
interface KindNames {
  readonly own: string;
  /** Undefined if there are no lists, or if the name is that of another kind. */
  readonly list: string | undefined;
}

const reservedWords: ReadonlySet<string> = new Set(
  (
    'as async await break case catch class const continue debugger default delete do else enum export extends false finally for ' +
    'from function if implements import in instanceof interface let new null of package private protected public return static ' +
    'super switch this throw true try type typeof var void while with yield'
  ).split(' '),
);

function identifierOf(kind: string): string {
  return /^[A-Za-z]\w*$/.test(kind) && !reservedWords.has(kind) ? kind : pascal(kind);
}

function verbsText({ verbs }: KindFacts): string[] {
  if (verbs === undefined || allVerbs.every((verb) => verbs.includes(verb))) return [];
  const watch = verbs.includes('watch') ? '' : ' It cannot be watched: no cache or informer can hold it.';
  return ['', `The server takes ${verbs.join(', ')}.${watch}`];
}

function kindText(facts: KindFacts, names: KindNames, writer: ReturnType<ModuleWriter['over']>): string {
  const { kind, plural, scope, group, version, models } = facts;
  const schema = dereferenced(facts.schema, models) ?? facts.schema;
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const { apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...content } = properties;
  const body = interfaceOf({ ...schema, properties: content }, identifierOf(kind), writer);
  const head = [`  apiVersion?: '${formatApiVersion(group, version)}';`, `  kind?: '${kind}';`];
  const { own, list } = names;
  const tokenComment = commentText([`Kind token of ${kind} (\`${plural}\` in ${group}).`, ...verbsText(facts)], '');
  return [
    ...writer.take(),
    `${typeComment(schema, '')}export interface ${own} extends KubeObject {\n${[...head, ...body].join('\n')}\n}`,
    ...(list === undefined ? [] : [listText(facts, own, list)]),
    `${tokenComment}export const ${own}: Kind<${own}, '${scope}'> = /* @__PURE__ */ defineKind<${own}, '${scope}'>({\n` +
      `  group: '${group}',\n  version: '${version}',\n  kind: '${kind}',\n  plural: '${plural}',\n  scope: '${scope}',\n});`,
  ].join('\n\n');
}

function listText({ group, version, kind, listKind }: KindFacts, own: string, list: string): string {
  return (
    `/** A list of ${kind}. */\nexport interface ${list} extends KubeList<${own}> {\n` +
    `  apiVersion?: '${formatApiVersion(group, version)}';\n  kind?: '${listKind}';\n}`
  );
}

function factsOf(source: object, resources: readonly ServedResource[], onlyServed: boolean): KindFacts[] {
  if (!isObject(source)) throw notDefinition(Array.isArray(source) ? 'a list' : typeof source);
  if (source['kind'] === 'CustomResourceDefinition' && source['apiVersion'] === 'apiextensions.k8s.io/v1') {
    return factsOfDefinition({ metadata: {}, ...source }, onlyServed);
  }
  if (isOpenApiDocument(source)) return factsOfDocument(source, resources);
  if (stringOf(source['swagger']) !== '') throw notDefinition('an OpenAPI v2 document, which has no list of kinds');
  throw notDefinition(`${stringOf(source['apiVersion'])} ${stringOf(source['kind'])}`);
}

function notDefinition(found: string): TypeError {
  return new TypeError(
    `generateKinds: expected a CustomResourceDefinition of apiextensions.k8s.io/v1 or an OpenAPI v3 document, found ${found}`,
  );
}

/** The name of the model that is a kind, so that what refers to it names the kind. */
function modelName({ schema }: KindFacts): string | undefined {
  return modelOf(schema);
}

function moduleText(kinds: readonly KindFacts[], importFrom: string): string {
  const hasModels = kinds.some(({ models }) => models !== undefined);
  const module = createModuleWriter(hasModels ? importableTypes : []);
  const own = kinds.map(({ kind }) => module.reserve(identifierOf(kind)));
  const names = kinds.map(({ listKind, verbs }, index): KindNames => {
    const list = identifierOf(listKind);
    const isListed = verbs === undefined || verbs.includes('list');
    return { own: own[index] ?? '', list: isListed && module.reserveIfFree(list) ? list : undefined };
  });
  const byModels = new Map<JsonObject | undefined, ReturnType<ModuleWriter['over']>>();
  const writerOf = (models: JsonObject | undefined): ReturnType<ModuleWriter['over']> => {
    const known = byModels.get(models);
    if (known !== undefined) return known;
    const kindsByModel = new Map<string, string>();
    kinds.forEach((facts, index) => {
      const model = facts.models === models ? modelName(facts) : undefined;
      if (model !== undefined) kindsByModel.set(model, own[index] ?? '');
    });
    const writer = module.over(models, kindsByModel);
    byModels.set(models, writer);
    return writer;
  };
  const bodies = kinds.map((facts, index) => {
    const name = names[index];
    return name === undefined ? '' : kindText(facts, name, writerOf(facts.models));
  });
  const [first] = kinds;
  const apiVersion = first === undefined ? '' : apiVersionOf(first);
  const hasDefinitions = kinds.some(({ models }) => models === undefined);
  const source = [
    ...(hasDefinitions ? ['the CustomResourceDefinitions'] : []),
    ...(hasModels ? ['the OpenAPI document'] : []),
  ].join(' and ');
  const lists = names.some(({ list }) => list !== undefined) ? ['KubeList'] : [];
  const types = [...new Set(['Kind', 'KubeObject', ...lists, ...module.imports()])].sort(compareText);
  const imports = importText(['defineKind', ...types.map((name) => `type ${name}`)], importFrom);
  const head = `// Generated by kctl generate kinds from ${source} of ${apiVersion}. Do not edit.\n` + imports;
  return `${[head, ...bodies].join('\n\n')}\n`;
}

/** An import on one line, or on one per name if that is too long, as formatters write it. */
function importText(names: readonly string[], from: string): string {
  const line = `import { ${names.join(', ')} } from '${from}';`;
  return line.length <= 80 ? line : `import {\n${names.map((name) => `  ${name},\n`).join('')}} from '${from}';`;
}

function byVersion(a: KindFacts, b: KindFacts): number {
  return compareText(a.group, b.group) || compareVersions(b.version, a.version);
}

/** Which of two sources of one kind takes precedence, in whatever order they come. A definition precedes a document. */
function goesBefore(facts: KindFacts, known: KindFacts): boolean {
  const rank = ({ models }: KindFacts): number => (models === undefined ? 0 : 1);
  if (rank(facts) !== rank(known)) return rank(facts) < rank(known);
  return JSON.stringify(facts) < JSON.stringify(known);
}

const optionNames: OptionNames<GenerateKindsOptions> = {
  onlyServed: booleanOption,
  importFrom: textOption,
  resources: true,
};

/**
 * Writes TypeScript from CustomResourceDefinitions, and from OpenAPI v3 documents, which the API server has under
 * `/openapi/v3/apis/<group>/<version>` for aggregated APIs, too. For each group version it writes a module with
 * documented interfaces, list types and kind tokens. The same definitions give the same output, in whatever order they
 * come; for a kind with both, the definition takes precedence.
 *
 * @throws TypeError naming the object that is neither, or the name that is invalid for a kind
 */
export function generateKinds(definitions: Iterable<object>, options: GenerateKindsOptions = {}): GeneratedModule[] {
  requireOptions('generateKinds', options, optionNames);
  const { onlyServed = true, importFrom = '@kctl/apimachinery', resources = [] } = options;
  const served = [...resources];
  const modules = new Map<string, Map<string, KindFacts>>();
  for (const facts of [...definitions].flatMap((source) => factsOf(source, served, onlyServed))) {
    const apiVersion = apiVersionOf(facts);
    const kinds = modules.get(apiVersion) ?? new Map<string, KindFacts>();
    const known = kinds.get(facts.kind);
    if (known === undefined || goesBefore(facts, known)) kinds.set(facts.kind, facts);
    modules.set(apiVersion, kinds);
  }
  return [...modules.values()]
    .map((kinds) => [...kinds.values()].sort((a, b) => compareText(a.kind, b.kind)))
    .sort(([a], [b]) => (a === undefined || b === undefined ? 0 : byVersion(a, b)))
    .flatMap((kinds) => {
      const [first] = kinds;
      if (first === undefined) return [];
      const folder = first.group === '' ? 'core' : first.group;
      return [{ path: `${folder}/${first.version}.ts`, text: moduleText(kinds, importFrom) }];
    });
}
