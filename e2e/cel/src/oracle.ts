import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';

/** What is asked of the API server's own CEL. */
export interface Question {
  readonly schema: unknown;
  readonly rule: string;
  readonly self: unknown;
  readonly oldSelf?: unknown;
  /** Whether the expression gives a text, as a `messageExpression` does. Default: false. */
  readonly isText?: boolean;
}

/** What it answers. */
export interface Answer {
  readonly compileError?: string;
  readonly maxCost: number;
  readonly value?: unknown;
  readonly error?: string;
  readonly cost: number;
}

/** Builds the oracle (Go, from its modules) into the cache and returns its path. */
export function buildOracle(): string {
  const given = process.env['KCTL_CEL_ORACLE'];
  if (given !== undefined) return given;
  const source = join(import.meta.dirname, '..', 'oracle');
  const cache = join(process.env['KCTL_CACHE'] ?? join(homedir(), '.cache'), 'kctl', 'cel-oracle');
  const binary = join(cache, 'oracle');
  const isFresh = existsSync(binary) && statSync(binary).mtimeMs > statSync(join(source, 'main.go')).mtimeMs;
  if (isFresh) return binary;
  mkdirSync(cache, { recursive: true });
  const built = spawnSync('go', ['build', '-buildvcs=false', '-o', binary, '.'], { cwd: source, encoding: 'utf8' });
  if (built.status !== 0) throw new Error(`build the CEL oracle: ${built.stderr || String(built.error)}`);
  return binary;
}

/** The oracle as a process: one question, one answer, in order. */
export class Oracle {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: Interface;
  readonly #answers: AsyncIterator<string>;

  constructor(binary: string) {
    this.#process = spawn(binary, { stdio: ['pipe', 'pipe', 'inherit'] }) as unknown as ChildProcessWithoutNullStreams;
    this.#lines = createInterface({ input: this.#process.stdout });
    this.#answers = this.#lines[Symbol.asyncIterator]();
  }

  async ask(question: Question): Promise<Answer> {
    this.#process.stdin.write(`${JSON.stringify(question)}\n`);
    const next = await this.#answers.next();
    if (next.done === true) throw new Error('the CEL oracle ended');
    return JSON.parse(next.value) as Answer;
  }

  close(): void {
    this.#process.stdin.end();
    this.#lines.close();
  }
}
