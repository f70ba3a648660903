import type { Command } from 'commander';
import { CliError } from './errors.js';

/** The shells that a script is written for. */
export const shells: readonly string[] = ['bash', 'zsh', 'fish'];

/** Words that may follow, which are the commands and options of the command that the words so far lead to. */
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

/**
 * A script that calls `kctl complete` for what may follow `kctl` and `npx kctl`. It runs the kctl of the project that the
 * current folder is in, or else the one on the PATH, and downloads nothing. A program is run at Tab, so the project counts only
 * if the user owns its folder, its package.json, its node_modules and the program, and every folder below.
 *
 * @throws CliError for a shell that is not known
 */
export function completionScript(shell: string): string {
  const script = scripts[shell];
  if (script === undefined)
    throw new CliError(`there is no completion for ${JSON.stringify(shell)}: expected ${shells.join(', ')}`, {
      exitCode: 2,
    });
  return script;
}

/** The same in the language of bash and zsh. */
const askProject = `_kctl_ask() {
  local folder=$PWD bin
  while [ -n "$folder" ] && [ -O "$folder" ] && ! { [ -f "$folder/package.json" ] && [ -x "$folder/node_modules/.bin/kctl" ]; }; do
    folder=\${folder%/*}
  done
  bin=$folder/node_modules/.bin
  if [ -n "$folder" ] && [ -O "$folder" ] && [ -O "$folder/package.json" ] && [ -O "$folder/node_modules" ] && [ -O "$bin" ] && [ -O "$bin/kctl" ]; then
    "$bin/kctl" complete -- "$@" 2>/dev/null
  elif command -v kctl >/dev/null; then
    command kctl complete -- "$@" 2>/dev/null
  fi
}
`;

const scripts: Readonly<Record<string, string>> = {
  bash: `${askProject}_kctl() {
  COMPREPLY=($(_kctl_ask "\${COMP_WORDS[@]:1:COMP_CWORD}"))
}
_kctl_npx() {
  COMPREPLY=()
  if [ "\${COMP_WORDS[1]}" = kctl ] && [ "$COMP_CWORD" -gt 1 ]; then
    COMPREPLY=($(_kctl_ask "\${COMP_WORDS[@]:2:COMP_CWORD-1}"))
  fi
}
complete -o default -F _kctl kctl
complete -p npx >/dev/null 2>&1 || complete -o default -F _kctl_npx npx
`,
  zsh: `#compdef kctl
${askProject}_kctl() {
  local -a found
  found=(\${(f)"$(_kctl_ask "\${(@)words[2,CURRENT]}")"})
  (( $#found )) && compadd -a found
}
_kctl_npx() {
  if [[ \${words[2]} == kctl ]] && (( CURRENT > 2 )); then
    shift words
    (( CURRENT-- ))
    _kctl
  else
    _files
  fi
}
if [[ \${funcstack[1]} == _kctl ]]; then
  _kctl
else
  compdef _kctl kctl
  (( \${+_comps[npx]} )) || compdef _kctl_npx npx
fi
`,
  fish: `function __kctl_ask
    set -l words (commandline -opc) (commandline -ct)
    test (path basename -- $words[1]) = npx; and set -e words[1]
    set -l folder $PWD
    while test "$folder" != /; and test -O "$folder"; and not begin; test -f "$folder/package.json"; and test -x "$folder/node_modules/.bin/kctl"; end
        set folder (path dirname -- $folder)
    end
    set -l bin "$folder/node_modules/.bin"
    if test -x "$bin/kctl"; and test -O "$folder"; and test -O "$folder/package.json"; and test -O "$folder/node_modules"; and test -O "$bin"; and test -O "$bin/kctl"
        "$bin/kctl" complete -- $words[2..] 2>/dev/null
    else if command -q kctl
        command kctl complete -- $words[2..] 2>/dev/null
    end
end
function __kctl_after_npx
    set -l words (commandline -opc)
    test (count $words) -gt 1; and test "$words[2]" = kctl
end
complete -c kctl -f -a '(__kctl_ask)'
complete -c npx -n __kctl_after_npx -f -a '(__kctl_ask)'
`,
};
