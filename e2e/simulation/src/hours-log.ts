import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { formatRecord, type OperatorRecord } from './record.js';

/** What was simulated of one state of the sources. */
export interface LoggedRun {
  /** The commit, as `git describe --always --dirty` names it. */
  readonly commit: string;
  cpuSeconds: number;
  readonly records: Record<string, OperatorRecord>;
}

/** Hours that add up over runs that were ended and went on, of several commits. Kept in a file after each seed. */
export class HoursLog {
  readonly #file: string;
  readonly #runs: LoggedRun[];

  /** @throws SyntaxError where the file is not such a log */
  constructor(file: string) {
    this.#file = file;
    this.#runs = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as LoggedRun[]) : [];
  }

  /** The hours of all runs. */
  get hours(): number {
    return this.#runs.flatMap(({ records }) => Object.values(records)).reduce((sum, { hours }) => sum + hours, 0);
  }

  /** The run of a commit; a new one where there is none yet. */
  runOf(commit: string): LoggedRun {
    const known = this.#runs.find((run) => run.commit === commit);
    if (known !== undefined) return known;
    const made: LoggedRun = { commit, cpuSeconds: 0, records: {} };
    this.#runs.push(made);
    return made;
  }

  /** The first seed from `least` on that no run of an operator has had. */
  nextSeed(name: string, least: number): number {
    return this.#runs.reduce(
      (next, { records }) => Math.max(next, ...(records[name]?.seeds ?? []).map((seed) => seed + 1)),
      least,
    );
  }

  /** Writes the log, and beside it the same for people: `hours.json` and `hours.md`. */
  save(): void {
    const temporary = `${this.#file}.tmp`;
    writeFileSync(temporary, `${JSON.stringify(this.#runs)}\n`);
    renameSync(temporary, this.#file); // a run that is ended in the middle leaves the last state
    writeFileSync(this.#file.replace(/\.json$/, '.md'), this.#text());
  }

  #text(): string {
    const sections = this.#runs.map(
      ({ commit, cpuSeconds, records }) =>
        `## ${commit}\n\n${formatRecord(new Map(Object.entries(records)), cpuSeconds)}\n`,
    );
    return `# Simulated hours

${this.hours.toFixed(0)} of the 10,000 hours that are wanted. Each seed is an hour of faults, settling and ten quiet minutes, with the default rates (a fault every ten seconds or so). \`pnpm simulate:night\` goes on where it was ended, with seeds that no run has had, and writes this file; each state of the sources has a table of its own.

${sections.join('\n')}`;
  }
}
