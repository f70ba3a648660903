import type ts from 'typescript';

/** The part of the project's compiler that {@link editMain} needs. */
export type Compiler = Pick<typeof ts, 'createSourceFile' | 'forEachChild' | 'ScriptTarget' | 'SyntaxKind'>;

/** Addition to the module that defines the operator. */
export interface MainEdit {
  /** A name, and the module that it is imported from. */
  readonly name: string;
  readonly from: string;
  /** As a kind among `resources`, or as a call in `setup` with the manager. */
  readonly as: 'resource' | 'call';
}

/** Result of {@link editMain}. */
export interface EditedMain {
  readonly text: string;
  /** Manual steps, a sentence each, if the module is written in another way than the template. */
  readonly todo: readonly string[];
}

interface Insertion {
  readonly at: number;
  readonly text: string;
}

/**
 * Adds an import, and a kind or a call, to the module that calls `defineOperator`. Nothing else of it changes; what is
 * there already is left as it is.
 */
export function editMain(compiler: Compiler, given: string, edit: MainEdit): EditedMain {
  const source = compiler.createSourceFile('main.ts', given, compiler.ScriptTarget.Latest, true);
  const definition = findDefinition(compiler, source);
  const insertion = definition === undefined ? undefined : place(compiler, source, { definition, edit });
  const line = `import { ${edit.name} } from '${edit.from}';`;
  if (insertion === undefined) return { text: given, todo: [todoOf(edit, line)] };
  if (insertion === 'there') return { text: given, todo: [] };
  const insertions = [...importOf(compiler, source, { edit, line }), insertion];
  const newLine = given.includes('\r\n') ? '\r\n' : '\n';
  let text = given;
  for (const { at, text: added } of insertions.toSorted((left, right) => right.at - left.at))
    text = text.slice(0, at) + added.replaceAll('\n', newLine) + text.slice(at);
  return { text, todo: [] };
}

function todoOf({ name, as }: MainEdit, line: string): string {
  return as === 'resource'
    ? `add ${line} and ${name} to the resources of defineOperator`
    : `add ${line} and ${name}(manager) to the setup of defineOperator`;
}

/** The options of the call of `defineOperator`. */
function findDefinition(compiler: Compiler, source: ts.SourceFile): ts.ObjectLiteralExpression | undefined {
  const { SyntaxKind } = compiler;
  let found: ts.ObjectLiteralExpression | undefined;
  const visit = (node: ts.Node): void => {
    if (found !== undefined) return;
    if (isOf<ts.CallExpression>(node, SyntaxKind.CallExpression)) {
      const [options] = node.arguments;
      if (node.expression.getText() === 'defineOperator' && options !== undefined)
        if (isOf<ts.ObjectLiteralExpression>(options, SyntaxKind.ObjectLiteralExpression)) found = options;
    }
    compiler.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

interface Placing {
  readonly definition: ts.ObjectLiteralExpression;
  readonly edit: MainEdit;
}

/** Position of the insertion; `there` if it already exists; undefined if unknown. */
function place(
  compiler: Compiler,
  source: ts.SourceFile,
  { definition, edit }: Placing,
): Insertion | 'there' | undefined {
  const property = (name: string): ts.ObjectLiteralElementLike | undefined =>
    definition.properties.find((each) => each.name?.getText() === name);
  const setup = property('setup');
  if (edit.as === 'call') return placeCall(compiler, setup, edit.name);
  const resources = property('resources');
  if (resources === undefined) {
    if (setup === undefined) return undefined;
    const at = setup.getStart();
    return { at, text: `resources: [${edit.name}],\n${columnOf(source, at)}` };
  }
  const { SyntaxKind } = compiler;
  if (!isOf<ts.PropertyAssignment>(resources, SyntaxKind.PropertyAssignment)) return undefined;
  const { initializer } = resources;
  if (!isOf<ts.ArrayLiteralExpression>(initializer, SyntaxKind.ArrayLiteralExpression)) return undefined;
  const { elements } = initializer;
  if (elements.some((each) => each.getText() === edit.name)) return 'there';
  const last = elements.at(-1);
  return last === undefined
    ? { at: initializer.getEnd() - 1, text: edit.name }
    : { at: last.getEnd(), text: `, ${edit.name}` };
}

function placeCall(
  compiler: Compiler,
  setup: ts.ObjectLiteralElementLike | undefined,
  name: string,
): Insertion | 'there' | undefined {
  const { SyntaxKind } = compiler;
  const work =
    setup !== undefined && isOf<ts.PropertyAssignment>(setup, SyntaxKind.PropertyAssignment)
      ? setup.initializer
      : setup;
  if (work === undefined || !isFunction(compiler, work)) return undefined;
  const { parameters, body } = work;
  const manager = parameters[0]?.name;
  if (manager === undefined || !isOf<ts.Identifier>(manager, SyntaxKind.Identifier)) return undefined;
  if (body === undefined || !isOf<ts.Block>(body, SyntaxKind.Block)) return undefined;
  if (body.getText().includes(`${name}(`)) return 'there';
  const column = columnOf(body.getSourceFile(), (setup ?? body).getStart());
  const last = body.statements.at(-1);
  const call = `${name}(${manager.getText()});`;
  // Code after a return is not reached.
  if (last?.kind === SyntaxKind.ReturnStatement) return { at: last.getStart(), text: `${call}\n${column}  ` };
  if (last !== undefined) return { at: endOfLine(last), text: `\n${column}  ${call}` };
  // Before any comment in the block.
  return { at: body.getStart() + 1, text: `\n${column}  ${call}${body.getText().includes('\n') ? '' : `\n${column}`}` };
}

/** The end of a node, with a comment that stands behind it. */
function endOfLine(node: ts.Node): number {
  const end = node.getEnd();
  const [comment = ''] = /^[^\S\r\n]*\/\/[^\r\n]*/.exec(node.getSourceFile().text.slice(end)) ?? [];
  return end + comment.length;
}

/** The import, unless the name is imported. */
function importOf(
  compiler: Compiler,
  source: ts.SourceFile,
  { edit, line }: { readonly edit: MainEdit; readonly line: string },
): Insertion[] {
  const imports = source.statements.filter((each) =>
    isOf<ts.ImportDeclaration>(each, compiler.SyntaxKind.ImportDeclaration),
  );
  if (imports.some((each) => new RegExp(`\\b${edit.name}\\b`).test(each.getText()))) return [];
  const last = imports.at(-1);
  return [last === undefined ? { at: 0, text: `${line}\n` } : { at: last.getEnd(), text: `\n${line}` }];
}

/** The white space before a position of its line. */
function columnOf(source: ts.SourceFile, at: number): string {
  const lineStart = source.text.lastIndexOf('\n', at - 1) + 1;
  return /^\s*/.exec(source.text.slice(lineStart, at))?.[0] ?? '';
}

type FunctionNode = ts.MethodDeclaration | ts.ArrowFunction | ts.FunctionExpression;

function isFunction({ SyntaxKind }: Compiler, node: ts.Node): node is FunctionNode {
  return [SyntaxKind.MethodDeclaration, SyntaxKind.ArrowFunction, SyntaxKind.FunctionExpression].includes(node.kind);
}

function isOf<N extends ts.Node>(node: ts.Node, kind: N['kind']): node is N {
  return node.kind === kind;
}
