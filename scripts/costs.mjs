// Draws docs/costs.md from the rows that packages/*/test/lifetime.test.ts declare with `structure({ … }, …)`.
// Without arguments it writes, with `--check` it fails when the table is stale.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { readArchitecture } from './sync-packages.mjs';

const columns = ['package', 'structure', 'operation', 'cost', 'retains'];
const table = 'docs/costs.md';

/** The rows of one test file, in its order. @param {string} file @param {string} text @returns {Record<string, string>[]} */
export function declaredRows(file, text) {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  /** @type {Record<string, string>[]} */
  const rows = [];
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'structure')
      rows.push(rowOf(node, source));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return rows;
}

/** @param {ts.CallExpression} call @param {ts.SourceFile} source */
function rowOf(call, source) {
  const { line } = source.getLineAndCharacterOfPosition(call.getStart());
  const fail = (/** @type {string} */ reason) => new Error(`${source.fileName}:${line + 1}: ${reason}`);
  const [first] = call.arguments;
  if (first === undefined || !ts.isObjectLiteralExpression(first))
    throw fail('the row of structure() is not an object literal');
  /** @type {Record<string, string>} */
  const row = {};
  for (const property of first.properties) {
    const value = ts.isPropertyAssignment(property) ? textOf(property.initializer) : undefined;
    if (value === undefined) throw fail(`${property.name?.getText() ?? 'a property'} is not a string literal`);
    row[property.name?.getText() ?? ''] = value;
  }
  const missing = columns.filter((column) => !row[column]);
  if (missing.length > 0) throw fail(`the row has no ${missing.join(', ')}`);
  return row;
}

/** @param {ts.Expression} node @returns {string | undefined} */
function textOf(node) {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return undefined;
  const [left, right] = [textOf(node.left), textOf(node.right)];
  return left === undefined || right === undefined ? undefined : left + right;
}

/** The whole document. @param {string} root */
export function costTable(root) {
  const { layers, scope } = readArchitecture(root);
  const lines = [
    '# What structures cost and retain',
    '',
    'Each row is declared and proved by `test/lifetime.test.ts` of its package (`tooling/lifetime`): retention by weak',
    'references and heap sizes after a collection, cost by counted steps or by the CPU time at n and 10 n. Written by',
    '`node scripts/costs.mjs`; `npm test` fails when it is stale.',
  ];
  for (const { packages } of layers) {
    for (const name of packages) {
      const file = join('packages', name, 'test', 'lifetime.test.ts');
      if (!existsSync(join(root, file))) continue;
      const rows = declaredRows(file, readFileSync(join(root, file), 'utf8'));
      const foreign = rows.find((row) => row.package !== `${scope}/${name}`);
      if (foreign !== undefined) throw new Error(`${file}: a row names the package ${JSON.stringify(foreign.package)}`);
      lines.push('', `## ${scope}/${name}`, '', '| structure | operation | cost | retains |', '|---|---|---|---|');
      for (const row of rows)
        lines.push(
          `| ${columns
            .slice(1)
            .map((column) => cell(row[column]))
            .join(' | ')} |`,
        );
    }
  }
  return `${lines.join('\n')}\n`;
}

const cell = (/** @type {string} */ text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const expected = costTable(process.cwd());
  const actual = existsSync(table) ? readFileSync(table, 'utf8') : '';
  if (!process.argv.includes('--check')) writeFileSync(table, expected);
  else if (actual !== expected) {
    console.error(`${table} is stale: run node scripts/costs.mjs`);
    process.exitCode = 1;
  }
}
