import { nearestName } from '@kctl/options';
import { InvalidArgumentError, type Argument, type Command, type CommanderError } from 'commander';
import { ownCommand } from './own-command.js';

/** Takes one of some words for an argument; another is refused with the nearest one, and all. */
export function oneOf(argument: Argument, words: readonly string[], fallback?: string): Argument {
  const described = argument.choices([...words]);
  if (fallback !== undefined) described.default(fallback);
  return described.argParser((value: string) => {
    if (words.includes(value)) return value;
    const nearest = nearestName(value, words);
    const hint = nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
    throw new InvalidArgumentError(`expected one of ${words.join(', ')}${hint}`);
  });
}

/** Why a command line cannot be run, as a sentence that ends with the help of the command that was called. */
export function describeCallError({ code, message }: CommanderError, command: Command): string {
  const see = `see ${ownCommand([...pathOf(command), '--help'].join(' '))}`;
  return `${reasonOf(code, message, command)}: ${see}`;
}

function reasonOf(code: string, message: string, command: Command): string {
  const text = message.replace(/^error: /, '').replaceAll('\n', ' ');
  const [, missing] = /^missing required argument '(.*)'$/.exec(text) ?? [];
  if (missing !== undefined) {
    const { argChoices } = command.registeredArguments.find((each) => each.name() === missing) ?? {};
    return `<${missing}> is missing${argChoices === undefined ? '' : `: expected one of ${argChoices.join(', ')}`}`;
  }
  const [, value, name, expected] =
    /^command-argument value '(.*)' is invalid for argument '(.*)'\. (.*)$/.exec(text) ?? [];
  if (value !== undefined) return `${name ?? ''} ${JSON.stringify(value)} is not valid: ${expected ?? ''}`;
  const [, flags, given, wanted] = /^option '(.*)' argument '(.*)' is invalid\. (.*)$/.exec(text) ?? [];
  if (given !== undefined) return `${flags ?? ''} ${JSON.stringify(given)} is not valid: ${wanted ?? ''}`;
  if (code === 'commander.excessArguments')
    return text.replace(/\.$/, '').replace(/^too many arguments/, 'there are too many arguments');
  return text;
}

/** The names that lead to a command, without that of the program. */
function pathOf(command: Command): string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()];
}

/** The command that a line of words resolves to, if any. */
export function calledCommand(program: Command, words: readonly string[]): Command {
  const [word, ...rest] = words;
  const next = program.commands.find((each) => each.name() === word);
  return next === undefined ? program : calledCommand(next, rest);
}
