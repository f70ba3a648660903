/** What a terminal shows for a list of commands, without what differs from run to run. */
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from './command.js';

/** A command line, or one with something on stdin. Words are split at spaces; single quotes keep a word together. */
export type Step = string | readonly [command: string, input: string];

export interface TranscriptOptions {
  /** Paths of the programs, by the first word of a command. */
  readonly programs: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** Folder that the commands run in. */
  readonly cwd: string;
}

/** Runs commands one after the other and keeps what they show. */
export class Transcript {
  readonly #lines: string[] = [];
  readonly #options: TranscriptOptions;

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  /** Runs one command; returns what it showed, as it was. */
  async show(command: string, input?: string): Promise<string> {
    const [name = '', ...args] = wordsOf(command);
    const program = this.#options.programs[name];
    if (program === undefined) throw new Error(`transcript: ${JSON.stringify(command)}: no program ${name}`);
    const { output } = await run(program, args, {
      env: this.#options.env,
      cwd: this.#options.cwd,
      ...(input === undefined ? {} : { input }),
    });
    this.#lines.push(`$ ${command}`, steady(output).trimEnd(), '');
    return output;
  }

  async showAll(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await (typeof step === 'string' ? this.show(step) : this.show(step[0], step[1]));
  }

  /** Lets controllers of a real server take notice of what was written. */
  async settle(): Promise<void> {
    await sleep(500);
  }

  toString(): string {
    return `${this.#lines.join('\n')}\n`;
  }
}

export interface Shown {
  readonly command: string;
  readonly shown: string;
}

/** The commands of a transcript, each with what it showed; repeated commands keep their order. */
export function commandsOf(transcript: string): readonly Shown[] {
  return transcript
    .split(/^(?=\$ (?:kubectl|helm) )/m)
    .filter((part) => part.startsWith('$ '))
    .map((part) => {
      const lineEnd = part.indexOf('\n');
      return { command: part.slice(2, lineEnd), shown: part.slice(lineEnd + 1).trimEnd() };
    });
}

export function wordsOf(command: string): string[] {
  return (command.match(/(?:'[^']*'|[^\s'])+/g) ?? []).map((word) => word.replaceAll("'", ''));
}

/** Takes out ages, times, uids, revisions, tokens, addresses, and the width of columns that depends on them. */
export function steady(text: string): string {
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| ?[+-]\d\d:?\d\d(?: [A-Z]{3,4})?)/g, '<time>')
    .replace(/\b\w{3}(?:,)? (?:\d\d \w{3}|\w{3} +\d+) (?:\d{4} )?\d\d:\d\d:\d\d(?: [+-]\d{4}| \d{4})?/g, '<time>')
    .replace(/(resourceVersion"?: )"\d+"/g, '$1"<revision>"')
    .replace(/Resource Version:(\s+)\d+/g, 'Resource Version:$1<revision>')
    .replace(/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<token>')
    .replace(/(?<=[\s(])(?:\d+d)?(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:ms|s|m)\b(?=\s|$|\))/gm, '<age>')
    .replace(/\/\S*\/(LIVE|MERGED)-\d+\//g, '<folder>/$1/')
    .replace(/\b(kube-api-access)-\w{5}\b/g, '$1-<suffix>')
    .replace(/\b(modifiedAt)=\d+/g, '$1=<time>')
    .replace(/\b10\.\d+\.\d+\.\d+\b/g, '<address>')
    .replace(/https:\/\/127\.0\.0\.1:\d+/g, '<server>')
    .replace(/(Server Version: v\d+\.\d+)\S*/g, '$1')
    .replace(/(\S)(?: {2,}| *\t+ *)/g, '$1  ')
    .replace(/ +$/gm, '')
    .replace(/^==> [^]*?(?=\n\n\n)/gm, sortSections)
    .replace(/(?<=^Data\n====\n)(?:\S+:\n----\n[^\n]*\n\n)+/gm, sortEntries);
}

/** helm shows the kinds of a release in the order of a Go map. */
function sortSections(sections: string): string {
  return sections
    .split(/\n\n(?===> )/)
    .sort()
    .join('\n\n');
}

/** kubectl describes the entries of a ConfigMap in the order of a Go map: another one each time. */
function sortEntries(entries: string): string {
  return entries
    .split(/(?<=\n\n)/)
    .sort()
    .join('');
}
