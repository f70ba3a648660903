import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const virtual = fileURLToPath(new URL('virtual-import-cost.ts', import.meta.url));

/** What a program of this one text makes the compiler read, besides the library of the language. */
function costOf(text: string): { readonly files: number; readonly bytes: number } {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    customConditions: ['@kctl/source'],
  };
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (name, languageVersion, ...rest) =>
    name === virtual ? ts.createSourceFile(name, text, languageVersion) : read(name, languageVersion, ...rest);
  const exists = host.fileExists.bind(host);
  host.fileExists = (name) => name === virtual || exists(name);
  const program = ts.createProgram({ rootNames: [virtual], options, host });
  expect(ts.getPreEmitDiagnostics(program).map(({ messageText }) => messageText)).toEqual([]);
  const own = program
    .getSourceFiles()
    .filter((file) => file.fileName !== virtual && !program.isSourceFileDefaultLibrary(file));
  return { files: own.length, bytes: own.reduce((sum, file) => sum + file.text.length, 0) };
}

describe('importing one kind', () => {
  // The type tree of @kubernetes/client-node is 905 files and 72 MB for the same line.
  it('costs the compiler the modules that the kind refers to, and no others', () => {
    const pod = costOf(
      "import { Pod } from '@kctl/apimachinery/kinds/core/v1'; export const name = (pod: Pod): string => pod.spec?.nodeName ?? Pod.plural;",
    );
    expect(pod.files).toBeLessThan(10);
    expect(pod.bytes).toBeLessThan(300_000);
    const lease = costOf("import { Lease } from '@kctl/apimachinery/kinds/coordination.k8s.io/v1'; export { Lease };");
    expect(lease.files).toBeLessThan(6);
    expect(lease.bytes).toBeLessThan(30_000);
  });
});
