import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { readYaml } from '@kctl/yaml';
import type { CliIo } from '../io.js';

/** The value of a flag among the arguments, `--flag value` or `--flag=value`; undefined if not set. */
function flagOf(given: readonly string[], flag: string): string | undefined {
  const at = given.lastIndexOf(flag);
  return (
    given.findLast((each) => each.startsWith(`${flag}=`))?.slice(flag.length + 1) ??
    (at === -1 ? undefined : given[at + 1])
  );
}

/**
 * A setting of the operator as given by flag, variable or file, each of which takes precedence over those after it.
 * Undefined if it is in none of them, or if the file cannot be read; the operator reports the reason.
 */
export function givenSetting(
  { environment, cwd }: Pick<CliIo, 'environment' | 'cwd'>,
  given: readonly string[],
  name: string,
): string | undefined {
  const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const variable = environment[words.replaceAll('-', '_').toUpperCase()] ?? '';
  const flag = flagOf(given, `--${words}`) ?? (variable === '' ? undefined : variable);
  if (flag !== undefined) return flag;
  const file = flagOf(given, '--config') ?? environment['CONFIG_FILE'] ?? '';
  const value = file === '' ? undefined : settingsIn(resolve(cwd, file))[name];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

function settingsIn(file: string): Readonly<Record<string, unknown>> {
  try {
    const content: unknown = readYaml(readFileSync(file, 'utf8')).value;
    return typeof content === 'object' && content !== null ? { ...content } : {};
  } catch {
    return {};
  }
}
