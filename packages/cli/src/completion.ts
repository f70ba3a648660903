import type { Command } from 'commander';
import { CliError } from './errors.js';

/** The shells that a script is written for. */
export const shells: readonly string[] = ['bash', 'zsh', 'fish'];

/** Words that may follow: the commands and options of the command that the words so far lead to. */
export function completions(program: Command, words: readonly string[]): readonly string[] {
  let command = program;
  for (const word of words.slice(0, -1)) command = command.commands.find((each) => each.name() === word) ?? command;
  const prefix = words.at(-1) ?? '';
  const help = command.createHelp();
  const names = help.visibleCommands(command).map((each) => each.name());
  const choices = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const options = help.visibleOptions(command).flatMap(({ long }) => long ?? []);
  return [...new Set([...names, ...choices, ...options])].filter((name) => name.startsWith(prefix));
}

/** A script that asks `kctl complete` for what may follow. @throws CliError for a shell that is not known */
export function completionScript(shell: string): string {
  switch (shell) {
    case 'bash':
      return '_kctl() {\n  COMPREPLY=($(kctl complete -- "${COMP_WORDS[@]:1:COMP_CWORD}"))\n}\ncomplete -o default -F _kctl kctl\n';
    case 'zsh':
      return '#compdef kctl\n_kctl() {\n  local -a found\n  found=(${(f)"$(kctl complete -- "${words[@]:1:$((CURRENT-1))}")"})\n  compadd -a found\n}\ncompdef _kctl kctl\n';
    case 'fish':
      return 'complete -c kctl -f -a "(kctl complete -- (commandline -opc)[2..] (commandline -ct))"\n';
    default:
      throw new CliError(`there is no completion for ${JSON.stringify(shell)}: expected ${shells.join(', ')}`, {
        exitCode: 2,
      });
  }
}
