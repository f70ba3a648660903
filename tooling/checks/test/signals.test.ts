// A function that was given a signal passes it on: a call that could take one and does not goes on after the abort.
import { globSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');

/** Calls that do not end with the signal in sight, by file and callee, with the reason. */
const explained: Readonly<Record<string, string>> = {
  'packages/testing/src/environment.ts uninstallCrds':
    'the signal is that of the start, and this is the stop or a later call',
  'packages/testing/src/environment.ts installCrds': 'the signal is that of the start, and this is a later call',
  'packages/testing/src/environment.ts client.create': 'the signal is that of the start, and this is a later call',
  'packages/testing/src/run-operator/run-operator.ts writeFile': 'a report of the failure, also of an abort',
  'packages/events/src/event-delivery.ts retry': 'the pause ends with the stop, and isRetriable with the signal',
};

const isSignal = (type: ts.Type): boolean =>
  (type.isUnion() ? type.types : [type]).some((each) => each.getSymbol()?.name === 'AbortSignal');
const hasSignal = (checker: ts.TypeChecker, type: ts.Type): boolean =>
  (type.isUnion() ? type.types : [type]).some((each) => checker.getPropertyOfType(each, 'signal') !== undefined);

/** Whether a function has a signal: as a parameter, in an options object, or taken out of one. */
function takesSignal(checker: ts.TypeChecker, node: ts.SignatureDeclaration): boolean {
  return node.parameters.some((parameter) => {
    const type = checker.getTypeAtLocation(parameter);
    if (isSignal(type)) return true;
    if (ts.isObjectBindingPattern(parameter.name))
      return parameter.name.elements.some((each) => (each.propertyName ?? each.name).getText() === 'signal');
    return /options|call|context/i.test(parameter.name.getText()) && hasSignal(checker, type);
  });
}

/** Whether a call leaves out the signal that the function which it calls could take. */
function leavesOut(checker: ts.TypeChecker, call: ts.CallExpression): boolean {
  const parameters = checker.getResolvedSignature(call)?.getParameters() ?? [];
  const types = parameters.map((parameter) => checker.getTypeOfSymbolAtLocation(parameter, call));
  const index = types.findIndex((type) => isSignal(type) || hasSignal(checker, type));
  if (index < 0) return false;
  const argument = call.arguments[index];
  if (argument === undefined) return true;
  return (
    ts.isObjectLiteralExpression(argument) &&
    !argument.properties.some((each) => ts.isSpreadAssignment(each) || each.name?.getText() === 'signal')
  );
}

/** Awaited calls without the signal, as `file callee`. */
function findings(files: readonly string[], host?: ts.CompilerHost): string[] {
  const configuration = ts.getParsedCommandLineOfConfigFile(
    join(root, 'tsconfig.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
        throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
      },
    },
  );
  const options = { ...configuration?.options, noEmit: true, skipLibCheck: true };
  const program = host === undefined ? ts.createProgram(files, options) : ts.createProgram(files, options, host);
  const checker = program.getTypeChecker();
  const found = new Set<string>();
  for (const file of files) {
    const source = program.getSourceFile(file);
    const visit = (node: ts.Node, inScope: boolean): void => {
      const scope = inScope || (ts.isFunctionLike(node) && takesSignal(checker, node));
      if (
        scope &&
        ts.isAwaitExpression(node) &&
        ts.isCallExpression(node.expression) &&
        leavesOut(checker, node.expression)
      )
        found.add(`${relative(root, file)} ${node.expression.expression.getText()}`);
      ts.forEachChild(node, (child) => visit(child, scope));
    };
    if (source === undefined) throw new Error(`no source ${file}`);
    visit(source, false);
  }
  return [...found].sort();
}

it('is passed on by every function that was given one', () => {
  const files = globSync('packages/*/src/**/*.ts', { cwd: root })
    .filter((file) => !/\.test\.ts$|\/generated\//.test(file))
    .map((file) => join(root, file));
  expect(findings(files)).toEqual(Object.keys(explained).sort());
});

it('is missed where a call leaves it out', () => {
  const file = join(root, 'probe.ts');
  const text = `
    declare function get(key: string, options?: { readonly signal?: AbortSignal; readonly live?: boolean }): Promise<void>;
    export async function good(options: { readonly signal?: AbortSignal }): Promise<void> {
      await get('a', options);
      await get('a', { live: true, ...options });
    }
    export async function bad({ signal }: { readonly signal?: AbortSignal }): Promise<void> {
      await get('a', { signal });
      await get('a', { live: true });
    }
    export async function none(): Promise<void> {
      await get('a');
    }`;
  const host = ts.createCompilerHost({});
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, version, ...rest) =>
    name === file ? ts.createSourceFile(name, text, version) : read(name, version, ...rest);
  expect(findings([file], host)).toEqual(['probe.ts get']);
});
