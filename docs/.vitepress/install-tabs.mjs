// `npm install …` in a code block becomes tabs for npm, pnpm and yarn. Pages and READMEs have the lines of npm alone, which
// GitHub shows and which the tests of the packages execute.

/** @param {string} line of npm @returns {{ pnpm: string, yarn: string }} */
function others(line) {
  const added = line.replace(/^npm install /, '');
  return { pnpm: `pnpm add ${added}`, yarn: `yarn add ${added.replace('--save-dev', '--dev')}` };
}

/** @param {string} markdown */
export function withInstallTabs(markdown) {
  return markdown.replaceAll(/^```sh\n((?:npm install (?!--global)[^\n|&;]+\n)+)```$/gm, (_block, text) => {
    const lines = text.trimEnd().split('\n').map(others);
    const tab = (/** @type {string} */ name, /** @type {string} */ content) => `\`\`\`sh [${name}]\n${content}\n\`\`\``;
    const tabs = [
      tab('npm', text.trimEnd()),
      .../** @type {const} */ (['pnpm', 'yarn']).map((name) => tab(name, lines.map((each) => each[name]).join('\n'))),
    ];
    return `::: code-group\n\n${tabs.join('\n\n')}\n\n:::`;
  });
}
