import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { defineCommands } from './define-commands.js';
import { calledCommand, describeCallError } from './call-errors.js';
import { CliError, explain, isCliError } from './errors.js';
import type { CliIo } from './io.js';
import { styled } from './plan/styled.js';
import { terminalText } from './terminal-text.js';

/** Makes the commands; each writes through `io` alone. */
export function createProgram(io: CliIo): Command {
  const program = new Command('kctl')
    .description('From a type to a running operator: manifests, roles, a development loop.')
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: () => undefined })
    .showSuggestionAfterError()
    .version(ownVersion(), '--version', 'print the version')
    .addHelpText(
      'after',
      '\nA new project: npm create @kctl@latest my-operator\nExit codes: 0 done, 1 failed, 2 called wrongly, 3 a check found a difference. Of plan: 2 something would change, 1 otherwise.\n',
    );
  program.hook('preAction', (_program, action) => refuseEmptyValues(action));
  defineCommands(program, io);
  return program;
}

/** `--context "$CONTEXT"` without that variable would mean another cluster, and `--output ""` the project's folder. */
function refuseEmptyValues(command: Command): void {
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (value === '' || (Array.isArray(value) && value.includes('')))
      throw new CliError(`option '${option.flags}' has an empty value: leave it out, or give one`, {
        exitCode: callErrorCode(command),
      });
  }
  if (command.parent !== null) refuseEmptyValues(command.parent);
}

/** The exit code of a wrong call. 2 of `kctl plan` means that something would change, and nothing else. */
function callErrorCode(command: Command): 1 | 2 {
  return command.name() === 'plan' ? 1 : 2;
}

function ownVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const version: unknown =
    typeof manifest === 'object' && manifest !== null ? Reflect.get(manifest, 'version') : undefined;
  return String(version);
}

/**
 * Runs a command line.
 *
 * @returns the exit code: 0 done, 1 failed, 2 called wrongly or changes planned, 3 a check found a difference
 */
export async function runKctl(streams: CliIo, given: readonly string[]): Promise<number> {
  // The one place through which every command prints.
  const io: CliIo = {
    ...streams,
    out: (text, style) => {
      const plain = terminalText(text);
      streams.out(style === undefined || streams.colour !== true ? plain : styled(plain, style));
    },
    err: (text) => streams.err(terminalText(text)),
  };
  try {
    await createProgram(io).parseAsync([...given], { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return 0;
      const program = createProgram(io);
      const called = calledCommand(program, given);
      io.err(
        error.code === 'commander.help' ? called.helpInformation() : `kctl: ${describeCallError(error, called)}\n`,
      );
      return callErrorCode(called);
    }
    if (io.signal.aborted) return 130;
    io.err(`kctl: ${explain(error)}\n`);
    return isCliError(error) ? error.exitCode : 1;
  }
}
