// How `changeset version` writes changelogs: the stories as they are. All packages are released together with one version,
// so a list of dependencies that were updated too says nothing.

/** @param {{ summary: string }} changeset @returns {Promise<string>} */
async function getReleaseLine({ summary }) {
  const [first = '', ...rest] = summary.trim().split('\n');
  return [`- ${first}`, ...rest.map((line) => (line === '' ? '' : `  ${line}`))].join('\n');
}

const getDependencyReleaseLine = () => Promise.resolve('');

export default { getReleaseLine, getDependencyReleaseLine };
