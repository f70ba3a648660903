import { type LogFields, type Logger } from '@kctl/telemetry';
import { messageOf } from '@kctl/telemetry/internal';
import type { Scope } from './scope.js';

/** Receives the lines of a replica. */
export type NoteLine = (what: string, object: string) => void;

/** The logger of a replica. Warnings and errors become steps of the timeline, nothing else is kept. */
export class ReplicaLogger implements Logger {
  readonly #scope: Scope;
  readonly #note: NoteLine;
  readonly #fields: LogFields;

  constructor(scope: Scope, note: NoteLine, fields: LogFields = {}) {
    this.#scope = scope;
    this.#note = note;
    this.#fields = fields;
  }

  isEnabled(level: string): boolean {
    return level === 'error' || level === 'warn';
  }

  trace(): void {
    // Not kept.
  }

  debug(): void {
    // Not kept.
  }

  info(): void {
    // Not kept.
  }

  warn(message: string, fields?: LogFields): void {
    this.#write(`warning: ${message}`, fields);
  }

  error(message: string, fields?: LogFields): void {
    this.#write(`error: ${message}`, fields);
  }

  child(fields: LogFields): Logger {
    return new ReplicaLogger(this.#scope, this.#note, { ...this.#fields, ...fields });
  }

  #write(line: string, fields: LogFields | undefined): void {
    if (this.#scope.isDead) return;
    const { error, name, namespace } = { ...this.#fields, ...fields };
    const object = typeof name === 'string' && typeof namespace === 'string' ? `${namespace}/${name}` : '';
    this.#note(error === undefined ? line : `${line}: ${messageOf(error)}`, object);
  }
}
