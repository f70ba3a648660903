import { rulesOf, type Marker } from '../markers/markers.js';
import type { SchemaValue } from '../source/schema-value.js';

/** Setting for a field by its path, which is a marker, or a schema that replaces the library's. */
export type FieldSetting = Marker | SchemaValue;

function isSchemaValue(setting: FieldSetting): setting is SchemaValue {
  return '~standard' in setting;
}

/** The settings of one version, and which of them have met their field. */
export class FieldSettings {
  readonly #settings: ReadonlyMap<string, FieldSetting>;
  readonly #used = new Set<string>();

  constructor(settings: Readonly<Record<string, FieldSetting>>) {
    this.#settings = new Map(Object.entries(settings));
  }

  /** The marker of a field. */
  take(path: string): Marker | undefined {
    const setting = this.#settings.get(path);
    if (setting === undefined || isSchemaValue(setting)) return undefined;
    this.#used.add(path);
    return setting;
  }

  /** Returns the schema of a field once; fields inside of it are resolved by the paths below. */
  takeSchema(path: string): SchemaValue | undefined {
    const setting = this.#settings.get(path);
    if (setting === undefined || !isSchemaValue(setting) || this.#used.has(path)) return undefined;
    this.#used.add(path);
    return setting;
  }

  /** Paths that lead to no field. */
  unused(): string[] {
    return [...this.#settings.keys()].filter((path) => !this.#used.has(path));
  }
}

/** The rules of several markers. */
export function allRules(settings: readonly Marker[]): unknown[] {
  return settings.flatMap(rulesOf);
}
