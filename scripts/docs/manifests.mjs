// The YAML that readers are told to apply, as JSON: each block with the document and the line where it stands.
// `node scripts/docs/manifests.mjs`; tooling/doc-snippets/test/manifests.test.ts applies it.
import { blocksOf, documents } from './documents.mjs';

const blocks = documents().flatMap((document) =>
  blocksOf(document)
    .filter(({ language, marks }) => language === 'yaml' && !marks.includes('fragment'))
    .map(({ text, line }) => ({ place: `${document}:${line}`, text })),
);
console.log(JSON.stringify(blocks));
