/**
 * Writes the API report of each package, `packages/*\/api.txt`: every name that an entry point exports, with its
 * declaration, sorted by name. A change of the public API is a change of a committed file that reviewers see.
 * `--check` compares instead of writing. Internal entries, generated kinds and programs of threads are left out.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '..');
const isCheck = process.argv.includes('--check');
const printer = ts.createPrinter({ removeComments: true });
/** @typedef {{ readonly statements: readonly ts.Statement[], readonly source: ts.SourceFile }} Module */
/** @type {Map<string, Module>} */
const modules = new Map();

/** The declarations of a source file: `isolatedDeclarations` lets each be written without the others. @param {string} file */
function moduleOf(file) {
  let module = modules.get(file);
  if (module === undefined) {
    const { outputText } = ts.transpileDeclaration(readFileSync(file, 'utf8'), {
      fileName: file,
      compilerOptions: { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, stripInternal: true },
    });
    const source = ts.createSourceFile(`${file}.d.ts`, outputText, ts.ScriptTarget.ESNext, true);
    module = { statements: [...source.statements], source };
    modules.set(file, module);
  }
  return module;
}

/** @param {ts.Statement} statement @returns {string[]} */
function namesOf(statement) {
  if (ts.isVariableStatement(statement))
    return statement.declarationList.declarations.map(({ name }) => name.getText(statement.getSourceFile()));
  const { name } = /** @type {{ name?: ts.Node }} */ (/** @type {unknown} */ (statement));
  return name !== undefined && ts.isIdentifier(name) ? [name.text] : [];
}

/** The declarations of an exported name, followed through the files of its package. @param {string} file @param {string} name @returns {string[]} */
function declarationsOf(file, name) {
  const { statements, source } = moduleOf(file);
  const own = statements
    .filter((statement) => namesOf(statement).includes(name))
    .map((statement) => printer.printNode(ts.EmitHint.Unspecified, statement, source));
  if (own.length > 0) return own;
  for (const statement of statements) {
    // `export { a } from './x.js'`, or an import that is exported below.
    const named = ts.isExportDeclaration(statement)
      ? statement.exportClause
      : ts.isImportDeclaration(statement)
        ? statement.importClause?.namedBindings
        : undefined;
    const { moduleSpecifier } = /** @type {{ moduleSpecifier?: ts.Expression }} */ (statement);
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) continue;
    if (named === undefined || !(ts.isNamedExports(named) || ts.isNamedImports(named))) continue;
    const found = [...named.elements].find((element) => element.name.text === name);
    if (found === undefined) continue;
    const original = (found.propertyName ?? found.name).text;
    if (!moduleSpecifier.text.startsWith('.')) return [`export { ${original} } from '${moduleSpecifier.text}';`];
    return declarationsOf(resolve(dirname(file), moduleSpecifier.text.replace(/\.js$/, '.ts')), original);
  }
  throw new Error(`${file}: ${name} has no declaration`);
}

/** @param {string} file */
function exportedBy(file) {
  return moduleOf(file).statements.flatMap((statement) =>
    ts.isExportDeclaration(statement) &&
    statement.exportClause !== undefined &&
    ts.isNamedExports(statement.exportClause)
      ? statement.exportClause.elements.map(({ name }) => name.text)
      : ts.canHaveModifiers(statement) &&
          ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
        ? namesOf(statement)
        : [],
  );
}

/** @param {string} name of a package */
function reportOf(name) {
  const folder = join(root, 'packages', name);
  /** @type {{ exports?: Record<string, string | Record<string, string>> }} */
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const lines = [`The public API of @kctl/${name}, written by \`node scripts/api-report.mjs\`.`];
  for (const [path, target] of Object.entries(manifest.exports ?? {})) {
    const source = typeof target === 'string' ? undefined : target['@kctl/source'];
    if (source === undefined || /^\.\/(?:internal|kinds|schemas)\b|-main$|-thread$|-worker$/.test(path)) continue;
    const file = join(folder, source);
    lines.push('', `# ${`@kctl/${name}${path.slice(1)}`}`);
    const names = [...new Set(exportedBy(file))].toSorted((a, b) => (a < b ? -1 : 1));
    for (const exported of names) lines.push('', ...declarationsOf(file, exported));
  }
  return `${lines.join('\n')}\n`;
}

const changed = readdirSync(join(root, 'packages')).filter((name) => {
  if (!existsSync(join(root, 'packages', name, 'package.json'))) return false;
  const file = join(root, 'packages', name, 'api.txt');
  const report = reportOf(name);
  if (existsSync(file) && readFileSync(file, 'utf8') === report) return false;
  if (!isCheck) writeFileSync(file, report);
  return true;
});
if (isCheck && changed.length > 0) {
  console.error(
    `the public API of ${changed.join(', ')} differs from packages/*/api.txt: run node scripts/api-report.mjs, and add a changeset`,
  );
  process.exitCode = 1;
}
