// The entrances that take options, read from the sources: what is exported and has a parameter of options.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

/** An exported function, or a method of an exported interface, and the position of its options. */
export interface Entrance {
  readonly package: string;
  readonly of: string | undefined;
  readonly name: string;
  readonly position: number;
}

const packages = join(import.meta.dirname, '../../../packages');

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test\.ts$|\.d\.ts$/.test(file))
    .map((file) => join(folder, file));
}

/** A parameter whose type has a name that ends in "Options", or is `{ signal }`. */
function isOfOptions(parameter: ts.ParameterDeclaration): boolean {
  const type = parameter.type?.getText() ?? '';
  return /\b\w*Options\b|^\{ readonly signal\?:/.test(type) && !/^\(|=>/.test(type);
}

function isExported(statement: ts.Statement): boolean {
  if (!ts.canHaveModifiers(statement)) return false;
  return ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;
}

export function entrancesOf(name: string): Entrance[] {
  return filesIn(join(packages, name, 'src')).flatMap((file) => {
    const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
    return source.statements.filter(isExported).flatMap((statement): Entrance[] => {
      if (ts.isFunctionDeclaration(statement))
        return positions(statement.parameters).map((position) => ({
          ...{ package: name, of: undefined, name: statement.name?.text ?? '', position },
        }));
      if (!ts.isInterfaceDeclaration(statement)) return [];
      return statement.members.filter(ts.isMethodSignature).flatMap((method) =>
        positions(method.parameters).map((position) => ({
          ...{ package: name, of: statement.name.text, name: method.name.getText(), position },
        })),
      );
    });
  });
}

function positions(parameters: ts.NodeArray<ts.ParameterDeclaration>): number[] {
  return parameters.flatMap((parameter, position) => (isOfOptions(parameter) ? [position] : []));
}
