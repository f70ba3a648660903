// What a reader meets first: the landing page, the README and the first lines of each guide.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

interface Block {
  readonly language: string;
  readonly marks: readonly string[];
  readonly title: string | undefined;
  readonly text: string;
  readonly line: number;
}
const { codeBlocks }: { codeBlocks(markdown: string): Block[] } = await import(
  join(root, 'scripts', 'docs', 'documents.mjs')
);
const { sections }: { sections: { text: string; items: { link: string }[] }[] } = await import(
  join(root, 'docs', '.vitepress', 'pages.mjs')
);
const { staticPage }: { staticPage(code: string, id: string, base: string): string } = await import(
  join(root, 'docs', '.vitepress', 'static-pages.mjs')
);
const { highlight }: { highlight(code: string, language: string): string } = await import(
  join(root, 'docs', '.vitepress', 'highlight.mjs')
);
const { withInstallTabs }: { withInstallTabs(markdown: string): string } = await import(
  join(root, 'docs', '.vitepress', 'install-tabs.mjs')
);

const abilities = [
  'Reads its own writes',
  'Tests without a cluster',
  'Simulation',
  'Rights generated',
  'Inspection',
  'Webhooks without cert-manager',
];

describe.each(['docs/index.md', 'README.md'])('%s', (page) => {
  const text = read(page);
  const blocks = codeBlocks(text);

  it('begins with three commands: create, dev, deploy', () => {
    const commands = (blocks[0]?.text ?? '').split('\n').map((line) => line.replace(/\s*#.*/, '').trim());
    expect(commands.filter((line) => line !== '')).toEqual([
      'npm create @kctl@latest my-operator',
      'cd my-operator && npm run dev',
      'npx kctl deploy',
    ]);
  });

  it('goes on with the recording, the six abilities, an operator from a schema, and the packages', () => {
    const bold = [...text.matchAll(/^- \[?\*\*([^*]+?)\.?\*\*/gm)].map(([, name]) => name);
    expect(bold).toEqual(abilities);
    const marks = ['npm create @kctl@latest', 'recording.svg', ...abilities.map((name) => `**${name}`)];
    const places = [...marks, '## An operator', 'defineResource(', '## Packages'].map((mark) => text.indexOf(mark));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});

it('the README shows the operator of the landing page, which is run', () => {
  const [ofPage, test] = codeBlocks(read('docs/index.md')).filter(({ language }) => language === 'ts');
  const [ofReadme] = codeBlocks(read('README.md')).filter(({ language }) => language === 'ts');
  expect(ofReadme?.text).toBe(ofPage?.text);
  expect(ofPage?.title).toBe('operator.ts');
  expect(test?.marks).toContain('program');
  expect(test?.text).toContain("from './operator.ts'");
});

it('the first guide defines its kind by a schema and installs the definition that follows', () => {
  const blocks = codeBlocks(read('docs/first-operator.md'));
  const [first] = blocks.filter(({ language }) => language === 'ts');
  expect(first?.text).toContain('defineResource({');
  expect(blocks.map(({ text }) => text).join('\n')).toMatch(/Website\.toYaml\(\)[\s\S]*kubectl apply/);
});

it('has pages for examples, the tutorial, conversion, children in other namespaces, and changes', () => {
  const links = sections.flatMap(({ items }) => items.map(({ link }) => link));
  const wanted = [
    '/guides/cronjob-tutorial',
    '/guides/conversion',
    '/guides/cross-namespace-children',
    '/guides/own-source',
  ];
  for (const page of ['/examples', '/changelog', ...wanted]) expect(links).toContain(page);
});

it.each([
  ['docs/guides/deployment.md', ['npx kctl generate', 'npx kctl build', 'docker push', 'npx kctl deploy']],
  ['docs/guides/bundling.md', ['npx kctl build', 'npx kctl build']],
])('%s begins with the commands of kctl', (page, commands) => {
  const lines = (codeBlocks(read(page))[0]?.text ?? '').trim().split('\n');
  expect(
    lines.map((line) => /^\S+ \S+(?: (?:generate|build|deploy))?/.exec(line)?.[0].replace(/ \S+\/\S+$/, '')),
  ).toEqual(commands);
});

/** Lines that a reader has to understand: without imports, blank ones and closing brackets. */
const statements = (text: string): number =>
  text.split('\n').filter((line) => !/^\s*$|^import |^\s*[)}\]]+[;,)]*$|^\s*(?:\/\/|\/\*)/.test(line)).length;

describe.each(globSync('docs/guides/*.md', { cwd: root }).sort())('%s', (page) => {
  const text = read(page);
  const folds = [...text.matchAll(/^::: details[\s\S]*?^:::$/gm)].map(({ 0: fold, index }) => [
    index,
    index + fold.length,
  ]);
  const blocks = codeBlocks(text);

  it('opens with a few lines', () => {
    expect(statements(blocks[0]?.text ?? '')).toBeLessThanOrEqual(8);
  });

  it('has whole programs below a fold', () => {
    const open = blocks.filter(({ marks, text: program, line }) => {
      const at = text.split('\n').slice(0, line).join('\n').length;
      const isFolded = folds.some(([from = 0, to = 0]) => from < at && at < to);
      return marks.includes('program') && statements(program) > 12 && !isFolded;
    });
    expect(open.map(({ line }) => line)).toEqual([]);
  });
});

describe('a page of the site', () => {
  const component = (html: string): string =>
    `<script >\nexport const __pageData = JSON.parse("{}")\nexport default {name:"a.md"}</script>\n<template><div>${html}</div></template>`;

  it('is one static node, as VitePress looks for it', () => {
    const module = staticPage(component('<p>a</p>\n<pre tabindex="0" v-pre="">{{ b }}</pre>'), 'a.md', '/');
    const staticNode = /\bcreateStaticVNode\((?:(".*")|('.*')), (\d+)\)/;
    expect(staticNode.exec(module)?.[1]).toBe('"<div><p>a</p>\\n<pre tabindex=\\"0\\">{{ b }}</pre></div>"');
    expect(module).toContain('export const __pageData = JSON.parse("{}")');
  });

  it('has the base of the site before its pictures', () => {
    expect(staticPage(component('<p><img src="/recording.svg" alt=""></p>'), 'a.md', '/kctl/')).toContain(
      'src=\\"/kctl/recording.svg\\"',
    );
  });

  it.each(['<Badge />', '<p :title="x">a</p>', '<p v-if="x">a</p>', '<p @click="x">a</p>'])(
    'refuses Vue: %s',
    (html) => {
      expect(() => staticPage(component(html), 'a.md', '/')).toThrow(/a\.md: pages are static, without Vue: remove/);
    },
  );

  it('has code in the colours of both themes, and refuses a language that has none', () => {
    const html = highlight('const a = 1;\n\n// end', 'ts');
    expect(html).toContain('<span style="--shiki-light:#D73A49;--shiki-dark:#F97583">const</span>');
    expect(html).toContain('<span style="--shiki-light:#6A737D;--shiki-dark:#6A737D">// end</span>');
    expect(html).toContain('<span class="line"><wbr></span>');
    expect(html).not.toContain('style="color');
    expect(() => highlight('a', 'cobol')).toThrow('cobol');
  });

  it('has tabs where something is installed', () => {
    const tabs = withInstallTabs('```sh\nnpm install zod\nnpm install --save-dev @kctl/testing\n```\n');
    expect(tabs).toContain('```sh [pnpm]\npnpm add zod\npnpm add --save-dev @kctl/testing\n```');
    expect(tabs).toContain('```sh [yarn]\nyarn add zod\nyarn add --dev @kctl/testing\n```');
    expect(withInstallTabs('```sh\ncd a\nnpm install zod\n```\n')).not.toContain('yarn');
  });
});
