import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { listOption, requireOptions, shownType, textOption } from '@kctl/options';
import type { OptionNames } from '@kctl/options';

/** Environment of {@link defaultUserAgent}. */
export interface UserAgentFacts {
  /** The name of the program, `name` or `name/version`. @default the script that Node was started with */
  readonly program?: string | undefined;
  /** @default process.argv */
  readonly argv?: readonly string[];
  /** @default process.platform */
  readonly platform?: string;
  /** @default process.arch */
  readonly arch?: string;
}

const factNames: OptionNames<UserAgentFacts> = {
  program: textOption,
  argv: listOption('the arguments of the process', textOption),
  platform: textOption,
  arch: textOption,
};

/**
 * `<program>/<version> (<os>/<arch>) kctl/<version>`, in the form of client-go's default. The server uses the part
 * before the first slash as the field manager of writes that name none, so it must distinguish programs.
 */
export function defaultUserAgent(facts: UserAgentFacts = {}): string {
  const given: unknown = facts;
  if (typeof given !== 'object' || given === null)
    throw new TypeError(`defaultUserAgent: the facts are ${shownType(given)}: expected an object, such as { program }`);
  requireOptions('defaultUserAgent', facts, factNames);
  const { program = scriptOf(facts.argv ?? process.argv) } = facts;
  const { platform = process.platform, arch = process.arch } = facts;
  const slash = program.indexOf('/');
  const name = word(slash < 0 ? program : program.slice(0, slash));
  const version = slash < 0 ? '' : word(program.slice(slash + 1));
  return `${name}/${version === '' ? unknown : version} (${platform}/${arch}) kctl/${ownVersion()}`;
}

const unknown = 'unknown';

/** `operator` for `/app/dist/operator.js`. */
function scriptOf([, script]: readonly string[]): string {
  const name = basename(script ?? '').replace(/\.[cm]?[jt]s$/, '');
  return name === '' ? unknown : name;
}

/** Only what may stand in a header between its separators. */
function word(text: string): string {
  return text.trim().replaceAll(/[^\w.~+-]+/g, '-');
}

let version: string | undefined;

/** The version of this package; unknown if it was bundled into something else. */
function ownVersion(): string {
  version ??= readVersion();
  return version;
}

function readVersion(): string {
  try {
    const content: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    if (typeof content !== 'object' || content === null || !('name' in content) || !('version' in content))
      return unknown;
    return content.name === '@kctl/client-http' && typeof content.version === 'string' ? content.version : unknown;
  } catch {
    return unknown;
  }
}
