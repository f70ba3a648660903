// Divides TypeDoc's page of a module into pages of what belongs together: the exports of one folder of its sources, of one
// file where a folder is too long, of one export where a file is. The page of the module becomes its index, in which each
// export has its first sentence, those of other packages that of their original.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

/** Characters of Markdown on one page: less than 10,000 pixels on a screen of 1,440. */
const longest = 8_000;

/** A reader looks for what can be called first. */
const order = ['Functions', 'Variables', 'Classes', 'Interfaces', 'Type Aliases', 'References'];

/**
 * @typedef {{ name: string, group: string, anchors: string[], source: string, url: string, body: string, summary: string, original: string | undefined }} Member
 * @typedef {{ page: string, title: string, members: Member[] }} Page
 * @typedef {{ name: string, intro: string, members: Member[] }} Module
 */

/** @param {string} folder @param {string} [under] @returns {string[]} */
const markdownIn = (folder, under = '') =>
  readdirSync(join(folder, under), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(under, entry.name);
    return entry.isDirectory() ? markdownIn(folder, path) : entry.name.endsWith('.md') ? [path] : [];
  });

/** The first sentence of a text, without links. @param {string} text */
const firstSentence = (text) => {
  const plain = text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('\n', ' ')
    .trim();
  return /^.*?[.:](?=\s|$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain;
};

/** @param {string} text of one export @param {string} group @returns {Member} */
function readMember(text, group) {
  const name = /^### (.+)$/m.exec(text)?.[1]?.replaceAll('\\', '') ?? '';
  const [, source = '', url = ''] = /^Defined in: \[([^\]]+)\]\(([^)]+)\)/m.exec(text) ?? [];
  const original = /^(?:Re-exports|Renames and re-exports) \[[^\]]+\]\(([^)]+)\)/m.exec(text)?.[1];
  const [, after = ''] = text.split(/^Defined in: .*\n/m);
  const paragraph = after
    .split(/\n{2,}/)
    .map((part) => part.trim())
    .find((part) => part !== '' && !/^(#|```|\||<a|-|\*\*\*)/.test(part));
  return {
    name,
    group,
    anchors: [...text.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id = '']) => id),
    source: source.replace(/:\d+$/, ''),
    url,
    body: text,
    summary: after.trimStart().startsWith('#') ? '' : firstSentence(paragraph ?? ''),
    original,
  };
}

