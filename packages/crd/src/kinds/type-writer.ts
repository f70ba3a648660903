import type { JsonObject } from '../engine/values/json.js';

/** Collects the interfaces that the kinds of a module need, under names that are not taken, and what they import. */
export interface TypeWriter {
  /** Schemas that references lead to; undefined for structural schemas, which have no references. */
  readonly models: JsonObject | undefined;
  /** A free name for a type, and its place in the output. */
  readonly add: (name: string, text: (name: string) => string) => string;
  /** The interface of a model, written on first use, so that a model may contain itself. */
  readonly model: (model: string, name: string, text: (name: string) => string) => string;
  /** The source of a model that needs no interface; `unknown` within itself. */
  readonly inline: (model: string, text: () => string) => string;
  /** The alias of a model, written like an interface, and `unknown` within itself. */
  readonly alias: (model: string, name: string, text: (name: string) => string) => string;
  /** A type of the module that `defineKind` comes from. */
  readonly imported: (name: string) => string;
  /** The interfaces since the last call, the outermost first. */
  readonly take: () => string[];
}

/** A {@link TypeWriter} of a whole module. */
export interface ModuleWriter {
  /** A name of TypeScript for a kind or its list, that no type of the module has. */
  readonly reserve: (name: string) => string;
  /** Reserves a name unchanged, if it is free. */
  readonly reserveIfFree: (name: string) => boolean;
  /** A writer of the same module with these models, in which some are kinds of it. */
  readonly over: (models: JsonObject | undefined, kinds: ReadonlyMap<string, string>) => TypeWriter;
  /** The names that were imported, in order. */
  readonly imports: () => string[];
}

/** Names that mean something else in TypeScript, or in what is generated. */
const reserved: readonly string[] = [
  ...['Kind', 'KubeObject', 'KubeList', 'Record', 'defineKind'],
  ...[
    'any',
    'bigint',
    'boolean',
    'never',
    'null',
    'number',
    'object',
    'string',
    'symbol',
    'undefined',
    'unknown',
    'void',
  ],
];

/** A writer for one module. @param importable types that the module may import, whose names are taken for that */
export function createModuleWriter(importable: Iterable<string> = []): ModuleWriter {
  const names = new Set([...reserved, ...importable]);
  const imports = new Set<string>();
  let texts: { text: string }[] = [];

  const free = (wanted: string): string => {
    let name = wanted;
    for (let count = 2; names.has(name); count++) name = `${wanted}${count}`;
    names.add(name);
    return name;
  };
  const add = (wanted: string, text: (name: string) => string): string => {
    const name = free(wanted);
    const entry = { text: '' };
    texts.push(entry);
    entry.text = text(name);
    return name;
  };

  return {
    reserve: (name) => free(names.has(name) ? `${name}Resource` : name),
    reserveIfFree: (name) => !names.has(name) && names.add(name).has(name),
    imports: () => [...imports].sort(),
    over(models, kinds) {
      const written = new Map<string, string>(kinds);
      const open = new Set<string>();
      const once: TypeWriter['model'] = (model, wanted, text) => {
        const known = written.get(model);
        if (known !== undefined) return known;
        return add(wanted, (name) => {
          written.set(model, name);
          return text(name);
        });
      };
      const inline: TypeWriter['inline'] = (model, text) => {
        if (open.has(model)) return 'unknown';
        open.add(model);
        const result = text();
        open.delete(model);
        return result;
      };
      return {
        models,
        add,
        model: once,
        inline,
        alias: (model, wanted, text) => inline(model, () => once(model, wanted, text)),
        imported(name) {
          imports.add(name);
          return name;
        },
        take() {
          const result = texts.map(({ text }) => text);
          texts = [];
          return result;
        },
      };
    },
  };
}
