// TypeDoc's page of a module, divided: what belongs together on one page, an index with first sentences, links that follow.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const { divideApi }: { divideApi(folder: string): string[] } = await import(
  join(import.meta.dirname, '..', '..', '..', 'scripts', 'docs', 'api-pages.mjs')
);

const source = (file: string): string => `Defined in: [packages/${file}:1](https://example.com/${file}#L1)`;
const queue = `# queue

A queue.

## Interfaces

<a id="options"></a>

### Options

${source('queue/src/options.ts')}

Options of {@link create}. Used once.

#### Properties

| Property | Type |
| ------ | ------ |
| \`size\` | \`number\` |

## Functions

<a id="create"></a>

### create()

\`\`\`ts
function create(options): Queue;
\`\`\`

${source('queue/src/create.ts')}

Makes a queue. It is empty.

###### Parameters

[\`Options\`](#options)

| Parameter | Type |
| ------ | ------ |
| \`crd.spec.conversion?\` | \`object\` |
| \`crd.spec.conversion.webhook?\` | \`object\` |

${'Long. '.repeat(2_000)}
`;
const facade = `# facade

## References

<a id="make"></a>

### make

Renames and re-exports [create](queue.md#create)

***

<a id="again"></a>

### again

Re-exports [make](#make)
`;

let folder: string;
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
beforeAll(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'kctl-api-')), 'api');
  mkdirSync(folder);
  writeFileSync(join(folder, 'queue.md'), queue);
  writeFileSync(join(folder, 'facade.md'), facade);
});
afterAll(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

it('divides a module by what belongs together', () => {
  expect(divideApi(folder).sort()).toEqual(['facade/index', 'queue/create-create', 'queue/index', 'queue/options']);
  const page = read('queue/create-create.md');
  expect(page).toContain('## create() {#create}');
  expect(page).toContain('[`Options`](/api/queue/options#options)');
  expect(page).toContain('| `crd.spec.conversion?` |');
  expect(page).not.toContain('webhook');
  expect(`${page}${read('queue/options.md')}`).not.toMatch(/^#+ (?:Parameters|Properties)$/m);
});

it('describes each export in the index, functions first', () => {
  const index = read('queue/index.md');
  expect(index).toContain('- [`create()`](/api/queue/create-create#create): Makes a queue.');
  expect(index.indexOf('create()')).toBeLessThan(index.indexOf('`Options`'));
});

it('shows the text of the original of a re-export, through others', () => {
  expect(read('facade/index.md')).toContain('- [`make`](/api/queue/create-create#create): Makes a queue.');
  expect(read('facade/index.md')).toContain('- [`again`](/api/queue/create-create#create): Makes a queue.');
});
