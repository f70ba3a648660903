// The local search: what is in its index, and what comes first. scripts/docs/search.mjs tests it on the built site.

/**
 * Guides are for a reader who looks for a word, the reference for one who has read about it. Serialized into the page, so it
 * uses nothing from outside.
 * @param {string} id the path of the page and the anchor of the section
 * @param {string} _term
 * @param {{ titles?: string[] } | undefined} [stored]
 */
function boostDocument(id, _term, stored) {
  const places = {
    api: 0.02,
    packages: 0.3,
    guides: 3,
    concepts: 3,
    recipes: 2,
    'coming-from': 0.3,
    performance: 0.2,
    comparison: 0.3,
    changelog: 0.1,
  };
  const first =
    /^\/(?:[^/#]+\/)*?(api|packages|guides|concepts|recipes|coming-from|performance|comparison|changelog)\b/.exec(
      id,
    )?.[1] ?? '';
  return (places[first] ?? 1) * (stored?.titles?.length === 0 ? 3 : 1);
}

/** @type {import('vitepress').DefaultTheme.Config['search']} */
export const search = {
  provider: 'local',
  options: {
    miniSearch: { searchOptions: { boost: { title: 4, titles: 2, text: 1 }, boostDocument } },
  },
};