/** @param {string} file @param {string} markdown @returns {Module} */
function readModule(file, markdown) {
  const [intro = '', ...groups] = markdown.split(/^## /m);
  const members = groups.flatMap((group) => {
    const [title = '', ...rest] = group.split('\n');
    return rest
      .join('\n')
      .split(/^\*\*\*$/m)
      .flatMap((text) => (/^### /m.test(text) ? [readMember(text, title)] : []));
  });
  const place = (/** @type {Member} */ { group }) => order.indexOf(group);
  members.sort((a, b) => place(a) - place(b));
  return { name: file.slice(0, -'.md'.length), intro, members };
}

/** `packages/informer/src/fifo/errors.ts` as the parts after src, without its ending. @param {Member} member */
const placeOf = ({ source }) =>
  source
    .replace(/^packages\/[^/]+\/src\//, '')
    .replace(/\.ts$/, '')
    .split('/');

/** @param {readonly Member[]} members */
const lengthOf = (members) => members.reduce((sum, { body }) => sum + body.length, 0);

/** @param {Module} module @returns {Page[]} */
function pagesOf({ name, members }) {
  const own = members.filter(({ original }) => original === undefined);
  if (lengthOf(own) <= longest)
    return own.length === 0 ? [] : [{ page: `${name}/exports`, title: 'exports', members: own }];
  /** @type {Page[]} */
  const pages = [];
  const add = (/** @type {string} */ title, /** @type {Member[]} */ of) => {
    const page = `${name}/${title
      .replaceAll(/[^\w-]+/g, '-')
      .replace(/-$/, '')
      .toLowerCase()}`;
    // A folder and a file beside it may have one name.
    const same = pages.filter((other) => other.page === page || other.page.startsWith(`${page}-and-`)).length;
    pages.push({ page: same === 0 ? page : `${page}-and-${same}`, title, members: of });
  };
  const folders = Map.groupBy(own, (member) => placeOf(member).slice(0, -1).join('/'));
  for (const [folder, ofFolder] of folders) {
    if (folder !== '' && lengthOf(ofFolder) <= longest) {
      add(folder, ofFolder);
      continue;
    }
    /** Small files of one folder share pages, in the order of their names. @type {[string[], Member[]]} */
    let [files, open] = [[], []];
    const flush = () => {
      const [first = '', last = first] = [files.at(0), files.at(-1)];
      if (open.length > 0)
        add([...(folder === '' ? [] : [folder]), first === last ? first : `${first} to ${last}`].join('/'), open);
      [files, open] = [[], []];
    };
    const byFile = [...Map.groupBy(ofFolder, (member) => placeOf(member).at(-1) ?? '')].sort(([a], [b]) =>
      a < b ? -1 : 1,
    );
    for (const [file, ofFile] of byFile) {
      if (lengthOf(ofFile) > longest) {
        flush();
        for (const [part, title] of parts(ofFile, file)) add(folder === '' ? title : `${folder}/${title}`, part);
      } else {
        if (lengthOf([...open, ...ofFile]) > longest) flush();
        files.push(file);
        open.push(...ofFile);
      }
    }
    flush();
  }
  return pages;
}

/** A file that is too long, in pages. @param {Member[]} members @param {string} file @returns {[Member[], string][]} */
function parts(members, file) {
  /** @type {Member[][]} */
  const found = [];
  for (const member of members) {
    const last = found.at(-1);
    if (last === undefined || lengthOf([...last, member]) > longest) found.push([member]);
    else last.push(member);
  }
  return found.map((part) => [part, `${file}: ${part[0]?.name}${part.length > 1 ? ' …' : ''}`]);
}

/** The id of a heading: that of the export for its own, and for its members one that no other export on the page has. @param {string} first @param {string} anchor */
const idOf = (first, anchor) => (anchor === first || anchor.startsWith('property-') ? anchor : `${first}-${anchor}`);

/** Headings that every export has say nothing in the outline and in the search. @param {Member} member */
function quietHeadings({ body, anchors: [first = ''] }) {
  return (
    body
      .replaceAll(/^<a id="([^"]+)"><\/a>\n+(#+ .+)$/gm, (_whole, id, heading) => `${heading} {#${idOf(first, id)}}`)
      .replaceAll(/^#{4,6} (Overrides|Inherited from|Implementation of|Extends|Extended by)\n\n(?:- )?.*\n/gm, '')
      .replaceAll(
        /^#{4,6} (Properties|Methods|Constructors|Accessors|Call Signature|Parameters|Type Parameters|Returns|Throws|Default|Default Value|Example|Examples|See|Type declaration|Get Signature|Set Signature|Index Signature|Remarks|Deprecated|Since|Param)\n/gm,
        '**$1**\n',
      )
      // Members of members of members: the row of the member above has them in its type.
      .replaceAll(/^\| `\w+(?:\.[\w?]+){3,}` \|.*\n/gm, '')
      // A signature follows its heading; colours are for examples, where they are worth their time.
      .replaceAll(/^(#+ .+\n\n)```ts$/gm, '$1```txt')
      // Its members are beside it, and the signature has what it returns: a page of an interface is a third shorter.
      .replace(/^Defined in: \[([^\]]+)\]\(([^)]+)\)$/m, '[$1]($2)')
      .replaceAll(/^Defined in: .*\n+/gm, '')
      .replaceAll(/^\*\*Returns\*\*\n\n.*\n(?=\n*(?:#|\*\*|$))/gm, '')
      .replaceAll(/^##### /gm, '### ')
      .replaceAll(/^###### /gm, '#### ')
      .trim()
  );
}

/** @param {string} folder with TypeDoc's pages, one for each module; they are replaced @returns {string[]} the pages */
export function divideApi(folder) {
  const modules = markdownIn(folder)
    .filter((file) => file !== 'index.md')
    .map((file) => readModule(file, readFileSync(join(folder, file), 'utf8')));
  /** @type {Map<string, string>} module#anchor → page#anchor */
  const moved = new Map();
  /** @type {Map<string, Member>} */
  const originals = new Map();
  const pages = modules.map((module) => ({ module, pages: pagesOf(module) }));
  for (const { module, pages: own } of pages)
    for (const { page, members } of own)
      for (const member of members) {
        for (const anchor of member.anchors)
          moved.set(`${module.name}#${anchor}`, `/api/${page}#${idOf(member.anchors[0] ?? '', anchor)}`);
        originals.set(`${module.name}#${member.anchors[0]}`, member);
      }
  /** Where a link of a module leads, as module#anchor. @param {string} module @param {string} target */
  const resolved = (module, target) => {
    const [path = '', anchor = ''] = target.split('#');
    const other = path === '' ? module : posix.join(posix.dirname(module), path.replace(/\.md$/, ''));
    return anchor === '' ? other : `${other}#${anchor}`;
  };
  // A re-export may be one of a re-export.
  const references = new Map(
    modules.flatMap(({ name, members }) =>
      members.flatMap(({ original, anchors }) =>
        original === undefined ? [] : [/** @type {const} */ ([`${name}#${anchors[0]}`, resolved(name, original)])],
      ),
    ),
  );
  for (const id of references.keys()) {
    let at = id;
    while (references.has(at)) at = references.get(at) ?? '';
    const [link, member] = [moved.get(at), originals.get(at)];
    if (link !== undefined) moved.set(id, link);
    if (member !== undefined) originals.set(id, member);
  }
  const relink = (/** @type {string} */ module, /** @type {string} */ text) =>
    text.replaceAll(/\]\(((?:[\w./-]+\.md)?#[\w-]+|[\w./-]+\.md)\)/g, (_whole, target) => {
      const id = resolved(module, target);
      return `](${moved.get(id) ?? `/api/${id}`})`;
    });
  rmSync(folder, { recursive: true, force: true });
  const written = [];
  for (const { module, pages: own } of pages) {
    for (const { page, title, members } of own) {
      const head = [
        '---\npageClass: api-page\n---',
        `# ${posix.basename(module.name)}: ${title}`,
        '',
        `Exports of [\`@kctl/${module.name}\`](/api/${module.name}/).`,
      ];
      const text = [
        ...head,
        ...members.map((each) =>
          quietHeadings({ ...each, body: relink(module.name, each.body) }).replace(/^### /m, '## '),
        ),
      ].join('\n\n');
      write(join(folder, `${page}.md`), text);
      written.push(page);
    }
    write(
      join(folder, module.name, 'index.md'),
      indexOf({ ...module, intro: relink(module.name, module.intro) }, own, (target) => {
        const id = resolved(module.name, target);
        return { link: moved.get(id) ?? `/api/${id}`, member: originals.get(id), from: id.split('#')[0] ?? '' };
      }),
    );
    written.push(`${module.name}/index`);
  }
  write(join(folder, 'index.md'), overview(modules));
  return written;
}

/** @param {Module} module @param {Page[]} pages @param {(target: string) => { link: string, member: Member | undefined, from: string }} find */
function indexOf({ name, intro, members }, pages, find) {
  const entry = (/** @type {string} */ text, /** @type {string} */ link, /** @type {string} */ summary) =>
    `- [\`${text}\`](${link})${summary === '' ? '' : `: ${summary}`}`;
  const description = intro.split('\n').slice(1).join('\n').trim();
  const lines = ['---', 'pageClass: api-index', 'search: false', '---', '', `# @kctl/${name}`, '', description];
  for (const { page, title, members: own } of pages)
    lines.push(
      '',
      `## ${title}`,
      '',
      ...own.map((each) => entry(each.name, `/api/${page}#${each.anchors[0]}`, each.summary)),
    );
  const foreign = members.flatMap(({ name: text, original }) =>
    original === undefined ? [] : [{ text, ...find(original) }],
  );
  for (const [from, of] of Map.groupBy(foreign, ({ from: module }) => module))
    lines.push(
      '',
      `## Of @kctl/${from}`,
      '',
      ...of.map(({ text, link, member }) => entry(text, link, member?.summary ?? '')),
    );
  return `${lines.join('\n')}\n`;
}

/** @param {Module[]} modules */
function overview(modules) {
  const lines = [
    '---',
    'pageClass: api-index',
    'search: false',
    '---',
    '',
    '# API reference',
    '',
    'Every module of the packages, with what it exports. The kinds of Kubernetes itself are generated from its API and left out.',
    '',
  ];
  for (const { name, intro, members } of modules) {
    const text = firstSentence(
      intro
        .split('\n')
        .slice(1)
        .join('\n')
        .trim()
        .split(/\n{2,}/)[0] ?? '',
    );
    lines.push(`- [\`@kctl/${name}\`](/api/${name}/): ${text === '' ? `${members.length} exports.` : text}`);
  }
  return `${lines.join('\n')}\n`;
}

/** @param {string} file @param {string} text */
function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${text.trimEnd()}\n`);
}
